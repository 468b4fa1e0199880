internal import HouseholdRecords

/// Reads the images that capture triggers take, where they are as plain as most: an array of nulls, whole numbers, and
/// texts without escapes.
///
/// To ask SQLite for the parts of each took a fifth of the time of sealing edits. Whatever is not certain here, SQLite
/// reads.
enum PlainImage {
  /// The values; nil if there are not so many, or SQLite has to read them.
  static func values(of image: String, count: Int) -> [FieldValue]? {
    var reader = Reader(bytes: Array(image.utf8))
    return reader.values(count)
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The byte at hand; 0, which is in no image, after the last.
    var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

    mutating func take(_ byte: UInt8) -> Bool {
      guard next == byte else { return false }
      position += 1
      return true
    }

    mutating func values(_ count: Int) -> [FieldValue]? {
      guard take(UInt8(ascii: "[")) else { return nil }
      var values: [FieldValue] = []
      values.reserveCapacity(count)
      while values.count < count {
        guard values.isEmpty || take(UInt8(ascii: ",")), let value = value() else { return nil }
        values.append(value)
      }
      guard take(UInt8(ascii: "]")), position == bytes.count else { return nil }
      return values
    }

    mutating func value() -> FieldValue? {
      switch next {
      case UInt8(ascii: "n"):
        let end = position + 4
        guard end <= bytes.count, bytes[position..<end].elementsEqual("null".utf8) else { return nil }
        position = end
        return .null
      case UInt8(ascii: "\""): return text()
      default: return integer()
      }
    }

    mutating func text() -> FieldValue? {
      position += 1
      let start = position
      while next != UInt8(ascii: "\"") {
        // A backslash begins an escape; below a space there is nothing but the end.
        guard next >= 0x20, next != UInt8(ascii: "\\") else { return nil }
        position += 1
      }
      defer { position += 1 }
      return .text(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    mutating func integer() -> FieldValue? {
      let isNegative = take(UInt8(ascii: "-"))
      let start = position
      var value: Int64 = 0
      while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) {
        // What may not fit any more is left to SQLite.
        guard position - start < 18 else { return nil }
        value = value * 10 + Int64(next - UInt8(ascii: "0"))
        position += 1
      }
      return position > start ? .integer(isNegative ? -value : value) : nil
    }
  }
}
