package import HouseholdRecords

/// Everything that two nodes say to each other; layouts in Docs/Protocol.md, bytes in ``MessageCodec``.
package enum Message: Hashable, Sendable {
  /// Who I am; the first message both ways.
  case hello(Hello)
  /// This link is the one that we use (said by the smaller device id).
  case use
  /// Your messages are durable here.
  case acknowledge(Acknowledgement)
  /// I have these changesets, which came from elsewhere.
  case offer([Dependency])
  /// Send me these changesets.
  case request(ChangesetRequest)
  /// Are you there?
  case ping(Ping)
  /// I am.
  case pong(Pong)
  /// The last message.
  case goodbye(Goodbye)
  /// I am an owner's device and lack the share's key.
  case shareKeyWanted
  /// The share's key: PKCS#8, DER.
  case shareKey([UInt8])
  /// My certificate runs out.
  case certificateWanted
  /// Another certificate for your key: X.509, DER.
  case certificate([UInt8])
  /// All membership entries that I have.
  case membershipHave([EntryHash])
  /// Membership entries that you lack.
  case membership(MembershipPart)
  /// All changesets that I have.
  case have(Holdings)
  /// Stream your log to me from here on.
  case subscribe(Subscription)
  /// Changesets.
  case batch(Batch)
  /// A part of a snapshot.
  case snapshotPage(SnapshotPart)
  /// Which of these changesets, all of one branch and in ascending order, do you have?
  case branchQuestion([Dependency])
  /// Up to here I have your branch.
  case branchAnswer(ChangesetName)
  /// What I have stored and keep from my records.
  case withheld([Withheld])
  /// Who else is there, and what they have of yours.
  case present([Presence])

  /// The kinds, by their frame type: below 0x40 control, from there on data.
  package enum Kind: UInt8, CaseIterable, Sendable {
    case hello = 0x01
    case use = 0x02
    case acknowledge = 0x03
    case offer = 0x04
    case request = 0x05
    case ping = 0x06
    case pong = 0x07
    case goodbye = 0x08
    case shareKeyWanted = 0x09
    case shareKey = 0x0A
    case certificateWanted = 0x0B
    case certificate = 0x0C
    case membershipHave = 0x40
    case membership = 0x41
    case have = 0x42
    case subscribe = 0x43
    case batch = 0x44
    case snapshotPage = 0x45
    case branchQuestion = 0x47
    case branchAnswer = 0x48
    case withheld = 0x46
    case present = 0x49

    /// Whether the payload may be longer than a control frame.
    package var isData: Bool { rawValue >= 0x40 }

    /// The flags of its frames: who does not know a message that nothing rests on may skip it (P2).
    package var flags: UInt8 { self == .present || self == .certificateWanted ? MessageCodec.ignorableFlag : 0 }
  }

  /// The kind of this message.
  package var kind: Kind {
    switch self {
    case .hello: .hello
    case .use: .use
    case .acknowledge: .acknowledge
    case .offer: .offer
    case .request: .request
    case .ping: .ping
    case .pong: .pong
    case .goodbye: .goodbye
    case .shareKeyWanted: .shareKeyWanted
    case .shareKey: .shareKey
    case .certificateWanted: .certificateWanted
    case .certificate: .certificate
    case .membershipHave: .membershipHave
    case .membership: .membership
    case .have: .have
    case .subscribe: .subscribe
    case .batch: .batch
    case .snapshotPage: .snapshotPage
    case .branchQuestion: .branchQuestion
    case .branchAnswer: .branchAnswer
    case .withheld: .withheld
    case .present: .present
    }
  }
}

/// What a node says of itself first.
package struct Hello: Hashable, Sendable {
  /// The protocol versions that it speaks.
  package var versions: ClosedRange<UInt64>
  package var household: HouseholdID
  package var device: DeviceID
  package var replica: ReplicaID
  package var bootNonce: BootNonce
  package var membershipHeads: [EntryHash]
  package var schemaVersion: UInt64
  package var wall: Instant
  package var programVersion: String
  /// Where it can be dialled, `HOST:PORT`.
  package var addresses: [String]

  /// What this program speaks.
  package static let supported: ClosedRange<UInt64> = 1...1

  package init(
    versions: ClosedRange<UInt64> = Self.supported, household: HouseholdID, device: DeviceID, replica: ReplicaID,
    bootNonce: BootNonce, membershipHeads: [EntryHash], schemaVersion: UInt64, wall: Instant, programVersion: String,
    addresses: [String]
  ) {
    self.versions = versions
    self.household = household
    self.device = device
    self.replica = replica
    self.bootNonce = bootNonce
    self.membershipHeads = membershipHeads
    self.schemaVersion = schemaVersion
    self.wall = wall
    self.programVersion = programVersion
    self.addresses = addresses
  }
}

