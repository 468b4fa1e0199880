import Foundation
import HouseholdKit
import HouseholdNode

/// One device of the household that is measured: its data directory, and its node in a process of its own.
final class Device {
  let name: String
  private let program: String
  private let folder: URL
  private var node: Process?
  private var starts = 0
  /// Where the node listens.
  private(set) var address = ""

  /// - Parameters:
  ///   - program: the `household` to run.
  ///   - folder: where the device's directory and logs are put.
  init(_ name: String, program: String, folder: URL) {
    self.name = name
    self.program = program
    self.folder = folder
  }

  var directory: DataDirectory { DataDirectory(folder.appending(path: name).path) }

  /// Runs one command to its end and returns what it printed.
  ///
  /// - Parameter codes: what it may exit with.
  @discardableResult
  func run(_ words: String..., allowing codes: [Int32] = [0]) throws -> String {
    let process = try makeProcess(words)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = try log("commands")
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard codes.contains(process.terminationStatus) else {
      throw BenchmarkError(
        description: "household \(words.joined(separator: " ")) failed with \(process.terminationStatus): \(text)")
    }
    return text
  }

  /// Runs one command to its end and returns how long its process lived, in milliseconds, and its peak memory in MiB.
  func measure(_ words: String...) throws -> (milliseconds: Double, peak: Double) {
    let process = try makeProcess(words)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try log("commands")
    var peak = 0.0
    let watch = Stopwatch()
    try process.run()
    // The kernel keeps the peak only as long as the process lives, so it is read until the end.
    while process.isRunning {
      peak = max(peak, ProcessFacts.mebibytes("VmHWM", of: process.processIdentifier) ?? 0)
      try Patience.pause(microseconds: 2000)
    }
    let milliseconds = watch.milliseconds
    guard process.terminationStatus == 0, peak > 0 else {
      throw BenchmarkError(description: "household \(words[0]) failed with \(process.terminationStatus)")
    }
    return (milliseconds, peak)
  }

  /// Starts a command that goes on; whoever started it ends it.
  func launch(_ words: String...) throws -> Process {
    let process = try makeProcess(words)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try log("commands")
    try process.run()
    return process
  }

  private func makeProcess(_ words: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = ["--data-dir", directory.path] + words
    process.standardInput = FileHandle.nullDevice
    return process
  }

  private func log(_ name: String) throws -> FileHandle {
    let url = folder.appending(path: "\(self.name)-\(name).log")
    if !FileManager.default.fileExists(atPath: url.path) {
      guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
        throw BenchmarkError(description: "\(url.path) cannot be made")
      }
    }
    let handle = try FileHandle(forWritingTo: url)
    try handle.seekToEnd()
    return handle
  }

  /// Starts the node, which dials `peer`; does not wait for it.
  func launchNode(peer: Device? = nil) throws {
    try launchNode(options: peer.map { ["--peer", $0.address] } ?? [])
  }

  private func launchNode(options: [String]) throws {
    precondition(node == nil, "a device has one node at a time")
    starts += 1
    let process = try makeProcess(["node", "--listen", "127.0.0.1:0", "--no-discovery"] + options)
    process.standardOutput = try log("out-\(starts)")
    process.standardError = try log("node")
    try process.run()
    node = process
  }

  /// Starts the node and waits until it listens.
  func startNode(peer: Device? = nil) throws {
    try launchNode(peer: peer)
    try awaitListening()
  }

  /// Starts the node, which tells others this address as its own, and waits until it listens.
  func startNode(peerAddress: String? = nil, advertise: String) throws {
    try launchNode(options: ["--advertise", advertise] + (peerAddress.map { ["--peer", $0] } ?? []))
    try awaitListening()
  }

  private func awaitListening() throws {
    let url = folder.appending(path: "\(name)-out-\(starts).log")
    try Patience.wait(for: "the node of \(name) to listen", microseconds: 2000, seconds: 30) {
      let text = try String(contentsOf: url, encoding: .utf8)
      guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("listening on ") }) else { return false }
      address = String(line.dropFirst("listening on ".count))
      return true
    }
  }

  /// The process id of the node that runs.
  var nodeID: Int32 { node?.processIdentifier ?? 0 }

  /// Stops the node and waits for its end.
  func stopNode() {
    guard let node else { return }
    if node.isRunning { node.terminate() }
    node.waitUntilExit()
    self.node = nil
  }

  /// Opens the replica as any program would.
  func file() throws -> PlainFile { try PlainFile(directory.replica) }

  /// What `household status` says now.
  func status() throws -> StatusReport { try HouseholdStatus.report(directory, now: SystemClock.now) }

  /// What went over links to and from this peer so far, in bytes.
  func traffic(with peer: Device) throws -> Double {
    let found = try status().peers.first { $0.device == peer.name }
    return Double((found?.bytesSent ?? 0) + (found?.bytesReceived ?? 0))
  }

  /// Whether everything is on both devices and both know it.
  func isInSync(with peer: Device) throws -> Bool {
    let report = try status()
    guard report.changes.unsealed == 0, let other = report.peers.first(where: { $0.device == peer.name }) else {
      return false
    }
    return other.connected && other.hasOurs.complete && other.weHaveTheirs.complete
  }
}
