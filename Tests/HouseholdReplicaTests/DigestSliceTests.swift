import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("The digest is the same in slices as in one go, and never of two states (R5)")
struct DigestSliceTests {
  let home: TestHousehold
  let a: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    for index in 0..<25 {
      try a.put("category", "c\(index)", [("name", .text("Name \(index)"))])
      try a.put("transaction", "t\(index)", [("amount_minor", .integer(Int64(index)))])
    }
    try a.delete("category", "c3")
    try a.seal()
  }

  /// How many slices were read until it was over.
  private func walk(rows: Int) throws -> Int {
    var slices = 0
    while case .more = try a.replica.refreshDigest(rows: rows) { slices += 1 }
    return slices
  }

  @Test(arguments: [1, 7, 24, 25, 26, 1000]) func `slices of any size give the digest of one go`(rows: Int) throws {
    let whole = try a.replica.computeDigest()
    try a.restart()

    _ = try walk(rows: rows)

    #expect(try a.replica.digest() == whole)
  }

  @Test func `small slices are many, and a digest that is known is not computed again`() throws {
    #expect(try walk(rows: 5) > 5)
    #expect(try walk(rows: 5) == 0)
  }

  @Test func `an edit between two slices ends it, and the next one is of the new state`() throws {
    guard case .more = try a.replica.refreshDigest(rows: 5), case .more = try a.replica.refreshDigest(rows: 5) else {
      Issue.record("there is more to read")
      return
    }
    try a.put("category", "c1", [("name", .text("Other"))])
    guard case .over = try a.replica.refreshDigest(rows: 5) else {
      Issue.record("what was begun is given up")
      return
    }
    #expect(try a.replica.digest() == nil)

    guard case .sealed = try a.replica.refreshDigest(rows: 5) else {
      Issue.record("the edit is sealed first")
      return
    }
    _ = try walk(rows: 5)
    let sliced = try a.replica.digest()
    try a.restart()

    #expect(try a.replica.computeDigest() == sliced)
  }
}