/// What was stored, for the sender's window and for status.
package struct Acknowledgement: Hashable, Sendable {
  /// Payload bytes of batches and pages that are durable here since the last acknowledgement.
  package var bytes: Int
  /// Entries of the received vector that the peer was not told yet.
  package var received: [Dependency]

  package init(bytes: Int, received: [Dependency]) {
    self.bytes = bytes
    self.received = received
  }
}

/// A span of one replica's changesets.
package struct ChangesetRequest: Hashable, Sendable {
  package var replica: ReplicaID
  package var first: UInt64
  /// At least `first`.
  package var last: UInt64

  package init(replica: ReplicaID, first: UInt64, last: UInt64) {
    self.replica = replica
    self.first = first
    self.last = last
  }
}

/// A question for a sign of life.
package struct Ping: Hashable, Sendable {
  /// Comes back in the answer.
  package var number: UInt64
  /// The sender's clock.
  package var wall: Instant

  package init(number: UInt64, wall: Instant) {
    self.number = number
    self.wall = wall
  }
}

/// The answer to a ping.
package struct Pong: Hashable, Sendable {
  package var number: UInt64
  /// The clock value of the ping.
  package var asked: Instant
  /// The sender's clock.
  package var wall: Instant

  package init(number: UInt64, asked: Instant, wall: Instant) {
    self.number = number
    self.asked = asked
    self.wall = wall
  }
}

/// Membership entries, in an order in which each comes after what it names.
package struct MembershipPart: Hashable, Sendable {
  package var entries: [[UInt8]]
  /// Whether another part of the same answer follows.
  package var more: Bool

  package init(entries: [[UInt8]], more: Bool) {
    self.entries = entries
    self.more = more
  }
}

/// What a node has stored.
package struct Holdings: Hashable, Sendable {
  /// The received vector with the hash of the changeset at each entry, ascending.
  package var received: [Dependency]
  /// What its log no longer holds one by one, in the same form; a prefix of 0 where the hash is not known any more.
  package var base: [Dependency]
  /// If one is at hand (R5).
  package var digest: StoreDigest?

  package init(received: [Dependency], base: [Dependency], digest: StoreDigest?) {
    self.received = received
    self.base = base
    self.digest = digest
  }
}

/// Asks for the peer's log.
package struct Subscription: Hashable, Sendable {
  /// Comes back in every batch and page that it brings; counts up within a session.
  package var number: UInt64
  /// What the peer last gave for going on.
  package var token: ChangeToken?
  /// What is stored here and need not come.
  package var received: [Dependency]
  /// Whether a snapshot is wanted first.
  package var snapshot: SnapshotWish

  package init(number: UInt64, token: ChangeToken?, received: [Dependency], snapshot: SnapshotWish) {
    self.number = number
    self.token = token
    self.received = received
    self.snapshot = snapshot
  }
}

/// Whether a subscriber wants a snapshot, and what it has of one.
package enum SnapshotWish: Hashable, Sendable {
  case none
  case fresh
  case resume(SnapshotID, cursor: [UInt8])
}

/// Changesets in the order in which they are to be stored.
package struct Batch: Hashable, Sendable {
  /// The subscription that it belongs to; 0 before there was one.
  package var subscription: UInt64
  /// Whether more of the same stream or answer follows at once.
  package var more: Bool
  /// Where reading goes on afterwards; nil in answers to requests.
  package var token: ChangeToken?
  /// The replica that was asked for, in answers to requests.
  package var answers: ReplicaID?
  package var changesets: [PackedChangeset]

  package init(
    subscription: UInt64, more: Bool, token: ChangeToken?, answers: ReplicaID?, changesets: [PackedChangeset]
  ) {
    self.subscription = subscription
    self.more = more
    self.token = token
    self.answers = answers
    self.changesets = changesets
  }
}

/// One page of a snapshot on the wire.
package struct SnapshotPart: Hashable, Sendable {
  package var subscription: UInt64
  package var id: SnapshotID
  /// Where the log goes on after the snapshot; on the first page of a session only.
  package var token: ChangeToken?
  package var page: SnapshotPage

  package init(subscription: UInt64, id: SnapshotID, token: ChangeToken?, page: SnapshotPage) {
    self.subscription = subscription
    self.id = id
    self.token = token
    self.page = page
  }
}
