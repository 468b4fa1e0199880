import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `backup`: a consistent copy of the records in one file.
struct BackupCommand: Command {
  let description = CommandDescription(
    "backup", group: .files, summary: "Copy the records into one file.",
    discussion: """
      The file is a SQLite database with the tables of the record types and their history. It holds no key: it cannot \
      be used to enter the household. The node may run meanwhile. `household recover` puts it back.
      """,
    operands: [Operand("FILE", kind: .file, help: "A file that does not exist.")])

  private struct Shown: Encodable {
    var file: String
    var records: Int64
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let file = invocation.operand("FILE")
    let backup = HouseholdBackup(try invocation.directory())
    output.detail("copying the replica to \(file)")
    try backup.write(to: file, now: SystemClock.now)
    let facts = try backup.check(file)
    try output.result(Shown(file: file, records: facts.records)) {
      output.note("\(quoted(file)) holds \(facts.records) records.")
    }
    return .done
  }
}

/// `recover`: puts a backup back, on this device or for everyone.
struct RecoverCommand: Command {
  let description = CommandDescription(
    "recover", group: .files, summary: "Put a backup back.",
    discussion: """
      With --scope device this device's records go back to the backup, and what came since is fetched from the other \
      devices again; the node must not run. How much of it is on no other device is said first. With --scope household \
      the old values are written as new changes for everyone: deleted records come back, and records made since are \
      deleted. If anything is to change, a copy is kept in snapshots/ first.
      """,
    operands: [Operand("FILE", kind: .file, help: "A file that household backup made.")],
    options: [
      .choice("scope", ["device", "household"], help: "Whose records go back."),
      .flag("yes", help: "Do not ask."),
    ])

  private struct Shown: Encodable {
    var scope: String
    var restored: Int64
    var changed: Int64
    var deleted: Int64
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let file = invocation.operand("FILE")
    let backup = HouseholdBackup(try invocation.directory())
    let facts = try backup.check(file)
    guard let scope = invocation.value("scope") else {
      throw CommandError.usage(
        "recover needs to know whose records go back.",
        remedy: "Say --scope device (this device only) or --scope household (for everyone).", code: "answerMissing")
    }
    let about = "\(quoted(file)) of \(facts.madeAt.rfc3339) with \(facts.records) records"
    if scope == "device" {
      if let warning = Self.warning(try backup.loss(comparedTo: file)) { output.note(warning) }
      try confirm("Put this device back to \(about)?", invocation, output)
      try backup.putBackDevice(file, now: SystemClock.now)
      try output.result(Shown(scope: scope, restored: facts.records, changed: 0, deleted: 0)) {
        output.note("This device is back at \(facts.madeAt.rfc3339). Start the node to fetch what came since.")
      }
      return .done
    }
    let preview = Self.shown(try backup.preview(file))
    try confirm(
      "Roll the household back to \(about)? \(preview.restored) deleted records come back, \(preview.changed) get old "
        + "values, \(preview.deleted) made since are deleted, on every device.", invocation, output)
    let done = Self.shown(try backup.rollBackHousehold(file, now: SystemClock.now))
    try output.result(done) {
      output.note("\(done.restored) records restored, \(done.changed) changed, \(done.deleted) deleted.")
    }
    return .done
  }

  /// What nobody can bring back; nil if there is nothing.
  private static func warning(_ loss: (changesets: UInt64, edits: Int64)) -> String? {
    let parts = [
      loss.changesets == 0 ? nil : "\(loss.changesets) changesets that are on no other device",
      loss.edits == 0 ? nil : "\(loss.edits) edits that are not sealed yet",
    ].compactMap(\.self)
    return parts.isEmpty ? nil : "\(parts.joined(separator: " and ")) will be in snapshots/ only."
  }

  private func confirm(_ question: String, _ invocation: Invocation, _ output: Output) throws {
    if invocation.flag("yes") { return }
    guard try Question.confirm(question, instead: "--yes", output: output) else {
      throw CommandError(code: "declined", message: "Nothing was changed.", remedy: "")
    }
  }

  private static func shown(_ difference: HouseholdBackup.Difference) -> Shown {
    Shown(
      scope: "household", restored: difference.missing, changed: difference.changed, deleted: difference.added)
  }
}
