/// A span of time as it is typed: `500ms 2s 10m 3h 5d`.
package struct DurationWord: Hashable, Sendable {
  /// The span in milliseconds, never negative.
  package let milliseconds: Int64

  /// The span that a word says; nil for anything but a whole number and a unit.
  package init?(_ word: String) {
    let digits = word.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let unit = String(decoding: word.utf8.dropFirst(digits.count), as: UTF8.self)
    guard let factor = Self.units[unit], let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: factor)
    guard !overflow else { return nil }
    milliseconds = product
  }

  private static let units: [String: Int64] = [
    "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
  ]
}
