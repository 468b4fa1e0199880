/// Which records are one thing: what the facts that hold connect, chains and cycles included.
///
/// A union of facts in any order gives the same groups. Taking a fact out may part a group again.
package struct AliasGroups<Key: Hashable & Comparable & Sendable>: Sendable {
  /// How many facts connect a record with each of its neighbours.
  private var neighbours: [Key: [Key: Int]] = [:]

  package init() {}

  /// Whether no fact holds.
  package var isEmpty: Bool { neighbours.isEmpty }

  /// Whether any fact that holds names the record.
  package func isMember(_ key: Key) -> Bool { neighbours[key] != nil }

  /// All records that facts name, in ascending order.
  package var members: [Key] { neighbours.keys.sorted() }

  /// Puts a fact in.
  package mutating func join(_ a: Key, _ b: Key) {
    neighbours[a, default: [:]][b, default: 0] += 1
    neighbours[b, default: [:]][a, default: 0] += 1
  }

  /// Takes a fact out.
  package mutating func part(_ a: Key, _ b: Key) {
    forget(b, at: a)
    forget(a, at: b)
  }

  private mutating func forget(_ other: Key, at key: Key) {
    guard let count = neighbours[key]?[other] else { return }
    neighbours[key]?[other] = count > 1 ? count - 1 : nil
    if neighbours[key]?.isEmpty == true { neighbours[key] = nil }
  }

  /// The records that facts connect with this one directly, in ascending order.
  package func neighbours(of key: Key) -> [Key] { neighbours[key]?.keys.sorted() ?? [] }

  /// The record with all that facts connect it to, in ascending order; itself alone if none does.
  package func group(of key: Key) -> [Key] {
    var found: Set<Key> = [key]
    var waiting = [key]
    while let next = waiting.popLast() {
      for other in neighbours[next]?.keys ?? [:].keys where found.insert(other).inserted { waiting.append(other) }
    }
    return found.sorted()
  }
}
