import HouseholdRecords
import HouseholdReplica
import Testing

@Suite("What generators ask about records")
struct RecordGenerationTests {
  private let fields = ["amount_minor", "payee"]

  private func wasEdited(_ id: String, at device: TestHousehold.Device) throws -> Bool {
    try RecordGeneration(device.access).wasEdited(device.type("transaction"), id, fields)
  }

  @Test func `a device that began with a snapshot knows whose the values are as well as those that saw them written`()
    throws
  {
    let home = try TestHousehold("alex", "sam")
    let a = home["alex"]
    _ = try a.access.generating {
      for id in ["plain", "edited", "noted", "renewed", "nulled"] {
        try a.put("transaction", id, [("amount_minor", .integer(-100)), ("payee", .text("Shop"))])
      }
    }
    try home.sync("alex", "sam")
    try home["sam"].put("transaction", "edited", [("amount_minor", .integer(-150))])
    try home["sam"].put("transaction", "noted", [("note", .text("with Kim"))])
    try home["sam"].put("transaction", "nulled", [("payee", .null)])
    try home["sam"].put("transaction", "own", [("amount_minor", .integer(-7))])
    try home.sync("alex", "sam")
    _ = try a.access.generating { try a.put("transaction", "renewed", [("amount_minor", .integer(-120))]) }
    try home.sync("alex", "sam")
    try home.add("kim", needsSnapshot: true)
    try home.adoptSnapshot("kim", from: "alex")

    for name in ["alex", "sam", "kim"] {
      let edited = try ["plain", "edited", "noted", "renewed", "nulled", "own", "absent"].filter {
        try wasEdited($0, at: home[name])
      }
      #expect(edited == ["edited", "renewed", "nulled", "own"], "\(name)")
    }
  }
}
