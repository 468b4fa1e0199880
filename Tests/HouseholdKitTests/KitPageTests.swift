import Foundation
import HouseholdKit
import HouseholdModels
import HouseholdTestKit
import Testing

/// The samples of Docs/Kit.md, which stand here word for word and so are compiled and run.
struct KitPageTests {
  struct Recipe: HouseholdRecord {
    var id = HouseholdStore.newID()
    var name: String
    var servings: Int?
    var isFavorite: Bool?
    var cookedOn: CalendarDate?
  }

  /// What an app was told.
  private final class App {
    var shown: [[String]] = []
    var refreshed: [RecordID] = []
    var token = ""
    var verdict = ""

    func show(_ recipes: [Recipe]) { shown.append(recipes.map(\.name)) }
  }

  @Test func `the samples of the page stand in this file`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let own = Self.words(try String(contentsOfFile: #filePath, encoding: .utf8))
    let samples = try Self.blocks(of: "swift", in: root.appending(path: "Docs/Kit.md"))

    #expect(samples.count == 11)
    for sample in samples {
      let words = Self.words(sample)
      let isHere = own.indices.contains { own[$0...].starts(with: words) }
      #expect(isHere, "not in the tests: \(sample)")
    }
  }

  /// The blocks of one language on a page.
  static func blocks(of language: String, in page: URL) throws -> [String] {
    let text = try String(contentsOf: page, encoding: .utf8)
    return text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
  }

  private static func words(_ text: String) -> [Substring] { text.split { $0.isWhitespace } }

  @Test func `records are opened, written and found as the page says`() throws {
    let folder = try Folder()
    let directory = folder.place("home")

    let store = try HouseholdStore.create(
      in: directory, household: "Our home", member: "ana", device: "laptop", records: [Recipe.self])
    store.close()
    let again = try HouseholdStore.open(directory: directory, records: [Recipe.self])

    #expect(try Self.write(again) == ["Soup"])
  }

  private static func write(_ store: HouseholdStore) throws -> [String] {
    let soup = Recipe(name: "Soup", servings: 2)
    try store.transaction {
      try store.insert(soup)
      try store.insert(Recipe(name: "Apple pie", isFavorite: true))
    }
    try store.update(Recipe.self, id: soup.id) { $0.servings = 4 }
    let large = try store.fetch(
      Recipe.self, where: \.servings > 3 && .contains(\.name, "soup"), sort: [.ascending(\.name)])
    return large.map(\.name)
  }

  @Test func `live results, events and tokens work as the page says`() async throws {
    let folder = try Folder()
    let store = try folder.household(Recipe.self)
    let app = App()
    var stored = try store.currentToken().description
    _ = try Self.write(store)

    try await live(at: folder.place("home"), app)
    try await events(at: folder.place("home"), app, since: nil)
    let token = stored
    try follow(store, app, &stored)

    #expect(app.shown == [["Apple pie"]])
    #expect(app.verdict == "broken")
    #expect(app.token == token)
    #expect(app.refreshed.count == 2)
    #expect(stored == token)
  }

  /// Ends when the app has shown something, as it closes the store then.
  private func live(at directory: URL, _ app: App) async throws {
    let store = try HouseholdStore.open(directory: directory)
    func show(_ recipes: [Recipe]) {
      app.show(recipes)
      store.close()
    }
    for try await recipes in try store.live(Recipe.self, where: \.isFavorite == true) {
      show(recipes)
    }
  }

  /// Ends when the app has shown the indicator, as it closes the store then.
  private func events(at directory: URL, _ app: App, since token: ChangeToken?) async throws {
    let store = try HouseholdStore.open(directory: directory)
    func showIndicator(_ verdict: SyncStatus.Verdict, _ summary: String) {
      app.verdict = verdict.rawValue
      store.close()
    }
    func refresh(_ records: [RecordID]) { app.refreshed += records }
    func refreshEverything() { app.refreshed = [] }
    func remember(_ token: String) { app.token = token }
    func ask(about conflict: RecordConflict) {}
    func explain(_ failed: [FailedChange]) {}
    for try await event in store.events(since: token) {
      switch event {
      case .fetchedChanges(let changed, let deleted): refresh(changed + deleted)
      case .fetchedEverything: refreshEverything()
      case .stateUpdate(let token): remember(token.description)
      case .conflict(let conflict): ask(about: conflict)
      case .verdict(let status): showIndicator(status.verdict, status.summary)
      case .failedChanges(let failed): explain(failed)
      default: break
      }
    }
  }

  @Test func `an app is the node, all the time or when it says so, as the page says`() async throws {
    let folder = try Folder()
    let partner = try folder.pair(Recipe.self)
    let directory = folder.place("ben")

    let isRunning = try Self.isNodeRunning(directory)
    try folder.stopNode("ben")
    try await Self.syncManually(directory, partner)

    #expect(isRunning)
    let ana = try HouseholdStore.open(directory: folder.place("ana"))
    #expect(try ana.fetch(Recipe.self).map(\.name) == ["Bread"])
  }

  private static func isNodeRunning(_ directory: URL) throws -> Bool {
    let store = try HouseholdStore.open(directory: directory, records: [Recipe.self], node: .automatic())
    return try store.status().isNodeRunning
  }

  private static func syncManually(_ directory: URL, _ partner: String) async throws {
    let settings = NodeSettings(scheduling: .manual, listen: "127.0.0.1:0", partners: [partner], discovers: false)
    let store = try HouseholdStore.open(directory: directory, node: .embedded(settings))
    try store.insert(Recipe(name: "Bread"))
    try await store.sendChanges()
    try await store.fetchChanges()
    store.close()
  }

  @Test @MainActor func `models and background work go as the page says`() async throws {
    let folder = try Folder()
    let store = try folder.household(Recipe.self)
    let directory = folder.place("home")
    let names = ["Soup", "Apple pie"]

    let favorites = LiveQuery(Recipe.self, in: store, where: \.isFavorite == true, sort: [.ascending(\.name)])
    let sync = SyncModel(store)
    let work = Task.detached {
      let store = try HouseholdStore.open(directory: directory)
      defer { store.close() }
      try store.transaction {
        for name in names { try store.insert(Recipe(name: name)) }
      }
    }
    try await work.value

    #expect(try store.count(Recipe.self) == 2)
    #expect(favorites.error == nil)
    #expect(sync.error == nil)
  }

  @Test func `an app is tested as the page says`() throws {
    let household = try TestHousehold(records: [Recipe.self])
    let phone = try household.join("ben")
    let app = household.founder.store
    try app.insert(Recipe(id: "soup", name: "Soup"))
    try household.settle()

    try household.disconnect(phone)
    try app.update(Recipe.self, id: "soup") { $0.name = "Ana's soup" }
    try household.advance(by: .seconds(60))
    try phone.store.update(Recipe.self, id: "soup") { $0.name = "Ben's soup" }
    household.connect(phone)
    try household.settle()

    let conflicts = try app.conflicts()
    try household.setPermission(.readOnly, of: phone)

    #expect(conflicts.map(\.lost.member) == ["ana"])
    #expect(try app.fetch(Recipe.self, id: "soup")?.name == "Ben's soup")
  }

  private func follow(_ store: HouseholdStore, _ app: App, _ stored: inout String) throws {
    func refresh(_ records: [RecordID]) { app.refreshed += records }
    func refreshEverything() { app.refreshed = [] }
    let changes = try store.changes(since: ChangeToken(stored))
    if changes.isComplete {
      refresh(changes.changed + changes.deleted)
    } else {
      refreshEverything()
    }
    stored = changes.token.description
  }
}
