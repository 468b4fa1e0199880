package import HouseholdTransport

/// Notices that the network of this machine is another one: then calls may succeed that did not, and others are to be told
/// other addresses.
package struct NetworkWatch: Sendable {
  private var known: Set<InterfaceAddress>?

  package init() {}

  /// Whether the addresses are others than at the look before; the first look has none to compare with.
  package mutating func hasChanged(_ addresses: [InterfaceAddress]) -> Bool {
    let now = Set(addresses)
    defer { known = now }
    return known.map { $0 != now } ?? false
  }
}
