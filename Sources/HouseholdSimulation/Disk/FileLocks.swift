/// The locks that connections hold on one simulated file, as SQLite's own rules have them, and the memory they share.
struct FileLocks {
  /// How much of a file a connection holds: SQLite's five steps.
  enum Level: Int32, Comparable {
    case none = 0
    case shared, reserved, pending, exclusive

    static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
  }

  /// By connection, those that hold something.
  private var levels: [(connection: Int, level: Level)] = []
  /// Who holds which slot of the WAL index, and whether alone.
  private var slots: [(slot: Int, connection: Int, isAlone: Bool)] = []

  private func level(of connection: Int) -> Level { levels.first { $0.connection == connection }?.level ?? .none }

  private mutating func set(_ connection: Int, _ level: Level) {
    levels.removeAll { $0.connection == connection }
    if level != .none { levels.append((connection, level)) }
  }

  /// Takes a higher lock for a connection; false if another one is in the way.
  mutating func raise(_ connection: Int, to level: Level) -> Bool {
    if level <= self.level(of: connection) { return true }
    var highest = Level.none
    for other in levels where other.connection != connection { highest = max(highest, other.level) }
    switch level {
    case .none: break
    case .shared: if highest >= .pending { return false }
    case .reserved: if highest >= .reserved { return false }
    case .pending, .exclusive:
      if highest >= .reserved { return false }
      if highest >= .shared {
        set(connection, .pending)
        return false
      }
    }
    set(connection, level)
    return true
  }

  /// Gives back all above a level.
  mutating func lower(_ connection: Int, to level: Level) { set(connection, level) }

  /// Whether any connection means to write.
  var isReserved: Bool { levels.contains { $0.level >= .reserved } }

  /// Takes slots of the WAL index; false if another connection holds one of them.
  mutating func take(_ wanted: Range<Int>, for connection: Int, exclusively: Bool) -> Bool {
    for held in slots where held.connection != connection && wanted.contains(held.slot) {
      if held.isAlone || exclusively { return false }
    }
    for slot in wanted { slots.append((slot, connection, exclusively)) }
    return true
  }

  /// Gives slots of the WAL index back.
  mutating func release(_ given: Range<Int>, of connection: Int) {
    slots.removeAll { $0.connection == connection && given.contains($0.slot) }
  }
}
