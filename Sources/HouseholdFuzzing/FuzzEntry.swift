/// Where libFuzzer comes in, see `Scripts/fuzz`: the first byte picks the target, the others are its input.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do {
    try FuzzInput.take(bytes)
  } catch {
    fatalError("\(error)")
  }
  return 0
}

/// An input of any target: its number, then its bytes.
package enum FuzzInput {
  /// Gives the bytes to their target.
  package static func take(_ bytes: [UInt8]) throws {
    guard let first = bytes.first else { return }
    try FuzzTarget.allCases[Int(first) % FuzzTarget.allCases.count].take(Array(bytes.dropFirst()))
  }

  /// The input with which a target takes these bytes.
  package static func input(_ bytes: [UInt8], for target: FuzzTarget) -> [UInt8] {
    [UInt8(FuzzTarget.allCases.firstIndex(of: target) ?? 0)] + bytes
  }
}
