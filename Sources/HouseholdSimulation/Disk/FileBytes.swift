/// The bytes of a simulated file: plain memory, so that copying pages is quick in builds that are not optimised too.
@safe final class FileBytes {
  private var start: UnsafeMutableRawPointer
  private var capacity = 1 << 14
  /// How long the file is.
  private(set) var count = 0

  init() { unsafe start = .allocate(byteCount: capacity, alignment: 16) }

  deinit { unsafe start.deallocate() }

  /// All bytes.
  var all: [UInt8] { copy(0..<count) }

  /// Some bytes, which must be there.
  func copy(_ range: Range<Int>) -> [UInt8] {
    precondition(range.upperBound <= count, "a simulated file was read beyond its end")
    return unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, written in
      written = range.count
      guard let target = buffer.baseAddress, !range.isEmpty else { return }
      unsafe UnsafeMutableRawPointer(target).copyMemory(from: start + range.lowerBound, byteCount: range.count)
    }
  }

  /// Reads into memory; returns how many of so many bytes were there.
  func read(into target: UnsafeMutableRawPointer, count wanted: Int, at offset: Int) -> Int {
    let there = max(0, min(wanted, count - offset))
    if there > 0 { unsafe target.copyMemory(from: start + offset, byteCount: there) }
    return there
  }

  /// Writes bytes; what lies between the end and them becomes zero.
  func put(_ piece: UnsafeRawBufferPointer, at offset: Int) {
    let end = offset + piece.count
    if end > capacity { grow(to: end) }
    if offset > count { unsafe (start + count).initializeMemory(as: UInt8.self, repeating: 0, count: offset - count) }
    count = max(count, end)
    if unsafe piece.isEmpty { return }
    guard let source = piece.baseAddress else { return }
    unsafe (start + offset).copyMemory(from: source, byteCount: piece.count)
  }

  /// Writes bytes.
  func put(_ piece: [UInt8], at offset: Int) {
    unsafe piece.withUnsafeBytes { unsafe put($0, at: offset) }
  }

  /// Makes the file shorter.
  func truncate(to size: Int) { count = min(count, size) }

  private func grow(to size: Int) {
    capacity = max(size, capacity * 2)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    unsafe larger.copyMemory(from: start, byteCount: count)
    unsafe start.deallocate()
    unsafe start = larger
  }
}
