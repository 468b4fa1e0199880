import HouseholdRecords

/// Compares devices, and names the first thing that is not as it must be.
package enum Judge {
  /// The first record in which two devices differ; nil if they show the same.
  package static func firstDifference(_ a: SimulatedDevice, _ b: SimulatedDevice) throws -> String? {
    let (ours, theirs) = (try a.tables(), try b.tables())
    for key in Set(ours.keys).union(theirs.keys).sorted() where ours[key] != theirs[key] {
      return "\(key): \(a.name) has \(text(ours[key])), \(b.name) has \(text(theirs[key]))"
    }
    return nil
  }

  /// A row for people.
  static func text(_ row: [FieldValue]?) -> String {
    guard let row else { return "nothing" }
    return "[" + row.map(text).joined(separator: ", ") + "]"
  }

  private static func text(_ value: FieldValue) -> String {
    switch value {
    case .null: "null"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): "'\(text.prefix(60))'"
    case .bytes(let bytes): "x'\(hexadecimal(bytes.prefix(30)))'"
    }
  }
}
