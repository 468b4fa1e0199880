import Foundation
import HouseholdKit
import Testing

/// The example app, as a person uses it in a terminal.
struct NotesTests {
  private func notes(_ folder: Folder, _ home: String, _ words: String...) throws -> String {
    try folder.run("notes", ["--data-dir", folder.place(home).path] + words)
  }

  @Test func `notes are added, edited, marked, found and deleted`() throws {
    let folder = try Folder()
    try folder.run(
      "household", ["init", "Home", "--member", "ana", "--device", "laptop", "--data-dir", folder.place("ana").path])

    let added = try notes(folder, "ana", "add", "Shopping", "milk")
    let id = String(added.split(separator: " ")[0])
    _ = try notes(folder, "ana", "add", "Rent")
    let edited = try notes(folder, "ana", "edit", id, "Groceries")
    let marked = try notes(folder, "ana", "favourite", id)
    let found = try notes(folder, "ana", "search", "MILK")
    let listed = try notes(folder, "ana", "list")
    _ = try notes(folder, "ana", "delete", id)

    #expect(edited.hasSuffix("Groceries: milk"))
    #expect(marked.hasPrefix("★ \(id)"))
    #expect(found == marked)
    #expect(listed.split(separator: "\n").map { $0.suffix(4) } == ["milk", "Rent"])
    #expect(try notes(folder, "ana", "list").hasSuffix("Rent"))
    #expect(try notes(folder, "ana", "status").hasPrefix("✗"))
  }

  @Test func `two of them sync, and each sees the other live`() async throws {
    let folder = try Folder()
    try folder.pair()
    let live = try folder.start("notes", ["--data-dir", folder.place("ben").path, "live"])
    defer { live.process.terminate() }
    try folder.wait(for: "✓", from: live)

    let added = try notes(folder, "ana", "add", "Shopping", "milk")

    try folder.wait(for: added, from: live)
  }
}
