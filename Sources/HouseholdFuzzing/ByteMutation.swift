package import HouseholdSimulation

/// Small harm to bytes that were right: most of the result is still read, so that it comes far into the reader.
package enum ByteMutation {
  /// Bytes at which readers go wrong: ends of ranges, and the beginnings of long numbers.
  private static let telling: [UInt8] = [0, 1, 2, 0x3F, 0x40, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF]
  /// Numbers as the encodings write them: the largest, one too long, one over 64 bits.
  private static let numbers: [[UInt8]] = [
    [UInt8](repeating: 0xFF, count: 9) + [0x01], [0x80, 0x00], [UInt8](repeating: 0xFF, count: 10),
    [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
  ]

  /// Harms the bytes in one to three places.
  ///
  /// - Parameter others: what parts may be taken from.
  package static func apply(to bytes: [UInt8], others: [[UInt8]], random: inout SeededRandom) -> [UInt8] {
    var bytes = bytes
    for _ in 0...random.below(3) { once(&bytes, others: others, random: &random) }
    return bytes
  }

  private static func once(_ bytes: inout [UInt8], others: [[UInt8]], random: inout SeededRandom) {
    let place = random.below(bytes.count + 1)
    let length = min(bytes.count - place, 1 + random.below(random.oneIn(3) ? 64 : 4))
    switch random.below(9) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.below(8))
    case 1 where place < bytes.count: bytes[place] = random.pick(telling)
    case 2: bytes.insert(contentsOf: random.bytes(1 + random.below(4)), at: place)
    case 3: bytes.removeSubrange(place..<place + length)
    case 4: bytes.insert(contentsOf: Array(bytes[place..<place + length]), at: place)
    case 5: bytes.removeSubrange(place...)
    case 6: bytes.replaceSubrange(place..<place + length, with: random.pick(numbers))
    case 7 where !others.isEmpty:
      let other = random.pick(others)
      let start = random.below(other.count + 1)
      bytes.replaceSubrange(place..<place + length, with: other[start..<min(other.count, start + 40)])
    default: if place < bytes.count { bytes[place] = bytes[place] &+ (random.oneIn(2) ? 1 : 255) }
    }
  }
}
