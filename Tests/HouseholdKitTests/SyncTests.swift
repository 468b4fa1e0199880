import Foundation
import HouseholdKit
import Testing

/// Two devices with real nodes, seen through the kit.
struct SyncTests {
  private func open(_ name: String, _ folder: Folder) throws -> HouseholdStore {
    try HouseholdStore.open(directory: folder.place(name), records: [Note.self])
  }

  @Test func `what one device writes comes to the other, as events and as changes`() async throws {
    let folder = try Folder()
    try folder.pair()
    let (ana, ben) = (try open("ana", folder), try open("ben", folder))
    try await ana.sendChanges()
    let token = try ben.currentToken()

    try ana.insert(Note(id: "n", title: "Shopping"))
    try await ana.sendChanges()
    try await ben.fetchChanges()

    #expect(try ben.fetch(Note.self, id: "n")?.title == "Shopping")
    #expect(try ana.pendingChanges().unsealed.isEmpty)
    #expect(try ana.pendingChanges().unconfirmed == 0)
    let changes = try ben.changes(since: token)
    #expect(changes.isComplete)
    #expect(changes.changed.map(\.description) == ["note/n"])
    #expect(try ben.changes(since: changes.token).changed.isEmpty)
    for try await event in ben.events(since: token) {
      guard case .fetchedChanges(let changed, let deleted) = event else { continue }
      #expect(changed.map(\.description) == ["note/n"])
      #expect(deleted.isEmpty)
      break
    }
  }

  @Test func `edits of one field on two devices become a conflict, which is decided for both`() async throws {
    let folder = try Folder()
    try folder.pair()
    let (ana, ben) = (try open("ana", folder), try open("ben", folder))
    try ana.insert(Note(id: "n", title: "Shopping"))
    try await ana.sendChanges()
    // Both edits lie in their files before either node can take them up and pass them on.
    folder.stopNodes()
    try ana.update(Note.self, id: "n") { $0.title = "Ana's" }
    try ben.update(Note.self, id: "n") { $0.title = "Ben's" }
    let address = try folder.startNode("ana")
    _ = try folder.startNode("ben", peer: address)

    var found: RecordConflict?
    for try await event in ana.events() {
      if case .conflict(let conflict) = event {
        found = conflict
        break
      }
    }
    let conflict = try #require(found)
    try ana.resolve(conflict, taking: .mine)
    try await ana.sendChanges()

    #expect(conflict.record.description == "note/n")
    #expect(conflict.field == "title")
    #expect(try ben.fetch(Note.self, id: "n")?.title == "Ana's")
    #expect(try ben.conflicts().isEmpty)
  }
}
