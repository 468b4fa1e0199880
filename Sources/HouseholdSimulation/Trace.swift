/// What happened, line by line, and a checksum of it: two runs of one seed must have the same.
package struct Trace {
  /// Where lines go as they come; nil keeps only the checksum.
  package var print: ((String) -> Void)?
  /// How many lines there were.
  package private(set) var count = 0
  /// FNV-1a over all lines, 64 bits.
  package private(set) var checksum: UInt64 = 0xCBF2_9CE4_8422_2325

  package init(print: ((String) -> Void)? = nil) { self.print = print }

  /// Takes note of one line.
  mutating func add(_ line: String) {
    count += 1
    for byte in line.utf8 { checksum = (checksum ^ UInt64(byte)) &* 0x100_0000_01B3 }
    checksum = (checksum ^ 10) &* 0x100_0000_01B3
    print?(line)
  }

  /// Takes note of bytes in the checksum alone.
  mutating func add(bytes: [UInt8]) {
    for byte in bytes { checksum = (checksum ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
