import Foundation
import HouseholdKit
import Testing

/// What is written is what was meant, and nothing else.
struct WritingTests {
  private let folder: Folder
  private let store: HouseholdStore

  init() throws {
    folder = try Folder()
    store = try folder.household(Note.self)
  }

  @Test func `an update writes the properties that changed and leaves the others to whoever changed them`() throws {
    try store.insert(Note(id: "n", title: "Shopping", text: "milk"))
    let original = try #require(try store.fetch(Note.self, id: "n"))
    var edited = original
    edited.text = "milk, bread"
    try folder.sqlite("home", "UPDATE note SET title = 'Groceries' WHERE id = 'n'")

    let isHere = try store.update(from: original, to: edited)

    #expect(isHere)
    let note = try #require(try store.fetch(Note.self, id: "n"))
    #expect(note.title == "Groceries")
    #expect(note.text == "milk, bread")
    #expect(try folder.sqlite("home", "SELECT count(*) FROM sync_outbox WHERE kind = 2") == "2")
  }

  @Test func `a property that both have changed is not written over unseen`() throws {
    try store.insert(Note(id: "n", title: "Shopping", text: "milk"))
    let original = try #require(try store.fetch(Note.self, id: "n"))
    var edited = original
    (edited.title, edited.text) = ("Groceries", "bread")
    try folder.sqlite("home", "UPDATE note SET title = 'Groceries', text = 'cheese' WHERE id = 'n'")

    let error = #expect(throws: HouseholdStoreError.self) { try store.update(from: original, to: edited) }

    #expect(error?.code == .changedMeanwhile)
    #expect(error?.message.contains("changed text meanwhile") == true)
    #expect(try store.fetch(Note.self, id: "n")?.text == "cheese")
  }

  @Test func `an update in place reads, changes and writes as one`() throws {
    try store.insert(Note(id: "n", title: "Shopping"))

    let changed = try store.update(Note.self, id: "n") { $0.isFavorite = true }
    let missing = try store.update(Note.self, id: "m") { $0.isFavorite = true }

    #expect(changed?.isFavorite == true)
    #expect(missing == nil)
    #expect(try store.fetch(Note.self).map(\.id) == ["n"])
  }

  @Test func `an update that changes nothing writes nothing`() throws {
    try store.insert(Note(id: "n", title: "Shopping"))
    let before = try folder.sqlite("home", "SELECT max(number) FROM sync_outbox")

    try store.update(Note.self, id: "n") { $0.title = "Shopping" }

    #expect(try folder.sqlite("home", "SELECT max(number) FROM sync_outbox") == before)
  }

  @Test func `an id is given once`() throws {
    try store.insert(Note(id: "n", title: "one"))

    let error = #expect(throws: HouseholdStoreError.self) { try store.insert(Note(id: "n", title: "two")) }

    #expect(error?.code == .recordExists)
    #expect(try store.fetch(Note.self, id: "n")?.title == "one")
  }

  @Test func `a transaction that throws leaves nothing behind`() throws {
    let error = #expect(throws: HouseholdStoreError.self) {
      try store.transaction {
        try store.insert(Note(id: "a", title: "one"))
        try store.insert(Note(id: "a", title: "two"))
      }
    }

    #expect(error?.code == .recordExists)
    #expect(try store.count(Note.self) == 0)
  }

  @Test func `a value that the field cannot hold is refused with the reason`() throws {
    var long = Note(id: "n", title: "long")
    long.createdAt = .distantFuture + 1e13

    let error = #expect(throws: HouseholdStoreError.self) { try store.insert(long) }

    #expect(error?.code == .badValue)
  }

  @Test func `threads that write at the same time wait for each other`() async throws {
    let store = store

    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask { try store.insert(Note(id: "n\(number)", title: "\(number)")) }
      }
      try await group.waitForAll()
    }

    #expect(try store.count(Note.self) == 20)
  }
}
