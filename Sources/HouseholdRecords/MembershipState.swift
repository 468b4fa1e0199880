/// Who belongs and what holds, as the set of membership entries says: a pure function of that set (R4).
package struct MembershipState: Hashable, Sendable {
  /// One person.
  package struct Member: Hashable, Sendable {
    package var id: MemberID
    package var name: String
    package var role: Role
    package var state: MemberState

    package init(id: MemberID, name: String, role: Role, state: MemberState) {
      self.id = id
      self.name = name
      self.role = role
      self.state = state
    }
  }

  /// One machine.
  package struct Device: Hashable, Sendable {
    package var id: DeviceID
    package var member: MemberID
    package var name: String
    /// SubjectPublicKeyInfo, DER.
    package var publicKey: [UInt8]
    package var state: DeviceState

    package init(id: DeviceID, member: MemberID, name: String, publicKey: [UInt8], state: DeviceState) {
      self.id = id
      self.member = member
      self.name = name
      self.publicKey = publicKey
      self.state = state
    }
  }

  /// Whether a person belongs.
  package enum MemberState: String, Hashable, Sendable { case active, removed, left }

  /// Whether a device belongs; the words of the contract (1.5).
  package enum DeviceState: String, Hashable, Sendable { case active, retired, dormant, removed, left }

  /// What the genesis says; nil as long as no entry is known.
  package var genesis: MembershipEntry.Genesis?
  package var members: [MemberID: Member]
  package var devices: [DeviceID: Device]
  /// Invitations that were written down, by the hash of their entry.
  package var invites: [EntryHash: MembershipEntry.Invite]
  /// The join that used an invitation, by the hash of the invite entry.
  package var joins: [EntryHash: EntryHash]
  /// The newest schema; empty before the first.
  package var schema: Schema
  /// The newest version of a schema in the log that needs a newer program than this; nil if there is none.
  package var unreadableSchema: UInt64?
  /// The entries that no other names, ascending.
  package var heads: [EntryHash]

  package init(
    genesis: MembershipEntry.Genesis? = nil, members: [MemberID: Member] = [:], devices: [DeviceID: Device] = [:],
    invites: [EntryHash: MembershipEntry.Invite] = [:], joins: [EntryHash: EntryHash] = [:],
    schema: Schema = .empty, heads: [EntryHash] = []
  ) {
    self.genesis = genesis
    self.members = members
    self.devices = devices
    self.invites = invites
    self.joins = joins
    self.schema = schema
    self.heads = heads
  }

  /// The member whose device it is.
  package func member(of device: DeviceID) -> Member? { devices[device].flatMap { members[$0.member] } }

  /// The member's devices that a new one of this name takes the place of: those that belong, asleep or awake.
  package func devices(of member: MemberID, named name: String) -> [DeviceID] {
    devices.values.filter { $0.member == member && $0.name == name && admits($0.id) }.map(\.id).sorted()
  }

  /// Whether the log says that the device does not belong: its membership was ended, or no join that counts names it.
  package func excludes(_ device: DeviceID) -> Bool { genesis != nil && !admits(device) }

  /// Whether the device may talk to us now.
  package func admits(_ device: DeviceID) -> Bool {
    guard let known = devices[device] else { return false }
    return (known.state == .active || known.state == .dormant) && members[known.member]?.state == .active
  }
}
