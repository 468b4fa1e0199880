import Foundation

/// What the kernel tells about a process.
enum ProcessFacts {
  static func text(_ path: String) throws -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw BenchmarkError(description: "\(path) cannot be read")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// A line of /proc/PID/status in MiB; nil if the process has ended.
  static func mebibytes(_ key: String, of process: Int32) -> Double? {
    guard let data = FileManager.default.contents(atPath: "/proc/\(process)/status") else { return nil }
    let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(key + ":") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }.map { $0 / 1024 }
  }

  /// The same of a process that must run.
  static func memory(_ process: Int32, _ key: String) throws -> Double {
    guard let found = mebibytes(key, of: process) else {
      throw BenchmarkError(description: "the memory of process \(process) cannot be read")
    }
    return found
  }

  /// How many files and sockets it has open.
  static func descriptors(_ process: Int32) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
  }
}
