import Foundation
import HouseholdKit
import Testing

/// Predicates and sorting by key paths.
struct QueryTests {
  private let folder: Folder
  private let store: HouseholdStore

  init() throws {
    folder = try Folder()
    store = try folder.household(Errand.self, Note.self)
    try store.transaction {
      try store.insert(try Errand.sample("a", title: "Milk", count: 3))
      try store.insert(try Errand.sample("b", title: "Bread", count: 1, isDone: true))
      try store.insert(try Errand.sample("c", title: "100% milk", count: 2))
    }
  }

  private func ids(_ predicate: RecordPredicate<Errand>?, _ sorting: [RecordSorting<Errand>] = []) throws -> [String] {
    try store.fetch(Errand.self, where: predicate, sort: sorting).map(\.id)
  }

  @Test func `comparisons find what they say`() throws {
    #expect(try ids(\.isDone == true) == ["b"])
    #expect(try ids(\.title == "Milk") == ["a"])
    #expect(try ids(\.title != "Milk") == ["b", "c"])
    #expect(try ids(\.count > 1) == ["a", "c"])
    #expect(try ids(\.count <= 1) == ["b"])
    #expect(try ids(\.urgency == .high) == ["a", "b", "c"])
    #expect(try ids(\.id == "c") == ["c"])
    #expect(try ids(\.parent == nil) == [])
    #expect(try ids(\.small < 0) == ["a", "b", "c"])
    #expect(try ids(\.madeAt < Date(timeIntervalSince1970: 0)) == [])
  }

  @Test func `predicates are joined and turned round`() throws {
    #expect(try ids(\.isDone == false && .contains(\.title, "MILK")) == ["a", "c"])
    #expect(try ids(\.count == 1 || \.count == 3) == ["a", "b"])
    #expect(try ids(!(\.count == 1)) == ["a", "c"])
    #expect(try ids(.any(of: ["Bread", "Milk"], \.title)) == ["a", "b"])
    #expect(try ids(.any(of: [], \.title)) == [])
    #expect(try ids(.all) == ["a", "b", "c"])
  }

  @Test func `what was typed is a value, never SQL or a pattern`() throws {
    #expect(try ids(.contains(\.title, "0%")) == ["c"])
    #expect(try ids(\.title == "x' OR '1'='1") == [])
  }

  @Test func `records are sorted by several properties, and as many as asked for`() throws {
    #expect(try ids(nil, [.ascending(\.isDone), .descending(\.count)]) == ["a", "c", "b"])
    #expect(try store.fetch(Errand.self, sort: [.ascending(\.count)], limit: 2).map(\.id) == ["b", "c"])
    #expect(try store.count(Errand.self) == 3)
  }

  @Test func `a key path that is no stored property is refused`() throws {
    let error = #expect(throws: HouseholdStoreError.self) { try ids(\.title.count == 4) }

    #expect(error?.code == .schemaMismatch)
  }
}
