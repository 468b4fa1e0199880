import Foundation

/// The bytes of a file in Fixtures.
func fixture(_ name: String) throws -> Data {
  try Data(contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)"))
}

/// SHA-256, slowly and without help: imports take it from outside.
///
/// Source: FIPS 180-4.
func sha256(_ message: [UInt8]) -> [UInt8] {
  let constants = primes(64).map { fraction(of: $0, root: cbrt) }
  var state = primes(8).map { fraction(of: $0, root: { $0.squareRoot() }) }
  var bytes = message + [0x80]
  while bytes.count % 64 != 56 { bytes.append(0) }
  bytes += (0..<8).map { UInt8(truncatingIfNeeded: (message.count * 8) >> (56 - 8 * $0)) }
  for start in stride(from: 0, to: bytes.count, by: 64) {
    var w = (0..<16).map { i in (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[start + i * 4 + $1]) } }
    for i in 16..<64 {
      let (a, b) = (w[i - 15], w[i - 2])
      let low = turned(a, 7) ^ turned(a, 18) ^ (a >> 3)
      let high = turned(b, 17) ^ turned(b, 19) ^ (b >> 10)
      w.append(w[i - 16] &+ low &+ w[i - 7] &+ high)
    }
    var s = state
    for i in 0..<64 {
      let choice = (s[4] & s[5]) ^ (~s[4] & s[6])
      let majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2])
      let one = s[7] &+ (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) &+ choice &+ constants[i] &+ w[i]
      let two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) &+ majority
      s = [one &+ two, s[0], s[1], s[2], s[3] &+ one, s[4], s[5], s[6]]
    }
    state = zip(state, s).map { $0 &+ $1 }
  }
  return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
}

private func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

private func primes(_ count: Int) -> [Int] {
  Array((2...).lazy.filter { n in !(2..<n).contains { n.isMultiple(of: $0) } }.prefix(count))
}

private func fraction(of prime: Int, root: (Double) -> Double) -> UInt32 {
  let value = root(Double(prime))
  return UInt32((value - value.rounded(.down)) * 4_294_967_296)
}
