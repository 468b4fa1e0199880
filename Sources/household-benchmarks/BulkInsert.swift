/// A foreign program inserts all transactions in one transaction while a node runs, which seals them.
///
/// The twin is the same insert into the same table without triggers and without a node.
enum BulkInsert {
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    var inserted: [(measured: Double, twin: Double)] = []
    var sealed: [(measured: Double, twin: Double)] = []
    for _ in 0..<stage.options.rounds {
      let plain = try stage.newPlainFile()
      let twin = try Stopwatch.time { try plain.file.insert(stage.rows) }
      let device = try stage.newHousehold()
      try device.startNode()
      let file = try device.file()
      let watch = Stopwatch()
      try file.insert(stage.rows)
      inserted.append((watch.milliseconds, twin))
      try Patience.wait(for: "the node to seal", microseconds: 2000) {
        try file.run("SELECT 1 FROM sync_outbox LIMIT 1") == nil
      }
      sealed.append((watch.milliseconds, twin))
      try stage.remove(device)
    }
    return [
      BenchmarkRow("bulk insert by SQL, captured", unit: "ms", pairs: inserted),
      BenchmarkRow("bulk insert by SQL, captured and sealed", unit: "ms", pairs: sealed),
    ]
  }
}
