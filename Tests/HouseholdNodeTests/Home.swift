import Foundation
import Testing

/// One device: its data directory, its commands, and its node.
final class Home {
  let name: String
  let directory: String
  private let place: Place
  private var process: Process?
  private var starts = 0
  /// Words before the program's own, by which another program starts it: of the node, and of commands.
  var launcher: [String] = []
  var commandLauncher: [String] = []
  /// `HOST:PORT` of the node that runs.
  private(set) var address = ""

  init(_ name: String, in place: Place) {
    self.name = name
    self.place = place
    directory = place.path(name)
  }

  deinit { kill() }

  /// The process of the node.
  var pid: Int32 { process?.processIdentifier ?? 0 }
  var isRunning: Bool { process?.isRunning ?? false }

  func run(_ words: String...) throws -> Answer { try run(words) }

  func run(_ words: [String]) throws -> Answer {
    try place.run(["--data-dir", directory] + words, launcher: commandLauncher)
  }

  /// Runs a command that must succeed, and gives its JSON.
  @discardableResult
  func json(_ words: String..., location: SourceLocation = #_sourceLocation) throws -> [String: Any] {
    let answer = try run(words + ["--json"])
    try #require(answer.code == 0, "\(words): \(answer.errors)", sourceLocation: location)
    return try answer.document()
  }

  /// Starts the node, and waits until it listens.
  func start(
    peers: [Home] = [], words: [String] = [], listen: String = "127.0.0.1:0", discovers: Bool = false,
    environment: [String: String] = [:]
  ) throws {
    try spawn(peers: peers, words: words, listen: listen, discovers: discovers, environment: environment)
    try waitUntilItListens()
  }

  /// Starts the node, which may not come to listen.
  func spawn(
    peers: [Home] = [], words: [String] = [], listen: String = "127.0.0.1:0", discovers: Bool = false,
    environment: [String: String] = [:]
  ) throws {
    starts += 1
    let dial = peers.flatMap { ["--peer", $0.address] }
    process = try Program.start(
      ["node", "--data-dir", directory, "--listen", listen] + (discovers ? [] : ["--no-discovery"]) + dial + words,
      folder: place.folder, name: logName, launcher: launcher, environment: environment)
  }

  func waitUntilItListens() throws {
    let name = logName
    var told = ""
    try eventually("\(name) listens") {
      told = try String(contentsOfFile: place.path("\(name).out"), encoding: .utf8)
      let log = try log()
      try #require(isRunning, "\(name) has ended: \(log)")
      return told.hasSuffix("\n")
    }
    address = String(told.dropFirst("listening on ".count).dropLast())
  }

  /// What the node wrote on standard error, since it was started last.
  func log() throws -> String { try String(contentsOfFile: place.path(logName + ".err"), encoding: .utf8) }

  /// Ends the node as a person would; returns its exit code.
  @discardableResult
  func stop() throws -> Int32 {
    guard let process else { return 0 }
    Foundation.kill(process.processIdentifier, SIGTERM)
    // It takes milliseconds; that it has ended is noticed late where many tests share few processors.
    try eventually("\(name) stops") { !process.isRunning }
    self.process = nil
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }

  /// Ends the node as a power cut would.
  func kill() {
    guard let process else { return }
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    self.process = nil
  }

  private var logName: String { "\(name.replacingOccurrences(of: "/", with: "-"))-node-\(starts)" }

  // MARK: What tests do often

  func invite(_ words: String...) throws -> String {
    let answer = try run(["invite"] + words + ["--json"])
    try #require(answer.code == 0, "\(answer.errors)")
    return try #require(try answer.document()["link"] as? String)
  }

  func join(_ link: String, location: SourceLocation = #_sourceLocation) throws {
    let answer = try run("join", link, "--device", "\(name)-laptop", "--yes")
    try #require(answer.code == 0, "\(answer.errors)", sourceLocation: location)
  }

  /// Joins with another device name than the one of the directory.
  func joinAs(_ device: String, _ link: String) throws {
    let answer = try run("join", link, "--device", device, "--yes")
    try #require(answer.code == 0, "\(answer.errors)")
  }

  func put(_ type: String, _ id: String, _ fields: String...) throws {
    let answer = try run(["put", type, id] + fields)
    try #require(answer.code == 0, "\(answer.errors)")
  }

  /// The records of a type by their ids.
  func records(_ type: String) throws -> [String: [String: Any]] {
    let list = try #require(try json("list", type)["records"] as? [[String: Any]])
    return Dictionary(list.map { ($0["id"] as? String ?? "", $0) }) { first, _ in first }
  }

  func status() throws -> (code: Int32, report: [String: Any]) {
    let answer = try run("status", "--json")
    return (answer.code, try answer.document())
  }

  /// What status tells of the peer whose member has this name.
  func peer(_ member: String) throws -> [String: Any] {
    let peers = try status().report["peers"] as? [[String: Any]] ?? []
    return peers.first { $0["member"] as? String == member } ?? [:]
  }

  func waitInSync(location: SourceLocation = #_sourceLocation) throws {
    try eventually("\(name) is in sync", location: location) { try status().code == 0 }
  }

  /// What the `sqlite3` program answers.
  ///
  /// - Parameters:
  ///   - captured: whether triggers see what is written; a damaged program would write past them.
  ///   - file: in the data directory.
  func sqlite(_ sql: String, captured: Bool = true, file: String = "replica.sqlite") throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/sqlite3")
    let past = captured ? [] : ["-cmd", ".dbconfig enable_trigger off"]
    process.arguments = ["-cmd", ".timeout 10000"] + past + ["\(directory)/\(file)", sql]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The memory of the node that cannot be given back, in KiB.
  func residentKiB() throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
  }
}
