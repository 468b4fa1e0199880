import Foundation
import Testing

/// What a command said when it had ended.
struct Answer: Sendable {
  let code: Int32
  let output: String
  let errors: String

  /// The JSON document on standard output, or of the error on standard error.
  func document() throws -> [String: Any] {
    let text = output.isEmpty ? errors : output
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
  }
}

/// The `household` executable of this build, run as a person or a script would.
enum Program {
  /// It lies beside the bundle that the tests are in.
  static let url: URL = {
    let own = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let places = [own.appending(path: "household"), package.appending(path: ".build/debug/household")]
    return places.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? places[1]
  }()

  /// A process with its output in files, as a pipe that nobody reads would hold it up.
  ///
  /// - Parameters:
  ///   - launcher: words by which another program starts it.
  ///   - environment: variables beside the usual ones.
  static func start(
    _ words: [String], folder: URL, name: String, launcher: [String] = [], environment: [String: String] = [:]
  ) throws -> Process {
    let process = Process()
    process.executableURL = launcher.isEmpty ? url : URL(filePath: "/usr/bin/env")
    process.arguments = launcher.isEmpty ? words : launcher + [url.path] + words
    process.currentDirectoryURL = folder
    let usual = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder.path, "LANG": "C.UTF-8"]
    process.environment = usual.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    for (keyPath, ending) in [(\Process.standardOutput, "out"), (\Process.standardError, "err")] {
      let file = folder.appending(path: "\(name).\(ending)")
      guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
        throw CocoaError(.fileWriteUnknown)
      }
      process[keyPath: keyPath] = try FileHandle(forWritingTo: file)
    }
    try process.run()
    return process
  }
}

/// Waits until the question is answered with yes, a limited time; says what it waited for when it was in vain.
func eventually(
  _ what: Comment, seconds: Double = 30, location: SourceLocation = #_sourceLocation, _ question: () throws -> Bool
) throws {
  let end = Date(timeIntervalSinceNow: seconds)
  while Date() < end {
    if try question() { return }
    usleep(50_000)
  }
  try #require(Bool(false), "in vain: \(what)", sourceLocation: location)
}

/// A folder for one test; it goes when the test and the homes in it are gone, whose nodes are killed then.
final class Place {
  let folder: URL
  private var calls = 0

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "household-node-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(at: folder) } catch { print("left \(folder): \(error)") }
  }

  /// The path of something in the folder.
  func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Runs a command to its end; one that takes a minute is killed.
  func run(_ words: [String], launcher: [String] = []) throws -> Answer {
    calls += 1
    let name = "call-\(calls)"
    let process = try Program.start(words, folder: folder, name: name, launcher: launcher)
    let end = Date(timeIntervalSinceNow: 60)
    while process.isRunning, Date() < end { usleep(2000) }
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
      Issue.record("household \(words) takes over a minute")
    }
    process.waitUntilExit()
    return Answer(
      code: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
      output: try String(contentsOf: folder.appending(path: "\(name).out"), encoding: .utf8),
      errors: try String(contentsOf: folder.appending(path: "\(name).err"), encoding: .utf8))
  }

  func run(_ words: String...) throws -> Answer { try run(words) }

  /// A data directory of this name.
  func home(_ name: String) -> Home {
    Home(name, in: self)
  }

  /// A household that this member has made, with its node running.
  func founder(_ name: String = "ana") throws -> Home {
    let home = home(name)
    let made = try home.run("init", "Our home", "--member", name, "--device", "\(name)-laptop")
    try #require(made.code == 0, "\(made.errors)")
    try home.start()
    return home
  }

  /// A household of two whose nodes both run.
  func pair(_ names: (String, String) = ("ana", "ben")) throws -> (Home, Home) {
    let owner = try founder(names.0)
    let guest = home(names.1)
    try guest.join(try owner.invite(names.1))
    try guest.start(peers: [owner])
    return (owner, guest)
  }
}
