import HouseholdNode

/// A partner that had everything starts its node again: nothing changed, or a thousand edits wait for it.
enum Reconnection {
  /// How many edits wait.
  static let edits = 1000

  static func measureNothing(_ stage: Stage) throws -> [BenchmarkRow] {
    var times: [Double] = []
    var bytes: [Double] = []
    for _ in 0..<stage.options.rounds {
      let (time, traffic) = try nothing(stage)
      times.append(time)
      bytes.append(traffic)
    }
    return [
      BenchmarkRow("node started, nothing changed", unit: "ms", times),
      BenchmarkRow("node started, nothing changed, on the wire", unit: "bytes", bytes),
    ]
  }

  static func measureEdits(_ stage: Stage) throws -> [BenchmarkRow] {
    var pairs: [(measured: Double, twin: Double)] = []
    var bytes: [Double] = []
    let chosen = chosen(stage)
    let plain = try stage.newPlainFile()
    try plain.file.insert(stage.rows)
    for round in 0..<stage.options.rounds {
      let twin = try Stopwatch.time { try edit(chosen, in: plain.file, "\(round)") }
      let (time, traffic) = try edited(stage)
      pairs.append((time, twin))
      bytes.append(traffic)
    }
    return [
      BenchmarkRow("node started, \(chosen.count) edits of one field", unit: "ms", pairs: pairs),
      BenchmarkRow("node started, \(chosen.count) edits, on the wire", unit: "bytes", bytes),
    ]
  }

  private static func chosen(_ stage: Stage) -> [TransactionData.Row] { Array(stage.rows.prefix(edits)) }

  private static func edit(_ rows: [TransactionData.Row], in file: PlainFile, _ mark: String) throws {
    try file.transaction { for row in rows { try file.setPayee("\(row.payee) \(mark)", of: row.id) } }
  }

  /// One contact without news.
  static func nothing(_ stage: Stage) throws -> (milliseconds: Double, bytes: Double) {
    try reconnect(stage) { _ in
    } until: {
      try $0.isInSync(with: $1)
    }
  }

  /// One contact with a thousand edits of one field.
  static func edited(_ stage: Stage) throws -> (milliseconds: Double, bytes: Double) {
    let (rows, partner) = (chosen(stage), try stage.syncedPartner().partner.file())
    let mark = "\(UInt32.random(in: 0...UInt32.max))"
    return try reconnect(stage) { ana in
      let file = try ana.file()
      try edit(rows, in: file, mark)
      try Patience.wait(for: "Ana's node to seal", microseconds: 2000) {
        try file.run("SELECT 1 FROM sync_outbox LIMIT 1") == nil
      }
    } until: { _, _ in
      try rows.last.map { try partner.payee(of: $0.id) == .text("\($0.payee) \(mark)") } ?? true
    }
  }

  /// Stops the partner's node, does something at Ana's, and times from the start of the partner's process on.
  private static func reconnect(
    _ stage: Stage, after act: (Device) throws -> Void, until isDone: (_ partner: Device, _ ana: Device) throws -> Bool
  ) throws -> (milliseconds: Double, bytes: Double) {
    let (ana, partner) = try stage.syncedPartner()
    partner.stopNode()
    try Patience.wait(for: "Ana's node to notice", microseconds: 5000) {
      try ana.status().peers.first { $0.device == partner.name }?.connected == false
    }
    try act(ana)
    let before = try ana.traffic(with: partner)
    let watch = Stopwatch()
    try partner.launchNode(peer: ana)
    try Patience.wait(for: "the partner to be in sync again", microseconds: 1000) { try isDone(partner, ana) }
    let time = watch.milliseconds
    try stage.settle(partner, with: ana)
    return (time, try ana.traffic(with: partner) - before)
  }
}
