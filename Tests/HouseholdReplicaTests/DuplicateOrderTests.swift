import Foundation
import HouseholdBudget
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Duplicates come out the same whatever the order")
struct DuplicateOrderTests {
  static let group = FieldValue.text(BudgetSchema.BuiltIn.living)

  static func start(_ names: [String]) throws -> TestHousehold {
    let home = try TestHousehold("alex", "sam", "kim", schema: BudgetSchema.schema)
    for name in names { try home.add(name) }
    for record in BudgetSchema.schema.builtIn {
      try home["alex"].put(record.type, record.id, record.fields.map { ($0.key, $0.value) })
    }
    for device in home.devices.dropFirst() { try home.pull(device, from: home["alex"]) }
    return home
  }

  /// Everything that an onlooker shows.
  static func tables(_ device: TestHousehold.Device) throws -> [String] {
    var rows: [String] = []
    for type in device.access.schema.types {
      try device.access.forEach(type) { rows.append("\($0.key) \($0.values)") }
    }
    // The list is in the order in which they came here.
    let conflicts = try device.access.conflicts(includingClosed: false)
    return rows + conflicts.map { "\($0.conflict) \($0.id) \($0.field) \($0.kept.object ?? "")" }.sorted()
  }

  /// Joins that cross, renames, references, a deletion and a merge that is taken back, none of which has seen the others.
  static func edits(_ home: TestHousehold) throws {
    let (a, b, c) = (home["alex"], home["sam"], home["kim"])
    try a.put("category", "x", [("name", .text("Pets")), ("group", group), ("color", .text("red"))])
    try b.put("category", "y", [("name", .text("pets")), ("group", group), ("color", .text("blue"))])
    try c.put("category", "z", [("name", .text("PETS")), ("group", group), ("hidden", .integer(1))])
    try c.put("budget", "bz", [("month", .text("2026-03")), ("category", .text("z")), ("amount_minor", .integer(3))])
    try a.put("budget", "bx", [("month", .text("2026-03")), ("category", .text("x")), ("amount_minor", .integer(4))])
    try home.pull(b, from: c)
    try home.pull(a, from: b)
    try b.put("category", "y", [("name", .text("Dog"))])
    try b.put("transaction", "tb", [("category", .text("z"))])
    try a.delete("category", "x")
    try c.put("category", "z", [("note", .text("late"))])
    try c.put("category", "q", [("name", .text("dog")), ("group", group)])
    try home.pull(c, from: b)
    var merge: String?
    try c.access.history(nil) { if $0.change.contains("-sync_alias-") { merge = merge ?? $0.change } }
    try c.replica.revert(try #require(merge), now: c.now)
    for device in [a, b, c] { try device.seal() }
  }

  @Test func `six onlookers that hear in six orders show the same as the authors`() throws {
    let home = try Self.start((0..<6).map { "o\($0)" })
    try Self.edits(home)
    let authors = [home["alex"], home["sam"], home["kim"]]
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    for (index, order) in orders.enumerated() {
      for author in order { try home.pull(home["o\(index)"], from: authors[author]) }
    }
    // What the onlookers found goes round too.
    for _ in 0..<3 {
      for device in home.devices {
        for other in home.devices where other !== device { try home.pull(device, from: other) }
      }
    }

    let expected = try Self.tables(home["alex"])
    for device in home.devices {
      #expect(try Self.tables(device) == expected, "\(device.name)")
      #expect(try home.difference("alex", device.name) == nil)
    }
  }

  @Test func `a joiner that starts from a snapshot shows the same, and goes on as the others do`() throws {
    let home = try Self.start([])
    try Self.edits(home)
    let (a, b, c) = (home["alex"], home["sam"], home["kim"])
    for (to, from) in [(a, b), (a, c), (b, a), (c, a), (a, b), (a, c), (b, a), (c, a)] { try home.pull(to, from: from) }
    let joiner = try home.add("joe", needsSnapshot: true)
    try joiner.put("category", "early", [("name", .text("dog ")), ("group", Self.group)])
    try joiner.put("transaction", "t", [("category", .text("q"))])

    let offer = try #require(try a.replica.openSnapshot(resuming: nil))
    var cursor: [UInt8] = []
    while true {
      let page = try a.replica.snapshotPage(offer.id, after: cursor)
      try joiner.replica.stage(page, of: offer.id)
      cursor = page.cursor
      if page.isLast { break }
    }
    a.replica.closeSnapshot(offer.id)
    let token = ChangeToken(incarnation: a.replica.incarnation, position: offer.position)
    try joiner.replica.adoptSnapshot(offer.id, from: a.key.device, token: token, now: joiner.now)
    for (to, from) in [(a, joiner), (joiner, a), (a, joiner), (b, a), (c, a)] { try home.pull(to, from: from) }

    for device in home.devices {
      #expect(try Self.tables(device) == Self.tables(a), "\(device.name)")
      #expect(try home.difference("alex", device.name) == nil)
    }
    try joiner.restart()
    try joiner.put("category", "early", [("note", .text("written to a loser"))])
    try home.pull(a, from: joiner)
    #expect(try Self.tables(a) == Self.tables(joiner))
  }

  @Test func `the pairs of names become one or stay two as the fixture says`() throws {
    struct Pair: Decodable {
      let a: String
      let b: String
      let nfc_casefold_trim_equal: Bool
    }
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "HouseholdBudgetTests/Fixtures/category-name-pairs.json")
    let pairs = try JSONDecoder().decode([Pair].self, from: Data(contentsOf: fixture))
    let home = try Self.start([])
    for (index, pair) in pairs.enumerated() {
      // A number keeps the pairs from one another.
      try home["alex"].put("account", "\(index)-a", [("name", .text("\(index) \(pair.a)"))])
      try home["sam"].put("account", "\(index)-b", [("name", .text("\(index) \(pair.b)"))])
    }
    try home.sync("alex", "sam")

    for (index, pair) in pairs.enumerated() {
      for device in [home["alex"], home["sam"]] {
        #expect(try device.fields("account", "\(index)-a") != nil)
        #expect(try (device.fields("account", "\(index)-b") == nil) == pair.nfc_casefold_trim_equal, "pair \(index)")
      }
    }
  }

  @Test func `a hidden twin of a record that somebody sees is named`() throws {
    let home = try Self.start([])
    let (a, b) = (home["alex"], home["sam"])
    try a.put("category", "x", [("name", .text("Pets")), ("group", Self.group)])
    try b.put("category", "y", [("name", .text("Pets")), ("group", Self.group), ("hidden", .integer(1))])
    try home.sync("alex", "sam")
    func twins(_ device: TestHousehold.Device) throws -> [RecordKey] {
      try StatusFacts.read(path: device.path, cryptography: OpenSSLCryptography()).hiddenTwins
    }
    #expect(try twins(a) == [RecordKey(type: "category", id: "x")])
    #expect(try twins(b) == [RecordKey(type: "category", id: "x")])
    try a.put("category", "x", [("hidden", .integer(0))])
    try home.sync("alex", "sam")

    #expect(try twins(a).isEmpty)
    #expect(try twins(b).isEmpty)
  }
}
