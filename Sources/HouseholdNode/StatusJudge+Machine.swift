internal import HouseholdReplica

/// What this machine says: its disk, its node, and the files beside the replica.
extension StatusJudge {
  /// What the disk itself says, with or without a node that has met it.
  mutating func judgeDisk() {
    if disk.isReadOnly {
      add(
        "readOnlyFileSystem", .broken, "The data directory is on a read-only file system: nothing can be stored.",
        remedy: "Make it writable again; it goes on by itself.")
    } else if disk.isFull {
      add(
        "diskFull", .broken, "The disk is full: nothing can be stored.",
        remedy: "Free some space; it goes on by itself.")
    }
  }

  /// Keys, certificates and permissions, as doctor looks at them; what fails there is a finding here.
  mutating func judgeOwnFiles() {
    for check in ownFiles where check.state == .failed {
      // Without its keys no node starts again, and what cannot be written is not captured.
      let severity: StatusReport.Verdict = ["keys", "notWritable"].contains(check.check) ? .broken : .degraded
      add(check.check, severity, check.summary, remedy: check.remedy)
    }
  }

  mutating func judgeNode() {
    // In mode off no node is to run.
    if facts.isOff { return }
    switch node {
    case .notRunning:
      add(
        "nodeNotRunning", .broken, "No node is running here, so nothing is exchanged.",
        remedy: "Start it: household node")
    case .silent(let said):
      add(
        "nodeSilent", .broken, "A node is there and does not say how it is: \(said)",
        remedy: "Look at its log; if it stays like this, stop it and start it again.")
    case .facts(let live): judge(live)
    }
  }

  private mutating func judge(_ live: LiveFacts) {
    if let error = live.listenError {
      add(
        "portInUse", .broken, "The node cannot be reached by others: \(error)",
        remedy: "Stop the other program, or start the node with another --listen.")
    }
    for tried in live.unanswered ?? [] {
      guard let error = tried.error else { continue }
      inform(
        "addressUnanswered", subject: tried.address,
        "No device of the household was met at \(tried.address), which was given with --peer: \(error)",
        remedy: "Correct the address, or start the node that should be there.")
    }
    guard let error = live.storeError else { return }
    switch error.code {
    case "diskFull" where disk.isFull, "readOnlyFileSystem" where disk.isReadOnly: break
    case "databaseLocked":
      add("databaseLocked", .degraded, error.message, remedy: "Close the program that holds the replica locked.")
    case "diskFull": add("diskFull", .broken, error.message, remedy: "Free some space; it goes on by itself.")
    case "readOnlyFileSystem":
      add("readOnlyFileSystem", .broken, error.message, remedy: "Make the data directory writable again.")
    case let code:
      let remedy = ReplicaError.Code(rawValue: code).map { ReplicaError($0, error.message).remedy }
      add(code, .broken, error.message, remedy: remedy ?? "See the node's log.")
    }
  }
}
