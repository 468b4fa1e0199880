/// A QR code of a text: byte mode, error correction M, versions 1 to 20, the mask of least penalty.
///
/// Source: ISO/IEC 18004:2015; the numbers of its section are named where they are used.
package struct QRCode: Sendable {
  private let matrix: QRMatrix
  /// The version, from 1: the side has `17 + 4 · version` modules.
  package let version: Int
  /// The mask pattern that was chosen, 0 to 7.
  package let mask: Int

  /// The code of these bytes in the smallest version that holds them; nil over 666 bytes.
  ///
  /// - Parameter mask: a mask pattern to use instead of the best one.
  package init?(bytes: [UInt8], mask forced: Int? = nil) {
    guard let layout = QRLayout.smallest(for: bytes.count) else { return nil }
    var empty = QRMatrix(version: layout.version)
    empty.place(codewords(of: bytes, in: layout))
    var best: (matrix: QRMatrix, mask: Int, penalty: Int)?
    for mask in forced.map({ $0...$0 }) ?? 0...7 {
      var masked = empty
      masked.apply(mask: mask)
      let penalty = masked.penalty
      if penalty < best?.penalty ?? .max { best = (masked, mask, penalty) }
    }
    guard let best else { return nil }
    (matrix, mask, version) = (best.matrix, best.mask, layout.version)
  }

  /// The code of a text as UTF-8; nil over 666 bytes.
  package init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// Modules on a side, without the quiet zone.
  package var side: Int { matrix.side }

  /// Whether the module in this row and column, counted from the top left, is dark; all outside is light.
  package func isDark(row: Int, column: Int) -> Bool {
    (0..<side).contains(row) && (0..<side).contains(column) && matrix.isDark(row, column)
  }

  /// The code for a terminal: two modules per character as half blocks, with the quiet zone of four modules.
  ///
  /// - Parameter colors: whether to set black on white by escape sequences; without them, light modules are drawn in
  ///   the terminal's foreground, which reads right on a dark background only.
  package func terminalLines(colors: Bool) -> [String] {
    let quiet = 4
    return stride(from: -quiet, to: side + quiet, by: 2).map { row in
      let blocks = (-quiet..<(side + quiet)).map { column in
        switch (isDark(row: row, column: column), isDark(row: row + 1, column: column)) {
        case (false, false): "█"
        case (false, true): "▀"
        case (true, false): "▄"
        case (true, true): " "
        }
      }
      return colors ? "\u{1B}[97;40m\(blocks.joined())\u{1B}[0m" : blocks.joined()
    }
  }
}

/// How many bytes and blocks a version has at error correction M (table 9).
struct QRLayout {
  let version: Int
  /// All codewords, data and error correction.
  let codewordCount: Int
  let blockCount: Int
  let correctionPerBlock: Int

  var dataCount: Int { codewordCount - blockCount * correctionPerBlock }
  /// The bits of the length in byte mode (table 3).
  var lengthBits: Int { version < 10 ? 8 : 16 }

  private static let corrections = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26]
  private static let blocks = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16]

  /// The smallest version whose data codewords hold mode, length and this many bytes.
  static func smallest(for byteCount: Int) -> QRLayout? {
    (1...20).lazy.map(QRLayout.init).first { (4 + $0.lengthBits + 7) / 8 + byteCount <= $0.dataCount }
  }

  init(version: Int) {
    self.version = version
    codewordCount = QRMatrix.dataModuleCount(version: version) / 8
    blockCount = Self.blocks[version - 1]
    correctionPerBlock = Self.corrections[version - 1]
  }
}

/// Data and error correction, interleaved as they are placed (7.4 to 7.6).
private func codewords(of bytes: [UInt8], in layout: QRLayout) -> [UInt8] {
  let data = dataCodewords(of: bytes, in: layout)
  let generator = ReedSolomon.generator(degree: layout.correctionPerBlock)
  let shortLength = layout.dataCount / layout.blockCount
  let shortCount = layout.blockCount - layout.dataCount % layout.blockCount
  var blocks: [ArraySlice<UInt8>] = []
  var rest = data[...]
  for index in 0..<layout.blockCount {
    let length = shortLength + (index < shortCount ? 0 : 1)
    blocks.append(rest.prefix(length))
    rest = rest.dropFirst(length)
  }
  let corrections = blocks.map { ReedSolomon.remainder(of: $0, by: generator) }
  var interleaved: [UInt8] = []
  for offset in 0...shortLength {
    for block in blocks where offset < block.count { interleaved.append(block[block.startIndex + offset]) }
  }
  for offset in 0..<layout.correctionPerBlock { interleaved += corrections.map { $0[offset] } }
  return interleaved
}

/// Mode, length, bytes, terminator and padding.
private func dataCodewords(of bytes: [UInt8], in layout: QRLayout) -> [UInt8] {
  var bits: [Bool] = []
  func append(_ value: Int, bits count: Int) {
    for shift in stride(from: count - 1, through: 0, by: -1) { bits.append(value >> shift & 1 == 1) }
  }
  append(0b0100, bits: 4)
  append(bytes.count, bits: layout.lengthBits)
  for byte in bytes { append(Int(byte), bits: 8) }
  append(0, bits: min(4, layout.dataCount * 8 - bits.count))
  append(0, bits: (8 - bits.count % 8) % 8)
  var data = stride(from: 0, to: bits.count, by: 8).map { start in
    bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
  }
  for index in 0..<(layout.dataCount - data.count) { data.append(index.isMultiple(of: 2) ? 0xEC : 0x11) }
  return data
}

/// Error correction over the field of 256 elements with the polynomial 0x11D (7.5).
enum ReedSolomon {
  /// The coefficients of ∏ (x − 2ⁱ), without the leading 1.
  static func generator(degree: Int) -> [UInt8] {
    var coefficients = [UInt8](repeating: 0, count: degree - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<degree {
      for index in coefficients.indices {
        coefficients[index] = product(coefficients[index], root)
        if index + 1 < degree { coefficients[index] ^= coefficients[index + 1] }
      }
      root = product(root, 2)
    }
    return coefficients
  }

  /// The remainder of the data, shifted by the degree, divided by the generator.
  static func remainder(of data: ArraySlice<UInt8>, by generator: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: generator.count)
    for byte in data {
      let factor = byte ^ result.removeFirst()
      result.append(0)
      for index in result.indices { result[index] ^= product(generator[index], factor) }
    }
    return result
  }

  private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
    var result: UInt8 = 0
    for shift in stride(from: 7, through: 0, by: -1) {
      result = result << 1 ^ (result >> 7 == 1 ? 0x1D : 0)
      if b >> UInt8(shift) & 1 == 1 { result ^= a }
    }
    return result
  }
}
