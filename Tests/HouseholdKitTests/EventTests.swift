import Foundation
import HouseholdKit
import HouseholdTestKit
import Testing

/// What happens is told, in order and once.
struct EventTests {
  private let household: TestHousehold
  private let ana: TestDevice
  private let ben: TestDevice

  init() throws {
    household = try TestHousehold(records: [Note.self])
    ana = household.founder
    ben = try household.join("ben")
    try household.settle()
  }

  /// One word for each event, until this one; nothing for what is told of the beginning.
  private func words(
    _ events: inout HouseholdEvents.Iterator, until last: String
  ) async throws -> [String] {
    var words: [String] = []
    while words.last != last, let event = try await events.next() {
      switch event {
      case .willFetchChanges: words.append("will fetch")
      case .fetchedChanges(let changed, let deleted): words.append("fetched \(changed) \(deleted)")
      case .fetchedEverything: words.append("fetched everything")
      case .didFetchChanges: words.append("did fetch")
      case .willSendChanges: words.append("will send")
      case .sentChanges(let partner, let missing): words.append("sent \(partner) \(missing)")
      case .didSendChanges: words.append("did send")
      case .failedChanges(let failed): words.append("failed \(failed.map(\.record)) \(failed.map(\.reason.rawValue))")
      case .stateUpdate: words.append("state")
      case .conflict(let conflict): words.append("conflict \(conflict.record)")
      case .accountChange(let account): words.append("account \(account.role)")
      case .membersChange(let members):
        words.append("members " + members.map { "\($0.name) \($0.role)" }.joined(separator: ", "))
      case .verdict(let status): words.append("verdict \(status.reason)")
      }
    }
    return words
  }

  @Test func `fetching is told as a bracket around what came`() async throws {
    var events = ben.store.events().makeAsyncIterator()
    let first = try await words(&events, until: "verdict ok")

    try ana.store.insert(Note(id: "n", title: "Shopping"))
    try household.settle()

    #expect(first == ["account member", "members ana owner, ben member", "state", "verdict ok"])
    #expect(try await words(&events, until: "state") == ["will fetch", "fetched [note/n] []", "did fetch", "state"])
  }

  @Test func `sending is told as a bracket around who has confirmed`() async throws {
    var events = ana.store.events().makeAsyncIterator()
    _ = try await words(&events, until: "verdict ok")
    household.delay(ana, ben, by: .seconds(1))

    try ana.store.insert(Note(id: "n", title: "Shopping"))
    let written = try await words(&events, until: "verdict unsealed")
    try household.advance(by: .seconds(10))
    let sent = try await words(&events, until: "verdict ok")

    #expect(written == ["will send", "verdict unsealed"])
    #expect(sent.first { $0 != "state" } == "sent ben/phone 0")
    #expect(sent.filter { $0 != "state" } == ["sent ben/phone 0", "did send", "verdict ok"])
  }

  @Test func `what was sent between two looks is told all the same`() async throws {
    var events = ana.store.events().makeAsyncIterator()
    _ = try await words(&events, until: "verdict ok")

    try ana.store.transaction { try ana.store.insert(Note(id: "n", title: "Shopping")) }
    try household.settle()

    let told = try await words(&events, until: "did send").filter { $0 != "state" && !$0.hasPrefix("verdict") }
    #expect(told == ["will send", "sent ben/phone 0", "did send"])
  }

  @Test func `a conflict and its end, another role and another member are told`() async throws {
    try ana.store.insert(Note(id: "n", title: "Shopping"))
    try household.settle()
    var events = ben.store.events().makeAsyncIterator()
    _ = try await words(&events, until: "verdict ok")

    try household.disconnect(ben)
    try ana.store.update(Note.self, id: "n") { $0.title = "Ana's" }
    try ben.store.update(Note.self, id: "n") { $0.title = "Ben's" }
    household.connect(ben)
    try household.settle()
    let conflict = try await words(&events, until: "conflict note/n")
    try household.setPermission(.readOnly, of: ben)
    try household.settle()
    let role = try await words(&events, until: "members ana owner, ben readOnly")
    try household.join("cem")
    try household.settle()

    #expect(conflict.last == "conflict note/n")
    #expect(role.contains("account readOnly"))
    #expect(
      try await words(&events, until: "members ana owner, ben readOnly, cem member").last
        == "members ana owner, ben readOnly, cem member")
    #expect(try ben.store.members().map(\.devices) == [["laptop"], ["phone"], ["phone"]])
  }

  @Test func `what was written after the right to was lost is told with its reason`() async throws {
    var events = ben.store.events().makeAsyncIterator()
    _ = try await words(&events, until: "verdict ok")
    try household.disconnect(ben)
    try household.setPermission(.readOnly, of: ben)
    try ben.store.insert(Note(id: "late", title: "Late"))
    try household.settle()

    household.connect(ben)
    try household.settle()

    let told = try await words(&events, until: "failed [note/late] [\"notAllowed\"]")
    #expect(told.last == "failed [note/late] [\"notAllowed\"]")
    let failed = try #require(try ben.store.failedChanges().first)
    #expect(failed.isOwn)
    #expect(failed.member == "ben")
    #expect(failed.fields == ["title"])
    #expect(try ana.store.failedChanges().map(\.isOwn) == [false])
  }
}
