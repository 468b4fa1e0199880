import Foundation
import HouseholdKit
import Testing

/// Following what changed, by token and live.
struct ChangeTests {
  private let folder: Folder
  private let store: HouseholdStore

  init() throws {
    folder = try Folder()
    store = try folder.household(Note.self)
  }

  @Test func `changes since a token name what is here and what is gone`() throws {
    try store.insert(Note(id: "a", title: "one"))
    try store.insert(Note(id: "b", title: "two"))
    let token = try store.currentToken()
    try store.update(Note.self, id: "a") { $0.title = "three" }
    try store.delete(Note.self, id: "b")

    let changes = try store.changes(since: token)

    #expect(changes.isComplete)
    #expect(changes.changed.map(\.description) == ["note/a"])
    #expect(changes.deleted.map(\.description) == ["note/b"])
    #expect(try store.pendingChanges().unsealed.map(\.id) == ["a", "b"])
  }

  @Test func `a token comes back from its text, and no other text is one`() throws {
    let token = try store.currentToken()

    #expect(ChangeToken(token.description) == token)
    let coded = try JSONDecoder().decode([ChangeToken].self, from: try JSONEncoder().encode([token]))
    #expect(coded == [token])
    for text in ["", "1", "2.0..0.0.1", "1.-1..0.0.1", "1.0.zz.0.0.1", token.description + ".1"] {
      #expect(ChangeToken(text) == nil, "\(text)")
    }
  }

  @Test func `without a token, or with another household's, everything is to be read again`() throws {
    let other = try Folder().household(Note.self, Errand.self)

    #expect(try store.changes(since: nil).isComplete == false)
    #expect(try store.changes(since: try other.currentToken()).isComplete == false)
  }

  @Test func `live results tell the records now and after each change by any program`() async throws {
    try store.insert(Note(id: "a", title: "one"))
    var iterator = try store.live(Note.self, where: \.title != "hidden", sort: [.ascending(\.title)])
      .makeAsyncIterator()

    let first = try await iterator.next()
    try store.insert(Note(id: "h", title: "hidden"))
    try store.insert(Note(id: "b", title: "two"))
    let second = try await iterator.next()
    try folder.sqlite("home", "DELETE FROM note WHERE id = 'a'")
    let third = try await iterator.next()

    #expect(first?.map(\.id) == ["a"])
    #expect(second?.map(\.id) == ["a", "b"])
    #expect(third?.map(\.id) == ["b"])
  }

  @Test func `live results end when the store is closed`() async throws {
    var iterator = try store.live(Note.self).makeAsyncIterator()
    _ = try await iterator.next()

    store.close()

    #expect(try await iterator.next() == nil)
  }

  @Test func `live results end with their task`() async throws {
    let store = store
    let task = Task {
      var count = 0
      for try await _ in try store.live(Note.self) { count += 1 }
      return count
    }

    task.cancel()

    #expect(try await task.value <= 1)
  }

  @Test func `events begin with the account and the verdict`() async throws {
    var account: AccountStatus?
    var verdict: SyncStatus?
    for try await event in store.events() {
      if case .accountChange(let status) = event { account = status }
      if case .verdict(let status) = event { verdict = status }
      if account != nil, verdict != nil { break }
    }

    #expect(account?.member == "ana")
    #expect(account?.role == "owner")
    #expect(account?.state == .available)
    #expect(verdict?.verdict == .broken)
    #expect(verdict?.reason == "nodeNotRunning")
    #expect(try store.debugDump().contains("\"nodeNotRunning\""))
  }

  @Test func `nothing can be sent without a node`() async throws {
    let error = await #expect(throws: HouseholdStoreError.self) { try await store.sendChanges() }

    #expect(error?.code == .nodeNotRunning)
  }
}
