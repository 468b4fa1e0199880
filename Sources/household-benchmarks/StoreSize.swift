import Foundation

/// The size of the files, with everything in the main file.
enum StoreSize {
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let (ana, partner) = try stage.syncedPartner()
    let plain = try stage.newPlainFile()
    try plain.file.insert(stage.rows)
    let twin = try size(plain.file)
    return [
      BenchmarkRow("store that wrote the records", unit: "MiB", pairs: [(try size(ana.file()), twin)]),
      BenchmarkRow("store that got the records", unit: "MiB", pairs: [(try size(partner.file()), twin)]),
    ]
  }

  /// Pages in use or free; the log beside the file is as large as the largest transaction and is not counted.
  private static func size(_ file: PlainFile) throws -> Double {
    Double(try file.integer("PRAGMA page_count") * file.integer("PRAGMA page_size")) / 1_048_576
  }
}
