import HouseholdNode

/// A partner that had everything starts its node again: nothing changed, or a thousand edits wait for it.
enum Reconnection {
  /// How many edits wait.
  static let edits = 1000

  static func measureNothing(_ stage: Stage) throws -> [BenchmarkRow] {
    var times: [Double] = []
    var bytes: [Double] = []
    for _ in 0..<stage.options.rounds {
      let (time, traffic) = try reconnect(stage) { _ in
      } until: {
        try $0.isInSync(with: $1)
      }
      times.append(time)
      bytes.append(traffic)
    }
    return [
      BenchmarkRow("new connection, nothing changed", unit: "ms", times),
      BenchmarkRow("new connection, nothing changed, on the wire", unit: "bytes", bytes),
    ]
  }

  static func measureEdits(_ stage: Stage) throws -> [BenchmarkRow] {
    var pairs: [(measured: Double, twin: Double)] = []
    var bytes: [Double] = []
    let chosen = Array(stage.rows.prefix(Self.edits))
    let plain = try stage.newPlainFile()
    try plain.file.insert(stage.rows)
    for round in 0..<stage.options.rounds {
      func edit(_ file: PlainFile) throws {
        try file.transaction { for row in chosen { try file.setPayee("\(row.payee) \(round)", of: row.id) } }
      }
      let twin = try Stopwatch.time { try edit(plain.file) }
      let partner = try stage.syncedPartner().partner.file()
      let (time, traffic) = try reconnect(stage) { ana in
        let file = try ana.file()
        try edit(file)
        try Patience.wait(for: "Ana's node to seal", microseconds: 2000) {
          try file.run("SELECT 1 FROM sync_outbox LIMIT 1") == nil
        }
      } until: { _, _ in
        try chosen.last.map { try partner.payee(of: $0.id) == .text("\($0.payee) \(round)") } ?? true
      }
      pairs.append((time, twin))
      bytes.append(traffic)
    }
    return [
      BenchmarkRow("new connection, \(chosen.count) edits of one field", unit: "ms", pairs: pairs),
      BenchmarkRow("new connection, \(chosen.count) edits, on the wire", unit: "bytes", bytes),
    ]
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
