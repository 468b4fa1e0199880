import Foundation
import HouseholdKit
import Testing

/// Swift types as records, without a mapping that anybody writes.
struct TypedRecordTests {
  @Test func `every kind of property comes back as it was`() throws {
    let folder = try Folder()
    let store = try folder.household(Errand.self)
    let errand = try Errand.sample("a")
    var bare = errand
    (bare.picture, bare.parent, bare.small) = (nil, nil, nil)

    try store.insert(errand)
    try store.delete(Errand.self, id: "b")
    try store.insert(Errand(copying: bare, id: "b"))

    #expect(try store.fetch(Errand.self, id: "a") == errand)
    #expect(try store.fetch(Errand.self, id: "b") == Errand(copying: bare, id: "b"))
    #expect(try store.fetch(Errand.self, id: "c") == nil)
  }

  @Test func `the table holds what any program can read`() throws {
    let folder = try Folder()
    let store = try folder.household(Errand.self)

    try store.insert(try Errand.sample("a"))

    let row = try folder.sqlite(
      "home",
      "SELECT title, count, weight, is_done, due, made_at, hex(picture), urgency, place, parent, small FROM errand")
    #expect(
      row == #"Milk|1|0.5|0|2026-02-28|2023-11-14T22:13:20.125Z|00FF|high|"#
        + #"{"street":"Ährenweg \"3\"","tags":["a","b"]}|other|-7"#)
  }

  @Test func `the schema is made from the Swift type`() throws {
    let text = try HouseholdStore.schema(name: "errands", version: 1, records: [Errand.self])

    let manifest = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let type = try #require((manifest["types"] as? [[String: Any]])?.first)
    let fields = try #require(type["fields"] as? [[String: String]])
    #expect(type["strategy"] as? String == "lastWriterWins")
    #expect(
      fields.map { "\($0["name"] ?? "") \($0["type"] ?? "")\($0["to"].map { " \($0)" } ?? "")" } == [
        "title text", "count integer", "weight real", "is_done boolean", "due date", "made_at timestamp",
        "picture bytes", "urgency text", "place json", "parent reference errand", "small integer",
      ])
  }

  @Test func `a type that the household does not keep is refused when it is opened`() throws {
    let folder = try Folder()
    try folder.household(Note.self).close()

    let error = #expect(throws: HouseholdStoreError.self) {
      try HouseholdStore.open(directory: folder.place("home"), records: [Note.self, Errand.self])
    }

    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.contains("errand") == true)
    #expect(error?.message.contains("schema upgrade") == true)
  }

  @Test func `a property without a field, or of another kind, is named`() throws {
    struct Missing: HouseholdRecord {
      static let recordType = "note"
      var id: String
      var colour: String?
    }
    struct Wrong: HouseholdRecord {
      static let recordType = "note"
      var id: String
      var title: Int
    }
    let store = try Folder().household(Note.self)

    let missing = #expect(throws: HouseholdStoreError.self) { try store.fetch(Missing.self) }
    let wrong = #expect(throws: HouseholdStoreError.self) { try store.fetch(Wrong.self) }

    #expect(missing?.code == .schemaMismatch)
    #expect(missing?.message.contains("Missing.colour has no field") == true)
    #expect(wrong?.code == .schemaMismatch)
    #expect(wrong?.message.contains("Wrong.title is an integer, and the household's field note.title is text") == true)
  }

  @Test func `a null that the Swift type does not allow is an error that names the record and the field`() throws {
    let folder = try Folder()
    let store = try folder.household(Note.self)
    try folder.sqlite("home", "INSERT INTO note(id, text) VALUES ('n', 'without a title')")

    let error = #expect(throws: HouseholdStoreError.self) { try store.fetch(Note.self) }

    #expect(error?.code == .badValue)
    #expect(error?.message.contains("n cannot be read: title") == true)
  }

  @Test func `there is no household where none was made`() throws {
    let folder = try Folder()

    let error = #expect(throws: HouseholdStoreError.self) { try HouseholdStore.open(directory: folder.place("none")) }

    #expect(error?.code == .noHousehold)
  }

  @Test func `a closed store says so`() throws {
    let store = try Folder().household(Note.self)

    store.close()

    let error = #expect(throws: HouseholdStoreError.self) { try store.fetch(Note.self) }
    #expect(error?.code == .closed)
  }
}

extension Errand {
  /// The same errand under another id.
  init(copying errand: Errand, id: String) {
    self = Errand(
      id: id, title: errand.title, count: errand.count, weight: errand.weight, isDone: errand.isDone, due: errand.due,
      madeAt: errand.madeAt, picture: errand.picture, urgency: errand.urgency, place: errand.place,
      parent: errand.parent, small: errand.small)
  }
}
