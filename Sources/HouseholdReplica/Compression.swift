internal import CZstd
internal import HouseholdRecords

/// Packs byte strings with zstd where that helps, and unpacks them within a bound (R8).
enum Compression {
  /// Below this many bytes compression is not tried.
  static let threshold = 1024
  private static let level: Int32 = 1
  private static let plain: UInt8 = 0
  private static let zstd: UInt8 = 1

  /// One byte that tells the form, then the bytes or their compression.
  static func pack(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= threshold else { return [plain] + bytes }
    let bound = ZSTD_compressBound(bytes.count)
    var failed = false
    let packed = unsafe [UInt8](unsafeUninitializedCapacity: bound + 1) { buffer, count in
      unsafe buffer[0] = zstd
      let written = unsafe bytes.withUnsafeBytes { source in
        unsafe ZSTD_compress(buffer.baseAddress! + 1, bound, source.baseAddress, source.count, level)
      }
      failed = ZSTD_isError(written) != 0
      count = failed ? 1 : written + 1
    }
    return failed || packed.count > bytes.count ? [plain] + bytes : packed
  }

  /// The bytes that were packed; throws what a peer's fault is if they are not what they claim or over the limit.
  static func unpack(_ packed: [UInt8], limit: Int) throws(DecodingViolation) -> [UInt8] {
    guard let form = packed.first else { throw .truncated }
    if form == plain {
      guard packed.count - 1 <= limit else { throw .overLimit }
      return Array(packed.dropFirst())
    }
    guard form == zstd else { throw .unknownKind(form) }
    let claimed = unsafe packed.withUnsafeBytes { source in
      unsafe ZSTD_getFrameContentSize(source.baseAddress! + 1, source.count - 1)
    }
    guard claimed <= UInt64(limit) else { throw .overLimit }
    let size = Int(claimed)
    var isWhole = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let written = unsafe packed.withUnsafeBytes { source in
        unsafe ZSTD_decompress(buffer.baseAddress, size, source.baseAddress! + 1, source.count - 1)
      }
      isWhole = written == size
      count = isWhole ? size : 0
    }
    guard isWhole else { throw .malformed("a compressed part cannot be unpacked") }
    return bytes
  }
}
