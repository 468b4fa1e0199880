import Foundation
import HouseholdKit
import HouseholdModels
import HouseholdTestKit
import Observation
import Testing

/// Models for views follow the household.
@MainActor struct ModelTests {
  private let household: TestHousehold
  private let ana: TestDevice
  private let ben: TestDevice

  init() throws {
    household = try TestHousehold(records: [Note.self])
    ana = household.founder
    ben = try household.join("ben")
    try household.settle()
  }

  /// Waits, as a view does, until the models that the condition reads have made it true.
  private func wait(until condition: @MainActor () -> Bool) async {
    while true {
      let (changes, continuation) = AsyncStream<Void>.makeStream()
      if withObservationTracking(condition, onChange: { continuation.finish() }) { return }
      for await _ in changes {}
      // What was about to change has changed after this.
      await Task.yield()
    }
  }

  @Test func `a live query shows what a partner writes`() async throws {
    let favourites = LiveQuery(Note.self, in: ben.store, where: \.isFavorite == true, sort: [.ascending(\.title)])
    await wait { favourites.isLoaded }

    try ana.store.insert(Note(id: "n", title: "Shopping", isFavorite: true))
    try household.settle()
    await wait { favourites.records.map(\.title) == ["Shopping"] }

    #expect(favourites.error == nil)
  }

  @Test func `a model of sync knows the verdict, the people and the conflicts`() async throws {
    let sync = SyncModel(ana.store)
    await wait { sync.status?.verdict == .inSync && sync.members.count == 2 }
    try ana.store.insert(Note(id: "n", title: "Shopping"))
    try household.settle()
    try household.disconnect(ben)
    try ana.store.update(Note.self, id: "n") { $0.title = "Ana's" }
    try ben.store.update(Note.self, id: "n") { $0.title = "Ben's" }
    household.connect(ben)
    try household.settle()

    await wait { sync.conflicts.count == 1 }
    try ana.store.resolve(sync.conflicts[0], taking: .mine)
    try household.settle()
    await wait { sync.conflicts.isEmpty && sync.status?.verdict == .inSync }

    #expect(sync.account?.member == "ana")
  }

  @Test func `a query that cannot be asked says why`() throws {
    let query = LiveQuery(Errand.self, in: ana.store)

    #expect(query.error?.code == .schemaMismatch)
  }
}
