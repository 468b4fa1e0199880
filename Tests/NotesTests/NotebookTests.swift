import Foundation
import HouseholdKit
import HouseholdTestKit
import Testing
import notes

/// The notebook of two people, without sockets, nodes or waiting: an example of an app's own tests.
struct NotebookTests {
  private let household: TestHousehold
  private let ana: Notebook
  private let ben: Notebook
  private let phone: TestDevice

  init() throws {
    household = try TestHousehold(records: [Note.self])
    phone = try household.join("ben")
    ana = Notebook(store: household.founder.store)
    ben = Notebook(store: phone.store)
    try household.settle()
  }

  @Test func `a note that one adds is on the other's page`() async throws {
    let note = try ana.add("Shopping", "milk")

    try await ana.store.sendChanges()

    #expect(try ben.list().map(\.id) == [note.id])
    #expect(try ben.page(try ben.list()).hasPrefix("  \(note.id.prefix(8))  Shopping: milk\n✓"))
  }

  @Test func `edits of title and text made apart are both kept`() throws {
    let note = try ana.add("Shopping", "milk")
    try household.settle()
    try household.disconnect(phone)
    _ = try ana.edit(note.id) { $0.title = "Groceries" }
    _ = try ben.edit(note.id) { $0.text = "milk, bread" }

    household.connect(phone)
    try household.settle()

    for notebook in [ana, ben] {
      let shown = try notebook.note(note.id)
      #expect(shown.title == "Groceries")
      #expect(shown.text == "milk, bread")
    }
  }

  @Test func `two titles become a conflict, which either can decide`() throws {
    let note = try ana.add("Shopping", nil)
    try household.settle()
    try household.disconnect(phone)
    _ = try ana.edit(note.id) { $0.title = "Ana's" }
    try household.advance(by: .seconds(60))
    _ = try ben.edit(note.id) { $0.title = "Ben's" }
    household.connect(phone)
    try household.settle()

    let line = try #require(try ana.conflictLines().first { $0.contains("title") })
    #expect(line.contains("shows ben: {\"title\":\"Ben's\"}, lost ana: {\"title\":\"Ana's\"}"))
    try ana.resolve(String(line.prefix { $0 != " " }), .mine)
    try household.settle()

    #expect(try ben.note(note.id).title == "Ana's")
  }

  @Test func `whoever may only read is told so`() throws {
    try household.setPermission(.readOnly, of: phone)
    try household.settle()

    let error = #expect(throws: HouseholdStoreError.self) { try ben.add("Shopping", nil) }

    #expect(error?.code == .notAllowed)
    #expect(try ben.store.accountStatus().state == .readOnly)
  }

  @Test func `the indicator says when a partner is away, and when for long`() throws {
    try household.disconnect(phone)
    #expect(try ana.indicator().hasPrefix("↻"))

    try household.advance(by: .seconds(4 * 86_400))

    #expect(try ana.indicator().hasPrefix("!"))
  }
}
