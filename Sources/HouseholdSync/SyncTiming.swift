/// The spans of time that the protocol uses, each with its reason; all in milliseconds.
package enum SyncTiming {
  /// How long a session may take from its opening until it is in use: a slow link and a large membership log.
  package static let readyDeadline: Int64 = 30_000
  /// How long the older of two links has to answer before the newer one takes its place (D12).
  package static let duplicateTrial: Int64 = 1_000
  /// After this much silence a ping is sent.
  package static let pingAfterSilence: Int64 = 6_000
  /// After this much silence the link is dead: two pings' worth and a little.
  package static let deadAfterSilence: Int64 = 13_000
  /// How long one peer's catch-up goes alone before the next peer is subscribed beside it, so that a long one does not
  /// delay the edits of others, and a short one is not fetched twice.
  package static let catchUpHeadStart: Int64 = 2_000
  /// When to come back after a rule was broken: it will hardly be mended sooner.
  package static let retryAfterViolation: UInt64 = 60_000
  /// How many sessions with a peer may begin anew at once, one after the other, as branches turn up: each is news of one at
  /// least, and more than two of one replica are rare.
  package static let restartsInARow = 8
  /// When to come back after the store failed or was locked.
  package static let retryAfterStoreFailure: UInt64 = 5_000
  /// How long a peer that was asked for a certificate and gave none of use is left alone: an hour, so that few words are lost
  /// on it and whoever waits for it sees it the same day.
  static let certificateQuestionPause: Int64 = 3_600_000
  /// How long a device that was given a certificate gets no other: each costs a signature and an entry in the log.
  static let certificatePause: Int64 = 60_000
  /// How far a peer's clock must have moved for a question to tell: more than a message is under way as a rule.
  package static let clockStep: UInt64 = 2_000
}
