import HouseholdRecords

/// Finds among the rows of a file those that are the other end of a payment that is here.
struct NewTransfers {
  /// By the id of the new payment, the end that was here.
  private(set) var found: [String: TransferLeg] = [:]
  /// What is here and has no other end yet; nil until the first row asks.
  private var open: OpenLegs?

  /// - Parameter here: the payments that are here and may be one end.
  mutating func take(_ leg: TransferLeg, here: () throws -> [TransferLeg]) throws {
    var legs: OpenLegs
    if let open { legs = open } else { legs = Self.unpaired(try here()) }
    // Held once only, so that taking a leg out copies nothing.
    open = nil
    found[leg.id] = legs.take(other: leg)
    open = legs
  }

  private static func unpaired(_ legs: [TransferLeg]) -> OpenLegs {
    let known = Transfers(legs)
    return OpenLegs(legs.filter { !known.holds($0.id) })
  }
}
