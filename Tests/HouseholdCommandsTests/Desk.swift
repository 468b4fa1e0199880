import Foundation
import HouseholdCommands
import Testing

/// A folder in which the real commands run in this process, on a real household.
final class Desk {
  /// What a command came to.
  struct Answer {
    let code: Int32
    let output: String
    let errors: String

    /// The JSON that was printed.
    func document() throws -> [String: Any] {
      let text = output.isEmpty ? errors : output
      return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }
  }

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "household-desk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(at: folder) } catch { print("left \(folder): \(error)") }
  }

  /// The path of something in the folder.
  func path(_ name: String) -> String { folder.appending(path: name).path }

  /// A desk on which a household lies in `home`.
  static func withHousehold() async throws -> Desk {
    let desk = try Desk()
    let made = await desk.run("init", "Home", "--member", "ana", "--device", "laptop")
    try #require(made.code == 0, "\(made.errors)")
    return desk
  }

  /// Runs a command on the household in `home`.
  func run(_ words: [String], in home: String = "home") async -> Answer {
    let (standardOutput, standardError) = (CapturedSink(), CapturedSink())
    let code = await CommandLineTool.run(
      arguments: words, environment: ["HOUSEHOLD_DATA_DIR": path(home), "HOME": folder.path],
      commands: CommandLineTool.commands,
      output: Output(standardOutput: standardOutput, standardError: standardError))
    return Answer(code: code, output: standardOutput.text, errors: standardError.text)
  }

  func run(_ words: String...) async -> Answer { await run(words) }

  /// The records of a type by their ids.
  func records(_ type: String, in home: String = "home") async throws -> [String: [String: Any]] {
    let list = try #require(
      try await run(["list", type, "--json"], in: home).document()["records"] as? [[String: Any]])
    return Dictionary(list.map { ($0["id"] as? String ?? "", $0) }) { first, _ in first }
  }
}
