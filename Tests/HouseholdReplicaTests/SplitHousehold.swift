import HouseholdRecords
import HouseholdReplica

/// A household of two whose transactions own their splits, with two transactions to begin with.
struct SplitHousehold {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  static let schema = Schema(
    name: "sets", version: 1,
    types: [
      RecordType(
        name: "transaction", fields: [.init("amount_minor", .integer), .init("note", .text)],
        owns: [OwnedSet(type: "split", by: "parent", sum: SetSum(of: "amount_minor", equals: "amount_minor"))]),
      RecordType(
        name: "split",
        fields: [.init("parent", .reference, to: "transaction"), .init("amount_minor", .integer), .init("note", .text)]),
    ])

  init() throws {
    home = try TestHousehold("alex", "sam", schema: Self.schema)
    a = home["alex"]
    b = home["sam"]
    try a.access.execute(
      """
      INSERT INTO "transaction"(id, amount_minor) VALUES ('t1', -300), ('t2', -50);
      INSERT INTO split(id, parent, amount_minor) VALUES ('s1', 't1', -100), ('s2', 't1', -200), ('s9', 't2', -50)
      """)
    try home.sync("alex", "sam")
  }

  /// What the split table shows: `parent amount` by id.
  func splits(_ device: TestHousehold.Device) throws -> [String: String] {
    var shown: [String: String] = [:]
    try device.access.forEach(device.type("split")) { record in
      shown[record.key.id] = "\(record.values[0].text ?? "-") \(record.values[1].integer ?? 0)"
    }
    return shown
  }

  func open(_ device: TestHousehold.Device) throws -> [ShownConflict] {
    try device.access.conflicts(includingClosed: false)
  }

  func attention(_ device: TestHousehold.Device) throws -> [String] {
    try device.access.attention().map { "\($0.key) \($0.code)" }
  }

  static let t1 = RecordKey(type: "transaction", id: "t1")
}
