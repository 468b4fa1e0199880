package import HouseholdRecords

/// Why a session ends, with when to come back: said on every close that one side decides (P12).
package struct Goodbye: Error, Hashable, Sendable {
  package var code: GoodbyeCode
  /// When dialling again makes sense, in milliseconds from now; 0 leaves it to the peer's own back-off.
  package var retryAfterMilliseconds: UInt64
  /// One sentence for people; holds no record contents.
  package var sentence: String

  package init(_ code: GoodbyeCode, retryAfterMilliseconds: UInt64 = 0, _ sentence: String) {
    self.code = code
    self.retryAfterMilliseconds = retryAfterMilliseconds
    self.sentence = sentence
  }

  /// The goodbye to a peer that broke a rule.
  package init(_ violation: Violation) {
    let code: GoodbyeCode =
      switch violation.code {
      case .unexpectedMessage: .unexpectedMessage
      case .notAdmitted: .notAdmitted
      case .malformed, .badChangeset, .badMembership, .overLimit, .badSnapshot: .violation
      case .otherBranch: .branches
      case .otherSchema: .storeBusy
      }
    let isFault = violation.code != .otherBranch
    self.init(code, retryAfterMilliseconds: isFault ? SyncTiming.retryAfterViolation : 0, violation.sentence)
  }
}

/// The kinds of goodbye; numbers that are unknown here are kept and shown as they are.
package enum GoodbyeCode: Hashable, Sendable {
  /// The node stops.
  case shuttingDown
  /// No protocol version that both speak.
  case noCommonVersion
  /// The peer broke a rule of the protocol or sent data that is not valid.
  case violation
  /// A message that has no place now, or of an unknown kind.
  case unexpectedMessage
  /// Another household, or a device that the membership log does not admit.
  case notAdmitted
  /// The device belonged and does so no longer.
  case removed
  /// Another link to the same node is in use.
  case duplicate
  /// The peer is this very node, or has its identity.
  case ourselves
  /// The session was not ready in time.
  case tooSlow
  /// Nothing was heard for too long.
  case silent
  /// The store cannot be used for the moment, or what was sent is to be made anew, as the schema has changed meanwhile.
  case storeBusy
  /// The store failed.
  case storeFailed
  /// A replica turned out to have branches: names mean something else now, and the session starts anew.
  case branches
  /// A code of a later version.
  case unknown(UInt64)

  private static let known: [(Self, UInt64)] = [
    (.shuttingDown, 1), (.noCommonVersion, 2), (.violation, 3), (.unexpectedMessage, 4), (.notAdmitted, 5),
    (.removed, 6), (.duplicate, 7), (.ourselves, 8), (.tooSlow, 9), (.silent, 10), (.storeBusy, 11),
    (.storeFailed, 12), (.branches, 13),
  ]

  /// The number on the wire.
  package var number: UInt64 {
    if case .unknown(let number) = self { return number }
    return Self.known.first { $0.0 == self }?.1 ?? 0
  }

  /// The code of this number.
  package init(number: UInt64) { self = Self.known.first { $0.1 == number }?.0 ?? .unknown(number) }
}
