import HouseholdRecords
import HouseholdReplica

/// A generator of its own, so that a failure can be played again.
struct Dice: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 11 ^ state << 7
  }

  /// One edit by any device: of one field or some, to a value or to null; sometimes a deletion.
  mutating func edit(_ device: TestHousehold.Device) throws {
    let type = TestHousehold.schema.types.randomElement(using: &self)!
    let id = ["a", "b", "c"].randomElement(using: &self)!
    if Int.random(in: 0..<14, using: &self) == 0 { return try device.delete(type.name, id) }
    var fields: [(String, FieldValue)] = []
    for field in type.fields.shuffled(using: &self).prefix(Int.random(in: 1...2, using: &self)) {
      let number = Int64.random(in: 0..<4, using: &self)
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
}
