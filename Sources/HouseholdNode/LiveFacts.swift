internal import HouseholdSync
internal import HouseholdTransport

/// What only the running node knows, as it tells it over the control socket.
package struct LiveFacts: Codable, Hashable, Sendable {
  package var pid: Int32
  /// Milliseconds since 1970.
  package var startedAt: Int64
  /// Where it listens, `HOST:PORT`.
  package var listening: [String]
  package var version: String
  /// What keeps it from listening, if anything.
  package var listenError: String?
  /// What the store said when it failed last, until it works again.
  package var storeError: StoreError?
  /// Addresses that were given and at which no device of the household was met; nil if the node does not tell.
  package var unanswered: [PeerContact.TriedAddress]?
  /// The search in the local network; nil where it is switched off.
  package var search: Search?
  /// By the device's id in hexadecimal digits.
  package var peers: [String: Peer]

  /// What became of looking for devices in the local network.
  package struct Search: Codable, Hashable, Sendable {
    /// Why it is not possible.
    package var error: String?
    /// When a device that was missing was heard last, in milliseconds since 1970, by its id.
    package var heard: [String: Int64] = [:]
  }

  package init(
    pid: Int32, startedAt: Int64, listening: [String], version: String, listenError: String? = nil,
    storeError: StoreError? = nil,
    unanswered: [PeerContact.TriedAddress]? = nil, search: Search? = nil, peers: [String: Peer]
  ) {
    self.pid = pid
    self.startedAt = startedAt
    self.listening = listening
    self.version = version
    self.listenError = listenError
    self.storeError = storeError
    self.unanswered = unanswered
    self.search = search
    self.peers = peers
  }

  /// A fault of the store.
  package struct StoreError: Codable, Hashable, Sendable {
    /// A code of ``ReplicaError``.
    package var code: String
    package var message: String

    package init(code: String, message: String) {
      self.code = code
      self.message = message
    }
  }

  /// A peer as of now.
  package struct Peer: Codable, Hashable, Sendable {
    package var connected: Bool
    /// The device, as hexadecimal digits, that has a link to it while this one has none.
    package var through: String?
    package var address: String?
    /// Changesets that the peer has and that are missing here, as far as it said.
    package var missingHere: UInt64
    /// Whether both sides have confirmed everything, as of the last message.
    package var synced: Bool
    /// Whether the peer has told all that it had when it connected; an older node does not say.
    package var caughtUp: Bool?
    package var contact: PeerContact
    /// The peer has other records though it has the same changesets (R5).
    package var diverged: Bool
    /// Two nodes with the identity of this device are connected.
    package var cloned: Bool

    package init(
      connected: Bool, through: String? = nil, address: String? = nil, missingHere: UInt64, synced: Bool,
      caughtUp: Bool?,
      contact: PeerContact, diverged: Bool = false, cloned: Bool = false
    ) {
      self.connected = connected
      self.through = through
      self.address = address
      self.missingHere = missingHere
      self.synced = synced
      self.caughtUp = caughtUp
      self.contact = contact
      self.diverged = diverged
      self.cloned = cloned
    }
  }
}

/// What is remembered of a peer for status; kept in the replica between contacts.
package struct PeerContact: Codable, Hashable, Sendable {
  package var addresses: [TriedAddress] = []
  package var clockOffsetMs: Int64?
  package var schemaVersion: UInt64?
  package var programVersion: String?
  package var bytesSent: UInt64 = 0
  package var bytesReceived: UInt64 = 0
  package var changesSent: UInt64 = 0
  package var changesReceived: UInt64 = 0
  /// When two nodes had the identity of this device, in milliseconds since 1970.
  package var clonedAt: Int64?
  /// Whether changesets of this device wait there until somebody approves them.
  package var heldThere: Bool?
  /// Whether it refuses changesets of this device.
  package var rejectedThere: Bool?
  /// Whether it has heard that this device left: then there is nothing more to tell.
  package var knowsEnd: Bool?
  /// Whether its store did not take what we sent, until a sync is completed.
  package var storeFailedThere: Bool?
  /// The last thing that went wrong, until a sync is completed.
  package var lastError: String?

  package init() {}

  /// An address of the peer and what came of trying it.
  package struct TriedAddress: Codable, Hashable, Sendable {
    package var address: String
    /// Milliseconds since 1970.
    package var lastTried: Int64?
    package var error: String?

    package init(address: String, lastTried: Int64? = nil, error: String? = nil) {
      self.address = address
      self.lastTried = lastTried
      self.error = error
    }
  }

  /// A sync was completed: what went wrong before is over.
  mutating func synced() {
    lastError = nil
    storeFailedThere = nil
  }

  /// A session ended with this goodbye.
  mutating func took(_ goodbye: Goodbye, byPeer: Bool) {
    if goodbye.code == .storeFailed && byPeer {
      storeFailedThere = true
      lastError = "Its store failed; it will be tried again."
    } else if goodbye.code != .shuttingDown {
      lastError = goodbye.sentence
    }
  }

  /// A link ended; that somebody closed it tells nothing beside what was said before.
  mutating func ended(_ reason: LinkCloseReason) {
    switch reason {
    case .closedHere, .closedByPeer: lastError = lastError ?? reason.description
    default: lastError = reason.description
    }
  }

  /// Remembers addresses that the peer told, newest first, within the limit.
  mutating func learn(_ told: [String], limit: Int) {
    let known = Dictionary(addresses.map { ($0.address, $0) }) { first, _ in first }
    let fresh = told.map { known[$0] ?? TriedAddress(address: $0) }
    let rest = addresses.filter { !told.contains($0.address) }
    addresses = Array((fresh + rest).prefix(limit))
  }

  /// Remembers what came of trying an address.
  mutating func tried(_ address: String, at milliseconds: Int64, error: String?) {
    guard let index = addresses.firstIndex(where: { $0.address == address }) else { return }
    addresses[index].lastTried = milliseconds
    addresses[index].error = error
  }
}
