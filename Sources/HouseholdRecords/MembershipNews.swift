/// What a device that belongs no longer is told: that, and as little else as can be.
extension MembershipLog {
  /// The entries that tell a device that it belongs no longer, of those that it lacks: the first that ended it, with all that
  /// this one names. Everything that it lacks, if with no such entry it would judge as is judged here: of two that end
  /// each other it may need to hear of a third.
  ///
  /// - Parameters:
  ///   - device: one that this log names and does not admit.
  ///   - member: whose it is.
  ///   - known: what the device says that it has.
  package func news(ending device: DeviceID, of member: MemberID, known: Set<EntryHash>) -> Set<EntryHash> {
    for end in ends(of: device, member).prefix(Limits.endsTold) {
      let told = history(of: end)
      let state = MembershipEvaluation.state(of: restricted(to: told.union(known)))
      if state.excludes(device) { return told.subtracting(known) }
    }
    return Set(hashes).subtracting(known)
  }

  /// The entries that may have ended the device, each after those that it names.
  private func ends(of device: DeviceID, _ member: MemberID) -> [EntryHash] {
    ordered.filter { known in
      switch known.entry.statement {
      case .removal(let removal): removal.subject == .device(device) || removal.subject == .member(member)
      case .join(let join): join.replaces.contains { $0.device == device }
      case .genesis, .invite, .rename, .schema, .role, .dormancy, .fold, .unknown: false
      }
    }.map(\.hash)
  }
}
