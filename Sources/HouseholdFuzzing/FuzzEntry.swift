/// Where libFuzzer comes in, see `Scripts/fuzz`: the first byte picks the target, the others are its input.
///
/// With `--target=NAME` inputs for other targets are turned away: -1 keeps them out of libFuzzer's corpus.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do {
    if let wanted = FuzzInput.wantedTarget, FuzzInput.target(of: bytes) != wanted { return -1 }
    try FuzzInput.take(bytes)
  } catch {
    fatalError("\(error)")
  }
  return 0
}

/// An input of any target: its number, then its bytes.
package enum FuzzInput {
  /// The only target to be tried; nil without the option: all.
  static let wantedTarget: FuzzTarget? = {
    let option = "--target="
    guard let argument = CommandLine.arguments.first(where: { $0.hasPrefix(option) }) else { return nil }
    guard let target = FuzzTarget(rawValue: String(argument.dropFirst(option.count))) else {
      fatalError("There is no target \(argument.dropFirst(option.count)).")
    }
    return target
  }()

  /// Who takes these bytes; nil for none.
  static func target(of bytes: [UInt8]) -> FuzzTarget? {
    bytes.first.map { FuzzTarget.allCases[Int($0) % FuzzTarget.allCases.count] }
  }

  /// Gives the bytes to their target.
  package static func take(_ bytes: [UInt8]) throws {
    try target(of: bytes)?.take(Array(bytes.dropFirst()))
  }

  /// The input with which a target takes these bytes.
  package static func input(_ bytes: [UInt8], for target: FuzzTarget) -> [UInt8] {
    [UInt8(FuzzTarget.allCases.firstIndex(of: target) ?? 0)] + bytes
  }
}
