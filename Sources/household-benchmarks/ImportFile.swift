import Foundation
import HouseholdNode

/// `household import` of a bank's CSV file with all transactions, into a household that has none and whose node rests.
///
/// The time is that of the whole process. The twin inserts the same rows into a plain table in one transaction.
enum ImportFile {
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    var times: [(measured: Double, twin: Double)] = []
    var peaks: [Double] = []
    for _ in 0..<stage.options.rounds {
      let plain = try stage.newPlainFile()
      let twin = try Stopwatch.time { try plain.file.insert(stage.rows) }
      let device = try stage.newHousehold()
      let path = device.directory.path + ".csv"
      try Data(text(stage.rows).utf8).write(to: URL(filePath: path))
      let (milliseconds, peak) = try device.measure("import", path, "--account", "Joint", "--quiet")
      times.append((milliseconds, twin))
      peaks.append(peak)
      let count = try device.file().integer("SELECT count(*) FROM \"transaction\"")
      guard count == Int64(stage.rows.count) else {
        throw BenchmarkError(description: "\(count) transactions were imported of \(stage.rows.count)")
      }
      try FileManager.default.removeItem(atPath: path)
      try stage.remove(device)
    }
    return [
      BenchmarkRow("import of CSV", unit: "ms", pairs: times).mustKeep("under 3 s for 100,000 rows") {
        $0.measured.median < 3000 * max(1, Double(stage.rows.count) / 100_000)
      },
      BenchmarkRow("import of CSV, peak memory", unit: "MiB", peaks).mustKeep("under 150 MiB") {
        $0.measured.greatest < 150
      },
    ]
  }

  /// The file as a bank would write it.
  private static func text(_ rows: [TransactionData.Row]) -> String {
    var text = "Date,Payee,Amount,Currency,Note\n"
    for row in rows {
      let cents = row.amountMinor.magnitude % 100
      let amount =
        "\(row.amountMinor < 0 ? "-" : "")\(row.amountMinor.magnitude / 100).\(cents < 10 ? "0" : "")\(cents)"
      text += "\(row.date),\(row.payee),\(amount),EUR,\(row.note)\n"
    }
    return text
  }
}
