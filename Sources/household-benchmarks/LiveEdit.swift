import Glibc
import HouseholdNode

/// A program commits one edit to Ana's file; the time runs from before its commit until the partner's file shows it.
///
/// Edits come as a person makes them, one after another with pauses. The twin is the commit alone in a plain file.
enum LiveEdit {
  /// The pause between edits, in microseconds: enough for the node not to gather them.
  private static let pause: UInt32 = 120_000

  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let plain = try stage.newPlainFile()
    try plain.file.insert(stage.rows)
    var twins: [Double] = []
    let times = try times(stage, count: stage.options.edits) { id, payee in
      twins.append(try Stopwatch.time { try plain.file.setPayee(payee, of: id) })
    }
    let row = BenchmarkRow("live edit", unit: "ms", pairs: Array(zip(times, twins)).map { ($0, $1) })
      .mustKeep("median under 20 ms") { $0.measured.median < 20 }
    return [row, BenchmarkRow("live edit, 99th percentile", unit: "ms", [row.measured.percentile99])]
  }

  /// How long so many edits took, in milliseconds.
  ///
  /// - Parameter twin: does the same elsewhere, just before.
  static func times(
    _ stage: Stage, count: Int, beside twin: (_ id: String, _ payee: String) throws -> Void = { _, _ in }
  ) throws -> [Double] {
    let (ana, partner) = try stage.syncedPartner()
    let (writer, reader) = (try ana.file(), try partner.file())
    let commits = try CommitWait(partner.directory.replica)
    let mark = UInt32.random(in: 0...UInt32.max)
    return try (0..<count).map { number in
      let id = stage.rows[number * 7919 % stage.rows.count].id
      let payee = "Live edit \(number) of \(mark)"
      usleep(pause)
      try twin(id, payee)
      let watch = Stopwatch()
      try writer.setPayee(payee, of: id)
      try commits.wait(for: "an edit to arrive") { try reader.payee(of: id) == .text(payee) }
      return watch.milliseconds
    }
  }
}
