/// A point of wall-clock time: milliseconds since 1970-01-01T00:00:00Z, negative before.
package struct Instant: Hashable, Comparable, Sendable {
  /// Milliseconds since the Unix epoch.
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }

  /// The point this many milliseconds later, held at the ends of the range.
  package func advanced(byMilliseconds milliseconds: Int64) -> Self {
    let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
    return Self(milliseconds: overflow ? (milliseconds < 0 ? .min : .max) : sum)
  }

  /// The milliseconds from `other` to here, held at the ends of the range.
  package func milliseconds(since other: Self) -> Int64 {
    let (difference, overflow) = milliseconds.subtractingReportingOverflow(other.milliseconds)
    return overflow ? (milliseconds < other.milliseconds ? .min : .max) : difference
  }
}

/// A point of a clock that only runs forward, in milliseconds since some start: for deadlines, never for data.
package struct Tick: Hashable, Comparable, Sendable {
  /// Milliseconds since an arbitrary start.
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }

  /// The point this many milliseconds later.
  package func advanced(byMilliseconds milliseconds: Int64) -> Self {
    Self(milliseconds: self.milliseconds &+ milliseconds)
  }
}

/// Hybrid logical time of a changeset: orders *concurrent* writes and nothing else (D11).
///
/// The upper 48 bits are milliseconds since 1970, the lower 16 a counter. Source: Kulkarni et al., "Logical Physical
/// Clocks", 2014; here a clock that is more than a day ahead drags nobody along, and the end of the range saturates.
package struct Stamp: Hashable, Comparable, Sendable {
  /// The 64 bits.
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The least stamp: what generated and built-in records carry.
  package static let least = Self(rawValue: 0)

  /// The first stamp of this millisecond; times before 1970 count as 1970, times past the range as its end.
  package init(wall: Instant) {
    let latest = Int64(1) << 48 - 1
    rawValue = UInt64(min(max(wall.milliseconds, 0), latest)) << 16
  }

  /// The next stamp; the greatest one stays.
  package var next: Self { Self(rawValue: rawValue == .max ? .max : rawValue + 1) }

  /// The millisecond of the stamp.
  package var wall: Instant { Instant(milliseconds: Int64(rawValue >> 16)) }

  /// How far a stamp may be ahead of the wall clock and still drag ours along, in milliseconds.
  package static let leadMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// The stamp of a changeset sealed now: `max(wall, last, every cell written over) + 1`.
  ///
  /// - Parameters:
  ///   - edited: when the edit was made, by this device's clock.
  ///   - last: the last stamp seen here, ours or a peer's; counts only within a day ahead of `wall`.
  ///   - wall: this device's clock now.
  ///   - overwritten: the greatest stamp among the writes that the changeset displaces, if any.
  package static func sealing(edited: Instant, last: Stamp, wall: Instant, overwritten: Stamp?) -> Stamp {
    var stamp = Stamp(wall: edited)
    if last.wall <= wall.advanced(byMilliseconds: leadMilliseconds) { stamp = max(stamp, last) }
    if let overwritten { stamp = max(stamp, overwritten) }
    return stamp.next
  }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
