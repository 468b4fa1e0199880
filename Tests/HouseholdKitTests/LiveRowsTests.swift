import Foundation
import HouseholdKit
import HouseholdTestKit
import Testing

/// Live results are what a question asked anew would find, though only what changed is read.
struct LiveRowsTests {
  struct Item: HouseholdRecord, Equatable {
    var id: String
    var name: String?
    var count: Int?
    var weight: Double?
    var isDone: Bool?
  }

  /// The same numbers each time.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  private static let names = [nil, "", "a", "B", "é", "e\u{301}", "Ω", "zz"]

  private func change(_ store: HouseholdStore, _ numbers: inout Numbers) throws {
    let id = "\(Int.random(in: 0..<40, using: &numbers))"
    let item = Item(
      id: id, name: Self.names.randomElement(using: &numbers) ?? nil,
      count: Bool.random(using: &numbers) ? nil : Int.random(in: 0..<3, using: &numbers),
      weight: Bool.random(using: &numbers) ? nil : Double(Int.random(in: -2..<3, using: &numbers)) / 2,
      isDone: Bool.random(using: &numbers))
    if Int.random(in: 0..<4, using: &numbers) == 0 {
      try store.delete(Item.self, id: id)
    } else if try store.fetch(Item.self, id: id) == nil {
      try store.insert(item)
    } else {
      try store.update(Item.self, id: id) { $0 = item }
    }
  }

  @Test(arguments: 0..<3)
  func `after any edits they are in order and complete`(seed: Int) async throws {
    let household = try TestHousehold(records: [Item.self])
    let partner = try household.join("ben")
    try household.settle()
    let store = household.founder.store
    let sorting: [RecordSorting<Item>] = [
      [], [.descending(\.name), .ascending(\.weight)], [.ascending(\.isDone), .descending(\.count)],
    ][seed]
    let limit = seed == 2 ? 7 : nil
    var live = try store.live(Item.self, where: \.count != 1, sort: sorting, limit: limit).makeAsyncIterator()
    var shown = try await live.next()
    var numbers = Numbers(state: UInt64(seed))

    for round in 0..<40 {
      let writer = round.isMultiple(of: 3) ? partner.store : store
      try writer.transaction { for _ in 0..<(round.isMultiple(of: 10) ? 90 : 3) { try change(writer, &numbers) } }
      try household.settle()
      let wanted = try store.fetch(Item.self, where: \.count != 1, sort: sorting, limit: limit)
      while shown != wanted { shown = try await live.next() }
    }

    #expect(shown?.isEmpty == false)
  }
}
