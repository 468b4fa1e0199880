import Foundation

/// The product beside a C program that does the same work and has none of the duties, in the same rounds.
///
/// The program is `run` of the floor: it prints a line for each of its works, `W1` first sync, `W2` a thousand edits,
/// `W3` nothing changed, `W5` a live edit. Its times begin with an open database and end with its commit; ours begin with
/// the start of a process (first sync, "node started"), with the connection between two nodes that run ("cut connection"),
/// or before another program's commit (live edit).
enum Floor {
  /// What the floor needed for each of its works, in milliseconds; `live99` is the 99th percentile.
  private struct Times {
    var firstSync = 0.0
    var edits = 0.0
    var nothing = 0.0
    var live = 0.0
    var live99 = 0.0
  }

  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    guard let program = stage.options.floor else {
      if stage.options.names.isEmpty { return [] }
      throw BenchmarkError(description: "floor needs --floor PROGRAM; see --help", isUsage: true)
    }
    let folder = try stage.newFolder()
    var first: [(measured: Double, twin: Double)] = []
    var nothing = first
    var edits = first
    var started = first
    var startedEdits = first
    var live = first
    var live99 = first
    let connection = try CutConnection(stage)
    defer { connection.stop() }
    for _ in 0..<stage.options.rounds {
      let floor = try times(of: program, in: folder)
      first.append((try FirstSync.measureOnce(stage), floor.firstSync))
      nothing.append((try connection.nothing().milliseconds, floor.nothing))
      edits.append((try connection.edited(), floor.edits))
      started.append((try Reconnection.nothing(stage).milliseconds, floor.nothing))
      startedEdits.append((try Reconnection.edited(stage).milliseconds, floor.edits))
      let spread = Spread(try LiveEdit.times(stage, count: stage.options.edits / 4 + 1))
      live.append((spread.median, floor.live))
      live99.append((spread.percentile99, floor.live99))
    }
    return [
      BenchmarkRow("beside the floor: first sync", unit: "ms", pairs: first),
      BenchmarkRow("beside the floor: cut connection, nothing changed", unit: "ms", pairs: nothing),
      BenchmarkRow("beside the floor: cut connection, 1000 edits", unit: "ms", pairs: edits),
      BenchmarkRow("beside the floor: node started, nothing changed", unit: "ms", pairs: started),
      BenchmarkRow("beside the floor: node started, 1000 edits", unit: "ms", pairs: startedEdits),
      BenchmarkRow("beside the floor: live edit, median", unit: "ms", pairs: live),
      BenchmarkRow("beside the floor: live edit, 99th percentile", unit: "ms", pairs: live99),
    ]
  }

  private static func times(of program: String, in folder: URL) throws -> Times {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = [folder.path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    var times = Times()
    for line in text.split(separator: "\n") {
      switch line.prefix(2) {
      case "W1": times.firstSync = try number(after: ":", in: line)
      case "W2": times.edits = try number(after: ":", in: line)
      case "W3": times.nothing = try number(after: "median", in: line)
      case "W5":
        times.live = try number(after: "p50", in: line)
        times.live99 = try number(after: "p99", in: line)
      default: continue
      }
    }
    guard min(times.firstSync, times.edits, times.nothing, times.live, times.live99) > 0 else {
      throw BenchmarkError(
        description: "\(program) ended with \(process.terminationStatus) and did not print its times")
    }
    return times
  }

  private static func number(after mark: String, in line: Substring) throws -> Double {
    guard let range = line.range(of: mark),
      let number = Double(line[range.upperBound...].drop { $0 == " " }.prefix { $0.isNumber || $0 == "." })
    else { throw BenchmarkError(description: "the floor printed a line without a number: \(line)") }
    return number
  }
}
