/// What the accepted entries say of one member, in the order in which they were judged.
struct MemberRegister {
  /// What holds of the member from an entry on.
  struct Standing {
    /// The number of the entry that says so.
    let by: Int
    /// The seniority of that entry's author, then.
    let authority: MembershipSeniority
    let role: Role
    let state: MembershipState.MemberState
    /// How old the ownership is, if it is one.
    let ownership: MembershipAge
  }

  let id: MemberID
  var name: NameRegister
  var standings: [Standing]

  /// What holds in the end.
  var current: Standing { standings[standings.count - 1] }

  /// What held for the author of an entry, if he knew the member.
  func standing(at entry: Int, in graph: MembershipGraph) -> Standing? {
    standings.last { graph.saw(entry, $0.by) }
  }
}

/// What the accepted entries say of one device.
struct DeviceRegister {
  /// What holds of the device from an entry on.
  struct Standing {
    let by: Int
    let state: MembershipState.DeviceState

    /// Whether the device may act.
    var belongs: Bool {
      switch state {
      case .active, .dormant: true
      case .retired, .removed, .left: false
      }
    }
  }

  let id: DeviceID
  let member: MemberID
  let publicKey: [UInt8]
  var name: NameRegister
  var standings: [Standing]

  /// What holds in the end.
  var current: Standing { standings[standings.count - 1] }

  /// The number of the entry that introduced it first; to be let in again makes it no younger, as others could do that to
  /// it without asking.
  var introduction: Int { standings[0].by }

  /// What held for the author of an entry, if he knew the device.
  func standing(at entry: Int, in graph: MembershipGraph) -> Standing? {
    standings.last { graph.saw(entry, $0.by) }
  }
}

/// A name, and who gave it.
struct NameRegister {
  private(set) var text: String
  /// The number of the entry that gave it.
  private(set) var by: Int
  /// The how-manieth of all names it was: of equal names the earlier stays as it is.
  private(set) var order: Int
  private var authority: MembershipSeniority

  init(_ text: String, by entry: Int, order: Int, authority: MembershipSeniority) {
    self.text = text
    by = entry
    self.order = order
    self.authority = authority
  }

  /// Takes the new name, unless a concurrent one is there by an author of at least the same rank.
  mutating func rename(_ new: NameRegister, in graph: MembershipGraph) {
    if graph.saw(new.by, by) || new.authority < authority { self = new }
  }
}

/// Makes equal names differ: the later one gets a number behind it.
///
/// Names are equal as people see them (canonical equivalence), however their bytes are composed.
struct NameRegistry {
  private var taken: Set<String> = []

  /// The name, or the name with the first number that is free, within the limit.
  mutating func distinct(_ name: String) -> String {
    var candidate = name
    var number = 2
    while !taken.insert(candidate).inserted {
      let suffix = " \(number)"
      var stem = name
      while stem.utf8.count + suffix.utf8.count > Limits.nameBytes, !stem.isEmpty { stem.removeLast() }
      candidate = stem + suffix
      number += 1
    }
    return candidate
  }
}
