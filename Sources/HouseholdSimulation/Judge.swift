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

extension World {
  /// Heals everything, lets it become quiet, and names the first broken rule; nil if all hold.
  package func breachAfterHealing(keepingLinks: Bool = false) throws -> String? {
    try heal(keepingLinks: keepingLinks)
    var random = SeededRandom(seed: 0)
    var archive = ChangesetArchive()
    let breach = try Judge.firstBreach(self, archive: &archive, random: &random)
    if let breach = try breach ?? Judge.firstLack(self, archive: archive) { return breach }
    let before = traffic.messages
    pass(seconds: 20, inStepsOf: 5)
    return traffic.messages == before ? nil : "traffic goes on while nothing changes (R9)"
  }

  /// Delivers everything that is under way.
  package func deliverAll() { settle() }

  /// Delivers at most so many parcels.
  package func deliver(parcels: Int) { for _ in 0..<parcels where !deliverOne() { return } }

  /// Lets true time go on.
  package func wait(milliseconds: Int64) { advance(milliseconds: milliseconds) }
}
