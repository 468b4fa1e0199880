import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("The short way for edits that nobody contests leaves what the long way leaves")
struct PlainEditTests {
  /// A generator of its own, so that a failure can be played again.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 11 ^ state << 7
    }
  }

  /// One edit by any device: of one field or some, to a value or to null; sometimes a deletion.
  private func edit(_ device: TestHousehold.Device, _ dice: inout Dice) throws {
    let type = TestHousehold.schema.types.randomElement(using: &dice)!
    let id = ["a", "b", "c"].randomElement(using: &dice)!
    if Int.random(in: 0..<14, using: &dice) == 0 { return try device.delete(type.name, id) }
    var fields: [(String, FieldValue)] = []
    for field in type.fields.shuffled(using: &dice).prefix(Int.random(in: 1...2, using: &dice)) {
      let number = Int64.random(in: 0..<4, using: &dice)
      let value: FieldValue =
        switch field.kind {
        case _ where number == 0: .null
        case .integer: .integer(number)
        case .boolean: .integer(number % 2)
        case .real: .real(Double(number) + 0.5)
        case .date: .text("2026-03-0\(number)")
        case .timestamp: .text("2026-03-0\(number)T09:30:00Z")
        case .bytes: .bytes([UInt8(number)])
        case .json: .text("[\(number)]")
        default: .text("v\(number)")
        }
      fields.append((field.name, value))
    }
    try device.put(type.name, id, fields)
  }

  @Test(arguments: 1...12) func `states, tables, history and authors are the same whichever way was gone`(seed: Int)
    throws
  {
    var dice = Dice(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
    let home = try TestHousehold("ann", "bo", "cy", "di")
    // Ann and bo write; cy takes in all the long way, di the short way.
    home["cy"].replica.takesShortWay = false
    for _ in 0..<60 {
      let writer = home[Bool.random(using: &dice) ? "ann" : "bo"]
      writer.replica.takesShortWay = Bool.random(using: &dice)
      writer.now = writer.now.advanced(byMilliseconds: Int64.random(in: 1...3000, using: &dice))
      try edit(writer, &dice)
      if Int.random(in: 0..<3, using: &dice) > 0 { try writer.seal() }
      if Int.random(in: 0..<4, using: &dice) == 0 { try home.sync("ann", "bo") }
      if Int.random(in: 0..<6, using: &dice) == 0 {
        for guest in ["cy", "di"] { try home.pull(home[guest], from: writer) }
      }
    }
    try home.settle("ann", "bo", "cy", "di")

    for other in ["ann", "bo", "di"] { #expect(try home.difference("cy", other) == nil) }
    for type in home.schema.types {
      for id in ["a", "b", "c"] {
        let key = RecordKey(type: type.name, id: id)
        let truth = try home["cy"].replica.state(of: key)
        let authors = try home["cy"].access.provenance(type, id)
        for other in ["ann", "bo", "di"] {
          #expect(try home[other].replica.state(of: key) == truth, "\(other) \(key)")
          #expect(try home[other].access.provenance(type, id)?.modified == authors?.modified, "\(other) \(key)")
        }
      }
    }
    func history(_ name: String) throws -> [String] {
      var lines: [String] = []
      try home[name].access.history(nil) {
        lines.append("\($0.change) \($0.type) \($0.id) \($0.field ?? "") \($0.from) \($0.to)")
      }
      return lines.sorted()
    }
    #expect(try history("di") == history("cy"))
  }
}
