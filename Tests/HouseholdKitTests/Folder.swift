import Foundation
import HouseholdKit
import Testing

/// A folder for one test; it goes with the test, and the nodes that were started in it end before.
final class Folder {
  let url: URL
  private var nodes: [(name: String, process: Process)] = []
  private var calls = 0

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "household-kit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    stopNodes()
    do { try FileManager.default.removeItem(at: url) } catch { print("left \(url): \(error)") }
  }

  /// Ends the nodes as a person would.
  func stopNodes() {
    for node in nodes where node.process.isRunning { node.process.terminate() }
    for node in nodes { node.process.waitUntilExit() }
    nodes = []
  }

  /// Ends the node of one data directory.
  func stopNode(_ name: String) throws {
    let node = try #require(nodes.first { $0.name == name }?.process)
    node.terminate()
    node.waitUntilExit()
    nodes.removeAll { $0.name == name }
  }

  /// The place of something in the folder.
  func place(_ name: String) -> URL { url.appending(path: name) }

  /// A new household whose schema is made from these types.
  func household(
    _ records: any HouseholdRecord.Type..., at name: String = "home", node: NodeChoice = .external
  ) throws -> HouseholdStore {
    try HouseholdStore.create(
      in: place(name), household: "Our home", member: "ana", device: "laptop", records: records, node: node)
  }

  // MARK: Programs

  /// A program of this build, or of the system.
  static func program(_ name: String) -> URL {
    if name.hasPrefix("/") { return URL(filePath: name) }
    let own = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let places = [own.appending(path: name), package.appending(path: ".build/debug/\(name)")]
    return places.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? places[1]
  }

  /// A program that runs, with what it says in a file.
  typealias Running = (process: Process, output: URL)

  /// Starts a program.
  func start(_ program: String, _ words: [String]) throws -> Running {
    calls += 1
    let process = Process()
    process.executableURL = Self.program(program)
    process.arguments = words
    process.currentDirectoryURL = url
    process.environment = ["PATH": "/usr/bin:/bin", "HOME": url.path, "LANG": "C.UTF-8"]
    process.standardInput = FileHandle.nullDevice
    let output = place("call-\(calls).out")
    try Data().write(to: output)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = process.standardOutput
    try process.run()
    return (process, output)
  }

  /// Runs a program that must succeed, and gives what it said.
  @discardableResult
  func run(_ program: String, _ words: [String], location: SourceLocation = #_sourceLocation) throws -> String {
    let (process, output) = try start(program, words)
    process.waitUntilExit()
    let said = try String(contentsOf: output, encoding: .utf8)
    try #require(process.terminationStatus == 0, "\(program) \(words): \(said)", sourceLocation: location)
    return said.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Waits until the program has said this, a limited time.
  func wait(for text: String, from running: Running, location: SourceLocation = #_sourceLocation) throws {
    try wait(for: text, location: location) {
      try String(contentsOf: running.output, encoding: .utf8).contains(text)
    }
  }

  /// Waits until this is so, a limited time.
  func wait(for what: String, location: SourceLocation = #_sourceLocation, until isSo: () throws -> Bool) throws {
    let end = Date(timeIntervalSinceNow: 30)
    while Date() < end {
      if try isSo() { return }
      usleep(20_000)
    }
    try #require(Bool(false), "in vain: \(what)", sourceLocation: location)
  }

  /// Starts the node of a data directory, and gives its address once it listens.
  func startNode(_ name: String, peer: String? = nil) throws -> String {
    let dial = peer.map { ["--peer", $0] } ?? []
    let (process, output) = try start(
      "household", ["node", "--data-dir", place(name).path, "--listen", "127.0.0.1:0", "--no-discovery"] + dial)
    nodes.append((name, process))
    try wait(for: "\n", from: (process, output))
    let said = try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
    let line = try #require(said.first { $0.hasPrefix("listening on ") }, "\(said)")
    return String(line.dropFirst("listening on ".count))
  }

  /// A household of two, `ana` and `ben`, whose nodes run; gives the address of ana's.
  ///
  /// - Parameter records: what the schema is made from; nothing for the built-in one.
  @discardableResult
  func pair(_ records: any HouseholdRecord.Type...) throws -> String {
    if records.isEmpty {
      try run(
        "household", ["init", "Our home", "--member", "ana", "--device", "laptop", "--data-dir", place("ana").path])
    } else {
      try HouseholdStore.create(
        in: place("ana"), household: "Our home", member: "ana", device: "laptop", records: records
      ).close()
    }
    let address = try startNode("ana")
    let invitation = try run("household", ["invite", "ben", "--json", "--data-dir", place("ana").path])
    let document = try JSONSerialization.jsonObject(with: Data(invitation.utf8)) as? [String: Any]
    let link = try #require(document?["link"] as? String)
    try run("household", ["join", link, "--device", "phone", "--yes", "--data-dir", place("ben").path])
    _ = try startNode("ben", peer: address)
    return address
  }

  /// What the `sqlite3` program answers.
  @discardableResult
  func sqlite(_ name: String, _ sql: String) throws -> String {
    try run("/usr/bin/sqlite3", ["-cmd", ".timeout 10000", place(name).appending(path: "replica.sqlite").path, sql])
  }
}
