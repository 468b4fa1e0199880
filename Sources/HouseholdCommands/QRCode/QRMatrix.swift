/// The modules of a QR code: the fixed patterns, the places of the data, the masks and their penalty.
struct QRMatrix: Sendable {
  let version: Int
  let side: Int
  private var dark: [Bool]
  /// Modules that are no data: finders, timing, alignment, format and version.
  private var isFixed: [Bool]

  /// A matrix with its fixed patterns and no data.
  init(version: Int) {
    self.version = version
    side = 17 + 4 * version
    dark = Array(repeating: false, count: side * side)
    isFixed = dark
    drawTiming()
    for (row, column) in [(3, 3), (3, side - 4), (side - 4, 3)] { drawFinder(row, column) }
    drawAlignments()
    draw(format: 0)
    drawVersion()
  }

  func isDark(_ row: Int, _ column: Int) -> Bool { dark[row * side + column] }

  /// How many modules are left for data and its error correction.
  static func dataModuleCount(version: Int) -> Int {
    var count = (16 * version + 128) * version + 64
    if version >= 2 {
      let alignments = version / 7 + 2
      count -= (25 * alignments - 10) * alignments - 55
      if version >= 7 { count -= 36 }
    }
    return count
  }

  // MARK: Data

  /// Lays codewords in two-module columns from the bottom right, up and down by turns (7.7.3).
  mutating func place(_ codewords: [UInt8]) {
    var bit = 0
    for right in [Int](stride(from: side - 1, through: 8, by: -2)) + [5, 3, 1] {
      let isUpward = (right + 1) & 2 == 0
      for step in 0..<side {
        let row = isUpward ? side - 1 - step : step
        for column in [right, right - 1] where !isFixed[row * side + column] {
          guard bit < codewords.count * 8 else { continue }
          dark[row * side + column] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
          bit += 1
        }
      }
    }
  }

  /// Turns the data modules of a mask pattern (7.8.2) and writes the format that names it.
  mutating func apply(mask: Int) {
    for row in 0..<side {
      for column in 0..<side where !isFixed[row * side + column] && Self.turns(mask, row, column) {
        dark[row * side + column].toggle()
      }
    }
    draw(format: mask)
  }

  private static func turns(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
    switch mask {
    case 0: (row + column) % 2 == 0
    case 1: row % 2 == 0
    case 2: column % 3 == 0
    case 3: (row + column) % 3 == 0
    case 4: (row / 2 + column / 3) % 2 == 0
    case 5: row * column % 2 + row * column % 3 == 0
    case 6: (row * column % 2 + row * column % 3) % 2 == 0
    default: ((row + column) % 2 + row * column % 3) % 2 == 0
    }
  }

  // MARK: Fixed patterns

  private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
    dark[row * side + column] = isDark
    isFixed[row * side + column] = true
  }

  private mutating func drawTiming() {
    for index in 0..<side {
      set(6, index, index.isMultiple(of: 2))
      set(index, 6, index.isMultiple(of: 2))
    }
  }

  /// A finder around its centre, with its light border.
  private mutating func drawFinder(_ row: Int, _ column: Int) {
    for down in -4...4 {
      for right in -4...4 where (0..<side).contains(row + down) && (0..<side).contains(column + right) {
        let ring = max(abs(down), abs(right))
        set(row + down, column + right, ring != 2 && ring != 4)
      }
    }
  }

  private mutating func drawAlignments() {
    let centers = alignmentCenters
    guard let last = centers.last else { return }
    for row in centers {
      for column in centers where ![(6, 6), (6, last), (last, 6)].contains(where: { $0 == (row, column) }) {
        for down in -2...2 {
          for right in -2...2 { set(row + down, column + right, max(abs(down), abs(right)) != 1) }
        }
      }
    }
  }

  /// The rows and columns of alignment centres (annex E): 6, and even steps back from the far side.
  private var alignmentCenters: [Int] {
    guard version > 1 else { return [] }
    let count = version / 7 + 2
    let step = (version * 8 + count * 3 + 5) / (count * 4 - 4) * 2
    return [6] + (0..<(count - 1)).map { side - 7 - $0 * step }.reversed()
  }

  /// Fifteen bits twice: correction M (00), the mask, and a BCH code of both (7.9).
  private mutating func draw(format mask: Int) {
    var remainder = mask
    for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
    let bits = (mask << 10 | remainder) ^ 0x5412
    func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
    for index in 0...5 { set(index, 8, bit(index)) }
    set(7, 8, bit(6))
    set(8, 8, bit(7))
    set(8, 7, bit(8))
    for index in 9..<15 { set(8, 14 - index, bit(index)) }
    for index in 0..<8 { set(8, side - 1 - index, bit(index)) }
    for index in 8..<15 { set(side - 15 + index, 8, bit(index)) }
    set(side - 8, 8, true)
  }

  /// Eighteen bits twice: the version and a Golay code of it, from version 7 on (7.10).
  private mutating func drawVersion() {
    guard version >= 7 else { return }
    var remainder = version
    for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1F25 }
    let bits = version << 12 | remainder
    for index in 0..<18 {
      let isDark = bits >> index & 1 == 1
      set(side - 11 + index % 3, index / 3, isDark)
      set(index / 3, side - 11 + index % 3, isDark)
    }
  }

  // MARK: Penalty

  /// How hard the matrix is to read (7.8.3): runs, blocks, patterns like finders, and too much of one colour.
  var penalty: Int {
    var penalty = 0
    for index in 0..<side {
      penalty += linePenalty((0..<side).map { isDark(index, $0) })
      penalty += linePenalty((0..<side).map { isDark($0, index) })
    }
    for row in 0..<(side - 1) {
      for column in 0..<(side - 1) {
        let corner = isDark(row, column)
        if corner == isDark(row, column + 1), corner == isDark(row + 1, column), corner == isDark(row + 1, column + 1) {
          penalty += 3
        }
      }
    }
    let darkCount = dark.count { $0 }
    let total = side * side
    penalty += abs(darkCount * 20 - total * 10) / total * 10
    return penalty
  }

  /// Runs of five or more, and dark-light-dark-dark-dark-light-dark beside four light modules.
  private func linePenalty(_ line: [Bool]) -> Int {
    var penalty = 0
    var run = 0
    for index in line.indices {
      run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
      if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
    }
    let finder = [true, false, true, true, true, false, true]
    for start in 0...(line.count - finder.count) where line[start..<(start + finder.count)].elementsEqual(finder) {
      let before = line[max(0, start - 4)..<start]
      let after = line[(start + finder.count)..<min(line.count, start + finder.count + 4)]
      if !before.contains(true) || !after.contains(true) { penalty += 40 }
    }
    return penalty
  }
}
