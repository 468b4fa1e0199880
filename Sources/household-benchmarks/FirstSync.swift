/// A device that has joined and holds nothing gets all transactions from Ana's node.
///
/// The time runs from the start of its process until its table holds all of them, durably: starting, TLS handshake,
/// snapshot and commit included. The twin inserts the same rows in the order of their ids in one transaction.
enum FirstSync {
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    var pairs: [(measured: Double, twin: Double)] = []
    for _ in 0..<stage.options.rounds {
      let plain = try stage.newPlainFile()
      let twin = try Stopwatch.time { try plain.file.insert(stage.sortedRows) }
      pairs.append((try measureOnce(stage), twin))
    }
    return [
      BenchmarkRow("first sync", unit: "ms", pairs: pairs).mustKeep("ratio at most 4") {
        $0.ratio.map { $0.median <= 4 } ?? false
      }
    ]
  }

  /// One first sync, in milliseconds.
  static func measureOnce(_ stage: Stage) throws -> Double {
    let ana = try stage.ana()
    let last = stage.sortedRows[stage.sortedRows.count - 1].id
    let guest = try stage.newGuest()
    let file = try guest.file()
    let watch = Stopwatch()
    try guest.launchNode(peer: ana)
    try Patience.wait(for: "the first sync", microseconds: 2000) { try file.payee(of: last) != nil }
    let time = watch.milliseconds
    let count = try file.integer("SELECT count(*) FROM \"transaction\"")
    guard count == Int64(stage.rows.count) else {
      throw BenchmarkError(description: "the guest holds \(count) transactions of \(stage.rows.count)")
    }
    try stage.remove(guest)
    return time
  }
}
