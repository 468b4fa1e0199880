/// The locks that connections hold on one simulated file, as SQLite's own rules have them, and the memory they share.
struct FileLocks {
  /// How much of a file a connection holds: SQLite's five steps.
  enum Level: Int32, Comparable {
    case none = 0
    case shared, reserved, pending, exclusive

    static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
  }

  /// By connection, those that hold something.
  private var levels: [Int: Level] = [:]
  /// By slot of the WAL index: who holds it shared, and who alone.
  private var shared: [Set<Int>] = Array(repeating: [], count: 8)
  private var alone: [Int?] = Array(repeating: nil, count: 8)

  /// Takes a higher lock for a connection; false if another one is in the way.
  mutating func raise(_ connection: Int, to level: Level) -> Bool {
    let held = levels[connection] ?? .none
    if level <= held { return true }
    let highest = levels.filter { $0.key != connection }.values.max() ?? .none
    switch level {
    case .none: break
    case .shared: if highest >= .pending { return false }
    case .reserved: if highest >= .reserved { return false }
    case .pending, .exclusive:
      if highest >= .reserved { return false }
      if highest >= .shared {
        levels[connection] = .pending
        return false
      }
    }
    levels[connection] = level
    return true
  }

  /// Gives back all above a level.
  mutating func lower(_ connection: Int, to level: Level) { levels[connection] = level == .none ? nil : level }

  /// Whether any connection means to write.
  var isReserved: Bool { levels.values.contains { $0 >= .reserved } }

  /// Takes slots of the WAL index; false if another connection holds one of them.
  mutating func take(_ slots: Range<Int>, for connection: Int, exclusively: Bool) -> Bool {
    for slot in slots {
      if let holder = alone[slot], holder != connection { return false }
      if exclusively && shared[slot].contains(where: { $0 != connection }) { return false }
    }
    for slot in slots {
      if exclusively { alone[slot] = connection } else { shared[slot].insert(connection) }
    }
    return true
  }

  /// Gives slots of the WAL index back.
  mutating func release(_ slots: Range<Int>, of connection: Int) {
    for slot in slots {
      shared[slot].remove(connection)
      if alone[slot] == connection { alone[slot] = nil }
    }
  }
}
