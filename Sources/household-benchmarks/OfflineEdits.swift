/// Both partners edit while neither node runs: so many edits on each side, a tenth of them in the same records.
///
/// The time runs from the start of both processes until both files have applied the same changesets. The twin writes the
/// same edits into two plain files. Afterwards every edit is looked for: it stands in the table, or is a conflict that
/// both list.
enum OfflineEdits {
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let edits = min(5000, stage.rows.count / 2)
    let shared = edits / 10
    var pairs: [(measured: Double, twin: Double)] = []
    for round in 0..<stage.options.rounds {
      let mine = Array(stage.rows[..<edits])
      let theirs = Array(stage.rows[(edits - shared)..<(2 * edits - shared)])
      pairs.append(try measureOnce(stage, mine, theirs, shared: shared, round: round))
    }
    return [BenchmarkRow("\(edits) offline edits on each side, \(shared) records shared", unit: "ms", pairs: pairs)]
  }

  private static func measureOnce(
    _ stage: Stage, _ mine: [TransactionData.Row], _ theirs: [TransactionData.Row], shared: Int, round: Int
  ) throws -> (measured: Double, twin: Double) {
    let (ana, partner) = try stage.syncedPartner()
    ana.stopNode()
    partner.stopNode()
    let (files, plain) = ([try ana.file(), try partner.file()], [try newPlain(stage), try newPlain(stage)])
    for (file, rows) in zip(files, [mine, theirs]) { try edit(rows, in: file, "\(round)", of: rows.count) }
    let twin = try Stopwatch.time {
      for (file, rows) in zip(plain, [mine, theirs]) { try edit(rows, in: file, "\(round)", of: rows.count) }
    }
    let watch = Stopwatch()
    try ana.startNode()
    try partner.launchNode(peer: ana)
    try Patience.wait(for: "both to have all edits", microseconds: 1000) {
      try files.allSatisfy { try $0.run("SELECT 1 FROM sync_outbox LIMIT 1") == nil }
        && vector(of: files[0]) == vector(of: files[1])
    }
    let time = watch.milliseconds
    for file in files {
      let mark = "% of \(mine.count) in \(round)"
      let listed = try file.integer("SELECT count(*) FROM sync_conflict WHERE open = 1 AND kept LIKE '\(mark)\"}'")
      let shown = try file.integer("SELECT count(*) FROM \"transaction\" WHERE payee LIKE '\(mark)'")
      guard listed == shared, shown == mine.count + theirs.count - shared else {
        throw BenchmarkError(description: "\(shown) edits show and \(listed) are conflicts: some were lost")
      }
    }
    return (time, twin)
  }

  private static func newPlain(_ stage: Stage) throws -> PlainFile {
    let plain = try stage.newPlainFile().file
    try plain.insert(stage.rows)
    return plain
  }

  private static func edit(_ rows: [TransactionData.Row], in file: PlainFile, _ round: String, of count: Int) throws {
    try file.transaction {
      for (index, row) in rows.enumerated() { try file.setPayee("Edit \(index) of \(count) in \(round)", of: row.id) }
    }
  }

  /// What a file has applied, as one text.
  private static func vector(of file: PlainFile) throws -> PlainValue? {
    try file.run("SELECT group_concat(hex(id) || applied) FROM (SELECT id, applied FROM sync_replica ORDER BY id)")
  }
}
