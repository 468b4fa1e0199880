import Foundation
import HouseholdKit
import HouseholdTestKit
import Testing

/// The household for apps' tests does what the real thing does, and what the test says.
struct TestHouseholdTests {
  private let household: TestHousehold
  private let ana: TestDevice
  private let ben: TestDevice

  init() throws {
    household = try TestHousehold(records: [Note.self])
    ana = household.founder
    ben = try household.join("ben")
  }

  @Test func `who joins gets what is there, and then each what the other writes`() async throws {
    try ana.store.insert(Note(id: "before", title: "Shopping"))
    try await ben.store.fetchChanges()
    try ben.store.insert(Note(id: "after", title: "Rent"))
    try await ben.store.sendChanges()

    #expect(try ben.store.fetch(Note.self, id: "before")?.title == "Shopping")
    #expect(try ana.store.fetch(Note.self, id: "after")?.title == "Rent")
    #expect(try ana.store.status().verdict == .inSync)
    #expect(try ben.store.status().connectedPartners == 1)
  }

  @Test func `three devices agree, and what two of them exchange reaches the third through one of them`() throws {
    let cem = try household.join("cem")
    try household.settle()
    try household.disconnect(ana, cem)

    try ana.store.insert(Note(id: "n", title: "Shopping"))
    try household.settle()

    #expect(try cem.store.fetch(Note.self, id: "n")?.title == "Shopping")
    #expect(household.devices.map(\.member) == ["ana", "ben", "cem"])
  }

  @Test func `nobody can be reached who is cut off, and it is said at once`() async throws {
    try household.settle()
    try household.disconnect(ben)
    try ana.store.insert(Note(id: "n", title: "Shopping"))

    let sending = await #expect(throws: HouseholdStoreError.self) { try await ana.store.sendChanges() }
    let fetching = await #expect(throws: HouseholdStoreError.self) { try await ana.store.fetchChanges() }

    #expect(sending?.code == .partnerUnreachable)
    #expect(fetching?.code == .partnerUnreachable)
    #expect(try ana.store.status().verdict == .pending)
    #expect(try ana.store.pendingChanges().unconfirmed == 1)
    household.connect(ben)
    try await ana.store.sendChanges()
    #expect(try ana.store.pendingChanges().unconfirmed == 0)
  }

  @Test func `a slow way takes its time, by the household's clock`() throws {
    try household.settle()
    household.delay(ana, ben, by: .seconds(3))
    try ana.store.insert(Note(id: "n", title: "Shopping"))

    try household.settle()
    let atOnce = try ben.store.fetch(Note.self, id: "n")
    try household.advance(by: .milliseconds(2999))
    let tooSoon = try ben.store.fetch(Note.self, id: "n")
    try household.advance(by: .milliseconds(1))

    #expect(atOnce == nil)
    #expect(tooSoon == nil)
    #expect(try ben.store.fetch(Note.self, id: "n") != nil)
    #expect(try ana.store.pendingChanges().unconfirmed == 1)
    try household.advance(by: .seconds(3))
    #expect(try ana.store.pendingChanges().unconfirmed == 0)
  }

  @Test func `edits bear the time of their device's clock, and the later one shows`() throws {
    try ana.store.insert(Note(id: "n", title: "Shopping"))
    try household.settle()
    try household.disconnect(ben)
    household.setClock(of: ana, aheadBy: .seconds(120))
    try ana.store.update(Note.self, id: "n") { $0.title = "Ana's" }
    try household.advance(by: .seconds(60))
    try ben.store.update(Note.self, id: "n") { $0.title = "Ben's" }
    let written = household.now

    household.connect(ben)
    try household.settle()

    #expect(try ben.store.fetch(Note.self, id: "n")?.title == "Ana's")
    let conflict = try #require(try ana.store.conflicts().first)
    // SQLite's days are fractions: a time may come out a millisecond early.
    #expect(abs(try #require(conflict.lost.at).timeIntervalSince(written)) < 0.002)
    #expect(abs(try #require(conflict.kept.at).timeIntervalSince(written) - 60) < 0.002)
    #expect(conflict.lost.member == "ben")
  }

  @Test func `a partner who never came is silent since they joined, and to a later one since that one did`() throws {
    try household.stopNode(of: ben)
    try household.advance(by: .seconds(2 * 86_400))
    let soon = try ana.store.status().verdict
    try household.advance(by: .seconds(2 * 86_400))
    let cem = try household.join("cem")
    try household.settle()

    #expect(soon == .pending)
    #expect(try ana.store.status().verdict == .degraded)
    #expect(try cem.store.status().verdict == .pending)
  }

  @Test func `who may only read is refused, until the right is given`() throws {
    let cem = try household.join("cem", permission: .readOnly)
    try household.settle()

    let error = #expect(throws: HouseholdStoreError.self) { try cem.store.insert(Note(id: "n", title: "no")) }
    try household.setPermission(.readWrite, of: cem)
    try household.settle()
    try cem.store.insert(Note(id: "n", title: "yes"))
    try household.settle()

    #expect(error?.code == .notAllowed)
    #expect(try ana.store.fetch(Note.self, id: "n")?.title == "yes")
  }

  @Test func `who was removed keeps the records and hears no more`() async throws {
    try ana.store.insert(Note(id: "n", title: "Shopping"))
    try household.settle()

    try household.remove(ben)
    try household.settle()
    try ana.store.update(Note.self, id: "n") { $0.title = "Ours" }
    try household.settle()

    let sending = await #expect(throws: HouseholdStoreError.self) { try await ben.store.sendChanges() }
    #expect(sending?.code == .notAllowed, "nobody will confirm anything")
    #expect(try ben.store.accountStatus().state == .ended)
    #expect(try ben.store.fetch(Note.self, id: "n")?.title == "Shopping")
  }

  @Test func `without its node a device writes, and what it wrote leaves once the node runs`() async throws {
    try household.settle()
    try household.stopNode(of: ana)
    try ana.store.insert(Note(id: "n", title: "Shopping"))

    let error = await #expect(throws: HouseholdStoreError.self) { try await ana.store.sendChanges() }
    household.startNode(of: ana)
    try await ana.store.sendChanges()

    #expect(error?.code == .nodeNotRunning)
    #expect(try ben.store.fetch(Note.self, id: "n") != nil)
  }

  @Test func `observers hear of a partner's edits as they arrive`() async throws {
    try household.settle()
    var iterator = try ben.store.live(Note.self).makeAsyncIterator()
    let first = try await iterator.next()

    try ana.store.insert(Note(id: "n", title: "Shopping"))
    try household.settle()

    #expect(first?.isEmpty == true)
    #expect(try await iterator.next()?.map(\.title) == ["Shopping"])
  }
}
