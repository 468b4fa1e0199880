/// The memory that the connections to one simulated file share: SQLite keeps the index of the WAL in it.
@safe final class SharedIndex {
  private var regions: [UnsafeMutableRawPointer] = unsafe []

  /// The region with this number; nil if it is not there and is not to be made.
  func region(_ number: Int, size: Int, makes: Bool) -> UnsafeMutableRawPointer? {
    while unsafe regions.count <= number {
      guard makes else { return nil }
      let region = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      unsafe region.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      unsafe regions.append(region)
    }
    return unsafe regions[number]
  }

  deinit { unsafe regions.forEach { unsafe $0.deallocate() } }
}
