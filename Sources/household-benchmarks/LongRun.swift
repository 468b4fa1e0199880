import Foundation
import Glibc
import HouseholdNode

/// Two connected nodes under an edit every second, turn about, while somebody watches the status: what grows.
///
/// Each figure is taken every half minute, from the fifth on; the table shows the median, the least and the greatest.
enum LongRun {
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let (ana, partner) = try stage.syncedPartner()
    let files = [try ana.file(), try partner.file()]
    let watcher = try ana.launch("status", "--watch")
    defer { watcher.terminate() }
    let watch = Stopwatch()
    var figures: [String: [Double]] = [:]
    for second in 0..<(stage.options.minutes * 60) {
      let row = stage.rows[second % min(2000, stage.rows.count)]
      try files[second % 2].setPayee("Edit \(second)", of: row.id)
      if second % 30 == 29, second > 120 {
        for (name, id) in [("a node", ana.nodeID), ("the watcher", watcher.processIdentifier)] {
          figures["\(name), memory, MiB", default: []].append(try ProcessFacts.memory(id, "VmRSS"))
          figures["\(name), descriptors, number", default: []].append(Double(try ProcessFacts.descriptors(id)))
        }
        figures["the WAL, MiB", default: []].append(try size(ana.directory.replica + "-wal") / 1_048_576)
      }
      try Patience.wait(for: "the next second", microseconds: 20_000) {
        watch.milliseconds >= Double(second + 1) * 1000
      }
    }
    try stage.settle(partner, with: ana)
    return figures.keys.sorted().compactMap { key in
      let words = key.split(separator: ", ")
      return figures[key].map {
        BenchmarkRow(
          "\(stage.options.minutes) minutes of edits: " + words.dropLast().joined(separator: ", "),
          unit: String(words[words.count - 1]), $0)
      }
    }
  }

  private static func size(_ path: String) throws -> Double {
    (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.doubleValue ?? 0
  }
}
