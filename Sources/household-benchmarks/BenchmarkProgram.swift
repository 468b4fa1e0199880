import Foundation
import Glibc

/// Measures the product beside plain SQLite, with real nodes in processes of their own, and prints what it found.
///
/// Everything it makes lies in one temporary folder, which is gone afterwards, and it ends the nodes it started.
enum BenchmarkProgram {
  /// Runs with the words of this process and returns what it should exit with: 1 when a bar is missed.
  static func main() -> Int32 {
    do {
      let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp {
        print(BenchmarkOptions.help)
        return 0
      }
      if let (path, folder) = options.hotPath {
        try path.run(in: URL(filePath: folder), rows: TransactionData.rows(options.rows))
        return 0
      }
      let report = try run(options)
      print(options.wantsJSON ? try report.json() : report.table())
      return report.rows.contains { $0.holds == false } ? 1 : 0
    } catch let error as BenchmarkError {
      complain(error.description)
      return error.isUsage ? 64 : 2
    } catch {
      complain("\(error)")
      return 2
    }
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data("household-benchmarks: \(text)\n".utf8))
  }

  private static func run(_ options: BenchmarkOptions) throws -> BenchmarkReport {
    Interruption.watch()
    let stage = try Stage(options)
    defer { stage.tearDown() }
    var report = BenchmarkReport(rows: [], machine: Machine.description, date: Machine.today, records: options.rows)
    for benchmark in Benchmark.allCases where options.includes(benchmark) {
      try Interruption.check()
      complain("measuring \(benchmark.rawValue)")
      report.rows += try benchmark.measure(stage)
    }
    return report
  }
}

/// Why nothing could be measured.
struct BenchmarkError: Error, CustomStringConvertible {
  var description: String
  var isUsage = false
}

/// What is measured, in the order in which it is least work.
enum Benchmark: String, CaseIterable {
  case importFile = "import"
  case typedFetch = "typed-fetch"
  case bulkInsert = "bulk-insert"
  case firstSync = "first-sync"
  case storeSize = "store-size"
  case nothingChanged = "nothing-changed"
  case thousandEdits = "thousand-edits"
  case cutConnection = "cut-connection"
  case liveEdit = "live-edit"
  case offlineEdits = "offline-edits"
  case idle
  case floor
  case growth
  case devices
  case longRun = "long-run"
  case instructions

  /// Whether it takes so long that it is measured only when it is named.
  var isOnRequest: Bool { [.growth, .devices, .longRun, .instructions].contains(self) }

  /// Measures it and returns its rows of the table.
  func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    switch self {
    case .importFile: try ImportFile.measure(stage)
    case .typedFetch: try TypedFetch.measure(stage)
    case .bulkInsert: try BulkInsert.measure(stage)
    case .firstSync: try FirstSync.measure(stage)
    case .storeSize: try StoreSize.measure(stage)
    case .nothingChanged: try Reconnection.measureNothing(stage)
    case .thousandEdits: try Reconnection.measureEdits(stage)
    case .cutConnection: try CutConnection.measure(stage)
    case .liveEdit: try LiveEdit.measure(stage)
    case .offlineEdits: try OfflineEdits.measure(stage)
    case .idle: try IdleNode.measure(stage)
    case .floor: try Floor.measure(stage)
    case .growth: try Growth.measure(stage)
    case .devices: try Devices.measure(stage)
    case .longRun: try LongRun.measure(stage)
    case .instructions: try Instructions.measure(stage)
    }
  }
}
