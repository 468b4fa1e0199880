/// A generator whose whole state is one number: the same seed gives the same run.
///
/// SplitMix64, after Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The seed is mixed first: else the runs of neighbouring seeds would be one run, begun a little later.
  package init(seed: UInt64) { state = Self.mixed(seed &+ 0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1 }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mixed(state)
  }

  private static func mixed(_ state: UInt64) -> UInt64 {
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number from 0 to one less than `bound`.
  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// True once in `count` times, on average.
  package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  /// One of the elements, which must not be empty.
  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// So many bytes.
  package mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
