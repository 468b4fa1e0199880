import Glibc

/// Reads an open file, pipe or the like to its end, piece by piece; a signal does not stop it.
enum DescriptorReader {
  /// Hands over each piece; returns the `errno` of a reading that failed, nil at the end.
  static func forEachPiece(
    of descriptor: Int32, bytes: Int = 64 << 10, _ body: (ArraySlice<UInt8>) throws -> Void
  ) rethrows -> Int32? {
    var buffer = [UInt8](repeating: 0, count: bytes)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count == 0 { return nil }
      if count > 0 {
        try body(buffer.prefix(count))
      } else if errno != EINTR {
        return errno
      }
    }
  }

  /// Everything up to the end, or to where reading failed.
  static func all(of descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    _ = forEachPiece(of: descriptor) { bytes += $0 }
    return bytes
  }
}
