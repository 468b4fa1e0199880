/// When to dial a peer again: the span doubles from 1 s to 5 min, with jitter so that peers do not dial in step.
///
/// Pure: the random number comes in as an argument. `reset` after a session that got into use, a change of the
/// network, a discovery or a local edit.
package struct RetryPolicy: Hashable, Sendable {
  /// The first span, in milliseconds.
  package static let shortest: Int64 = 1_000
  /// The longest span, in milliseconds.
  package static let longest: Int64 = 300_000

  private var span: Int64 = Self.shortest

  package init() {}

  /// How long to wait as things are, in milliseconds: between half of the span and the span.
  ///
  /// - Parameter random: any 64 random bits.
  package func wait(random: UInt64) -> Int64 {
    let half = span / 2
    return half + Int64(random % UInt64(span - half + 1))
  }

  /// How long to wait after one more call, in milliseconds; the span doubles.
  ///
  /// - Parameter random: any 64 random bits.
  package mutating func next(random: UInt64) -> Int64 {
    defer { span = min(span * 2, Self.longest) }
    return wait(random: random)
  }

  /// Starts over with the shortest span.
  package mutating func reset() { span = Self.shortest }
}
