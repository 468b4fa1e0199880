import Glibc

/// A program commits one edit to Ana's file; the time runs from before its commit until the partner's file shows it.
///
/// Edits come as a person makes them, one after another with pauses. The twin is the commit alone in a plain file.
enum LiveEdit {
  /// The pause between edits, in microseconds: enough for the node not to gather them.
  private static let pause: UInt32 = 120_000

  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let (ana, partner) = try stage.syncedPartner()
    let (writer, reader) = (try ana.file(), try partner.file())
    let plain = try stage.newPlainFile()
    try plain.file.insert(stage.rows)
    var pairs: [(measured: Double, twin: Double)] = []
    for number in 0..<stage.options.edits {
      let id = stage.rows[number * 7919 % stage.rows.count].id
      let payee = "Live edit \(number)"
      usleep(pause)
      let twin = try Stopwatch.time { try plain.file.setPayee(payee, of: id) }
      let watch = Stopwatch()
      try writer.setPayee(payee, of: id)
      try Patience.wait(for: "an edit to arrive", microseconds: 200) { try reader.payee(of: id) == .text(payee) }
      pairs.append((watch.milliseconds, twin))
    }
    var row = BenchmarkRow("live edit", unit: "ms", pairs: pairs)
    row = row.mustKeep("median under 20 ms") { $0.measured.median < 20 }
    return [row, BenchmarkRow("live edit, 99th percentile", unit: "ms", [row.measured.percentile99])]
  }
}
