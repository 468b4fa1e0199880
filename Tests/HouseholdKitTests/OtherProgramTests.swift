import Foundation
import HouseholdKit
import Testing

/// The examples of Docs/OtherPrograms.md, run as they stand there.
struct OtherProgramTests {
  private func example(_ language: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let blocks = try KitPageTests.blocks(of: language, in: root.appending(path: "Docs/OtherPrograms.md"))
    return try #require(blocks.first)
  }

  private static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

  @Test func `the shell's example writes and reads beside an app`() throws {
    let folder = try Folder()
    let store = try folder.household(Note.self)

    let script = folder.place("example.sql")
    try example("sql").write(to: script, atomically: true, encoding: .utf8)

    let said = try folder.sqlite("home", ".read \(script.path)")

    #expect(said == "rent|Rent|goes up in June")
    #expect(try store.fetch(Note.self, sort: [.ascending(\.title)]).map(\.title) == ["Ask the landlord", "Rent"])
    #expect(try store.pendingChanges().unsealed.count == 2)
  }

  @Test(.enabled(if: hasPython))
  func `Python's example writes, and follows what an app writes`() throws {
    let folder = try Folder()
    let store = try folder.household(Note.self)
    let script = folder.place("follow.py")
    try example("python").write(to: script, atomically: true, encoding: .utf8)

    let python = try folder.start(
      "/usr/bin/python3", [script.path, folder.place("home").appending(path: "replica.sqlite").path, "2"])
    try folder.wait(for: "following", from: python)
    try store.insert(Note(id: "n", title: "From Swift"))
    try folder.wait(for: "n From Swift", from: python)
    try store.delete(Note.self, id: "n")
    try folder.wait(for: "n deleted", from: python)

    #expect(try store.fetch(Note.self).map(\.title) == ["From Python"])
  }
}
