package import HouseholdRecords
package import HouseholdReplica

/// What status looks at beside the replica: keys, certificates and permissions.
///
/// The same checks as doctor's, so that the two cannot contradict each other.
package enum OwnFiles {
  /// - Parameter facts: of the replica beside the keys.
  package static func check(_ directory: DataDirectory, _ facts: StatusFacts, now: Instant) -> [DoctorCheck] {
    // Where nothing can be written anyway, that is what has to be told.
    let files = DiskFacts(directory).isReadOnly ? [] : [DiskCheck.writing(directory)]
    return CertificateCheck.run(directory, facts, now: now) + files + [DiskCheck.privacy(directory)]
  }
}
