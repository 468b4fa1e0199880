internal import HouseholdRecords
internal import HouseholdReplica

/// Whether this device belongs, and knows the household's schema.
enum BelongingCheck {
  static func membership(_ facts: StatusFacts) -> DoctorCheck {
    let membership = facts.membership
    guard membership.devices[facts.identity.device] != nil else {
      return membership.genesis == nil
        ? .note(.membership, "firstSync", "The membership log has not come yet.")
        : .failed(
          .membership, "notNamed", "The membership log names this device in no join that counts.",
          remedy: "Ask an owner for a new invitation, and join from an empty data directory.")
    }
    guard membership.admits(facts.identity.device) else {
      let by = facts.ending.map { " by \($0.by) on \($0.at.rfc3339)" } ?? ""
      return .failed(
        .membership, "removed", "The membership of this device was ended\(by).",
        remedy: "Ask an owner for a new invitation, and join from an empty data directory.")
    }
    let others = membership.devices.keys.filter { $0 != facts.identity.device && membership.admits($0) }
    return .passed(
      .membership, "removed", "This device belongs, with \(others.count) other\(others.count == 1 ? "" : "s").")
  }

  static func schema(_ facts: StatusFacts) -> DoctorCheck {
    if let version = facts.membership.unreadableSchema {
      return .failed(
        .schema, "schemaBehind", "The household uses version \(version) of a schema that needs a newer program.",
        remedy: "Update household on this device.")
    }
    if facts.parked > 0 {
      return .failed(
        .schema, "parked", "\(facts.parked) records are of a type that this device does not know.",
        remedy: "Look at them (household parked), and update household on this device.")
    }
    if facts.quarantined > 0 {
      return .failed(
        .schema, "quarantined", "\(facts.quarantined) records hold a value that their field cannot hold.",
        remedy: "Look at them (household quarantine), and write the fields anew.")
    }
    let schema = facts.membership.schema
    return .passed(
      .schema, "schemaBehind", "This device knows the household's schema, \(schema.name) \(schema.version).")
  }
}
