/// Writes the project's canonical encoding: one value has exactly one form, so that hashes and signatures agree.
///
/// Numbers are unsigned LEB128 ("varint") of the least length, signed ones zig-zag first; texts and byte strings carry
/// their length in front. The format of each thing is pinned by golden files in the tests.
package struct ByteWriter: Sendable {
  /// What was written so far.
  package private(set) var bytes: [UInt8]

  package init(capacity: Int = 0) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// The number of bytes written so far.
  package var count: Int { bytes.count }

  package mutating func byte(_ value: UInt8) { bytes.append(value) }

  package mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  package mutating func varint(_ value: Int) {
    precondition(value >= 0, "counts are not negative")
    varint(UInt64(value))
  }

  /// A signed number: zig-zag, so that small ones of either sign are short.
  package mutating func signed(_ value: Int64) { varint(UInt64(bitPattern: value << 1 ^ value >> 63)) }

  /// Eight bytes, most significant first.
  package mutating func fixed(_ value: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }

  /// Bytes whose number the reader knows.
  ///
  /// For arrays a function of their own: other modules call the general one without specialising it, which took a third
  /// of the time of the digest of all records.
  package mutating func raw(_ value: [UInt8]) { bytes.append(contentsOf: value) }

  /// Bytes whose number the reader knows.
  package mutating func raw(_ value: some Sequence<UInt8>) { bytes.append(contentsOf: value) }

  /// A byte string with its length in front.
  package mutating func data(_ value: [UInt8]) {
    varint(value.count)
    bytes.append(contentsOf: value)
  }

  /// Bytes that lie elsewhere, with their length in front.
  package mutating func data(copying value: UnsafeRawBufferPointer) {
    varint(value.count)
    bytes.append(contentsOf: value)
  }

  /// A text as UTF-8 with its length in bytes in front.
  package mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { utf8 in
      varint(utf8.count)
      unsafe bytes.append(contentsOf: utf8)
    }
  }

  package mutating func identifier<Kind>(_ value: Identifier256<Kind>) { raw(value.bytes) }
  package mutating func identifier<Kind>(_ value: Identifier128<Kind>) { raw(value.bytes) }

  /// A value with one byte in front that tells its kind.
  package mutating func value(_ value: FieldValue) {
    byte(value.kind.rawValue)
    switch value {
    case .null: break
    case .integer(let integer): signed(integer)
    case .real(let real): fixed(real.bitPattern)
    case .text(let string): text(string)
    case .bytes(let bytes): data(bytes)
    }
  }
}
