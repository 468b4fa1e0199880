import Foundation

/// How many instructions the hot paths take, by valgrind's callgrind.
///
/// Each is made ready by this process, and done by this program once more under valgrind, which counts a part of it. All
/// of it is done twice, in two households: figures that differ would not be worth much.
enum Instructions {
  /// More records than a page of a snapshot holds, and few enough for valgrind's patience.
  private static let mostRecords = 10_000
  /// The most by which two counts of one work may differ.
  private static let tolerance = 0.01

  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let valgrind = try valgrind()
    let rows = Array(stage.rows.prefix(mostRecords))
    return try stage.options.hotPaths.map { path in
      let counts = try (0..<2).map { round in
        try Interruption.check()
        let folder = try stage.newFolder()
        try path.prepare(in: folder, rows: rows)
        let total = try count(
          path, valgrind, folder, rows.count, stage.options.profiles.map { "\($0)/\(path.rawValue)-\(round)" })
        return total / Double(path.count(records: rows.count))
      }
      return BenchmarkRow(path.name, unit: "instructions", counts)
        .mustKeep("two counts within \(Int(tolerance * 100)) %") {
          $0.measured.greatest - $0.measured.least <= tolerance * $0.measured.least
        }
    }
  }

  /// Where valgrind is; without it there is nothing to count with.
  private static func valgrind() throws -> String {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    guard let found = folders.map({ "\($0)/valgrind" }).first(where: FileManager.default.isExecutableFile) else {
      throw BenchmarkError(
        description: "instructions are counted by valgrind, which is not here; install it: apt-get install valgrind")
    }
    return found
  }

  /// The instructions of the part of the work that is measured.
  ///
  /// - Parameter profile: where the profile is kept for `callgrind_annotate`; nil for nowhere.
  private static func count(
    _ path: HotPath, _ valgrind: String, _ folder: URL, _ records: Int, _ profile: String?
  ) throws -> Double {
    let output = profile.map { URL(filePath: $0) } ?? folder.appending(path: "callgrind.out")
    let process = Process()
    process.executableURL = URL(filePath: valgrind)
    process.arguments = [
      "--tool=callgrind", "--callgrind-out-file=\(output.path)", "--collect-atstart=no",
      "--toggle-collect=*measuredPart*", try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
      "--rows", "\(records)", "--hot-path", path.rawValue, folder.path,
    ]
    // A hash table then has the same order every time.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    let log = folder.appending(path: "valgrind.log")
    try Data().write(to: log)
    process.standardError = try FileHandle(forWritingTo: log)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchmarkError(
        description:
          "\(path.rawValue) failed under valgrind: \(try String(contentsOf: log, encoding: .utf8).suffix(2000))")
    }
    let text = try String(contentsOf: output, encoding: .utf8)
    guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("totals:") }),
      let total = line.split(separator: " ").last.flatMap({ Double($0) }), total > 0
    else { throw BenchmarkError(description: "valgrind has counted nothing of \(path.rawValue)") }
    return total
  }
}
