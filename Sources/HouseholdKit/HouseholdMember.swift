internal import HouseholdRecords
internal import HouseholdReplica

/// A person who belongs to the household.
public struct HouseholdMember: Hashable, Sendable, Identifiable {
  /// Names the member on every device, whatever the name becomes.
  public let id: String
  /// The name, for people.
  public let name: String
  /// `owner`, `member` or `readOnly`.
  public let role: String
  /// Whether it is the member whose device this is.
  public let isSelf: Bool
  /// The names of the devices that take part, in order.
  public let devices: [String]
}

extension HouseholdMember {
  /// The active members in the order of their names.
  static func all(_ facts: StatusFacts) -> [HouseholdMember] {
    let membership = facts.membership
    return membership.members.values.filter { $0.state == .active }.map { member in
      HouseholdMember(
        id: member.id.description, name: member.name, role: member.role.rawValue,
        isSelf: member.id == facts.identity.member,
        devices: membership.devices.values.filter { $0.member == member.id && membership.admits($0.id) }
          .map(\.name).sorted())
    }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }
}

extension HouseholdStore {
  /// Who belongs to the household, in the order of the names; changed with `household invite`, `remove` and `promote`.
  public func members() throws(HouseholdStoreError) -> [HouseholdMember] {
    try locked { _ in HouseholdMember.all(try look().facts) }
  }
}
