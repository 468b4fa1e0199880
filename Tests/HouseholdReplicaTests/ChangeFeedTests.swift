import HouseholdBudget
import HouseholdRecords
import HouseholdReplica
import Testing

@Suite("Following the changes: whoever reads again what the feed names has what the tables show")
struct ChangeFeedTests {
  /// What a follower has read, kept up by the feed alone.
  final class Follower {
    private let device: TestHousehold.Device
    private var place: FeedPosition
    private var records: [RecordKey: [FieldValue]] = [:]
    /// How often everything had to be read again.
    private(set) var restarts = 0
    /// What the last step named.
    private(set) var named: [String] = []

    init(_ device: TestHousehold.Device) throws {
      self.device = device
      place = try device.access.feedPosition()
      records = try Self.all(device)
    }

    private static func all(_ device: TestHousehold.Device) throws -> [RecordKey: [FieldValue]] {
      var records: [RecordKey: [FieldValue]] = [:]
      for type in device.access.schema.types {
        try device.access.forEach(type) { records[$0.key] = $0.values }
      }
      return records
    }

    /// Goes on with the feed, and compares with the tables.
    func step(_ location: SourceLocation = #_sourceLocation) throws {
      let feed = try device.access.feed(since: place)
      place = feed.next
      named = feed.changes.map { "\($0.key)\($0.isHere ? "" : " gone")\($0.isOwn ? " own" : "")" }
      if feed.isComplete {
        for change in feed.changes {
          records[change.key] = try device.access.record(device.type(change.key.type), change.key.id)?.values
        }
      } else {
        records = try Self.all(device)
        restarts += 1
      }
      let shown = try Self.all(device)
      let wrong = Set(records.keys).union(shown.keys).sorted().first { records[$0] != shown[$0] }
      #expect(wrong == nil, "\(named)", sourceLocation: location)
    }
  }

  @Test func `edits of this device and of others are named, each record once`() throws {
    let home = try TestHousehold("alex", "sam")
    let (a, b) = (home["alex"], home["sam"])
    try a.put("category", "c1", [("name", .text("Food"))])
    try a.put("category", "c2", [("name", .text("Rent"))])
    try home.sync("alex", "sam")
    let follower = try Follower(b)

    try b.put("category", "own", [("name", .text("Pets"))])
    try a.put("category", "c1", [("name", .text("Meals"))])
    try a.put("category", "c1", [("sort", .integer(1))])
    try a.delete("category", "c2")
    try home.pull(b, from: a)
    try follower.step()
    let named = follower.named
    try b.seal()
    try follower.step()
    try follower.step()

    #expect(named == ["category/c1", "category/c2 gone", "category/own own"])
    #expect(follower.named.isEmpty)
    #expect(follower.restarts == 0)
  }

  @Test func `a changeset that is held is named when it is applied, and nothing behind it is missed meanwhile`() throws
  {
    let home = try TestHousehold("alex", "sam", "kim")
    let (a, b, c) = (home["alex"], home["sam"], home["kim"])
    for number in 0..<100 { try a.put("category", "c\(number)", [("sort", .integer(Int64(number)))]) }
    try home.sync("alex", "sam")
    try home.sync("alex", "kim")
    let follower = try Follower(a)

    for number in 0..<40 { try b.delete("category", "c\(number)") }
    try home.pull(a, from: b)
    try follower.step()
    #expect(try a.replica.heldChangesets().count == 1)
    try c.put("category", "c50", [("name", .text("meanwhile"))])
    try home.pull(a, from: c)
    try follower.step()
    let meanwhile = follower.named
    try a.replica.decide(try #require(try a.replica.heldChangesets().first).name, approving: true, now: a.now)
    try a.seal()
    try follower.step()
    let decided = follower.named
    try follower.step()

    #expect(meanwhile == ["category/c50"])
    #expect(decided.count { $0.hasSuffix("gone") } == 40)
    #expect(follower.named.isEmpty)
    #expect(follower.restarts == 0)
  }

  @Test func `duplicates that become one, and part again, and the references to them`() throws {
    let home = try TestHousehold("alex", "sam", schema: BudgetSchema.schema)
    let (a, b) = (home["alex"], home["sam"])
    let group = FieldValue.text(BudgetSchema.BuiltIn.living)
    for record in BudgetSchema.schema.builtIn {
      try a.put(record.type, record.id, record.fields.map { ($0.key, $0.value) })
    }
    try home.settle("alex", "sam")
    try b.put("category", "y", [("name", .text("pets")), ("group", group)])
    try b.put("transaction", "t", [("category", .text("y"))])
    try b.seal()
    let (follower, other) = (try Follower(b), try Follower(a))

    try a.put("category", "x", [("name", .text("Pets")), ("group", group)])
    for _ in 0..<3 {
      try home.settle("alex", "sam")
      try follower.step()
      try other.step()
    }
    #expect(try b.fields("transaction", "t")?["category"] == .text("x"))
    #expect(follower.restarts + other.restarts == 0)
    try a.delete("category", "x")
    try home.settle("alex", "sam")
    try follower.step()
    try other.step()
    try a.replica.restore(RecordKey(type: "category", id: "x"), now: a.now)
    try home.settle("alex", "sam")
    try follower.step()
    try other.step()
  }

  @Test func `rows that a set gained and lost, when the sets of two devices compete`() throws {
    let split = try SplitHousehold()
    let (follower, other) = (try Follower(split.a), try Follower(split.b))

    try split.a.access.execute("DELETE FROM split WHERE id = 's1'")
    try split.b.access.execute("INSERT INTO split(id, parent, amount_minor) VALUES ('s3', 't1', -5)")
    try split.b.access.execute("UPDATE split SET parent = 't1' WHERE id = 's9'")
    for _ in 0..<3 {
      try split.home.sync("alex", "sam")
      try follower.step()
      try other.step()
    }

    #expect(follower.restarts + other.restarts == 0)
  }

  @Test func `what a removal takes back, and a snapshot brings, is told as everything`() throws {
    let home = try TestHousehold("alex", "sam", "kim")
    let (a, b, c) = (home["alex"], home["sam"], home["kim"])
    try home.settle("alex", "sam", "kim")
    try c.put("category", "late", [("name", .text("Late"))])
    try home.pull(b, from: c)
    let follower = try Follower(b)

    try home.remove("kim", by: "alex")
    try home.tell("sam", from: "alex")
    try follower.step()
    #expect(try b.fields("category", "late") == nil)
    #expect(follower.restarts == 1)
    try a.put("category", "more", [("name", .text("More"))])
    try a.seal()
    let guest = try home.add("guest", needsSnapshot: true)
    let second = try Follower(guest)
    try home.adoptSnapshot("guest", from: "alex")
    try second.step()

    #expect(second.restarts == 1)
  }
}
