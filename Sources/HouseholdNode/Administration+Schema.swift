internal import HouseholdBudget
internal import HouseholdRecords
internal import HouseholdReplica

/// Growing the schema: an owner's entry in the membership log, which reaches everyone before any record that needs it.
extension Administration {
  /// Adds the types and fields of a manifest for everyone; what the manifest leaves out stays.
  func upgradeSchema(_ manifest: String, directory: DataDirectory, now: Instant) throws {
    try requireOwner()
    let wanted: Schema
    do {
      wanted = try SchemaManifest.read(Array(manifest.utf8))
    } catch {
      throw NodeError(.badArgument, "The schema cannot be used: \(error)", remedy: error.remedy)
    }
    let current = replica.membershipNow.schema
    if let contradiction = current.contradiction(to: wanted) {
      throw NodeError(
        .badArgument, "A schema only grows: \(contradiction).",
        remedy: "Give the new meaning a new name. What stands now: household schema show.")
    }
    let grown = current.extended(by: wanted)
    guard grown != current else { return }
    do {
      try SchemaCheck.check(grown)
    } catch {
      throw NodeError(.badArgument, "The schema cannot grow like this: \(error)", remedy: error.remedy)
    }
    try SafetyCopy.take(directory, before: "schema", now: now)
    _ = try replica.state(.schema(grown), at: now)
  }
}
