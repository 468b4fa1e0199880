internal import HouseholdRecords

/// The key of a text by `Folding`, without its tables where the text is plain ASCII, as most of a statement is.
///
/// Rows are told apart by keys of their texts, so this runs for every row. The two ways agree byte for byte.
func foldedKey(_ text: String) -> String {
  var result: [UInt8] = []
  result.reserveCapacity(text.utf8.count)
  var isBlankDue = false
  for byte in text.utf8 {
    guard byte < 0x80 else { return Folding.key(text) }
    if byte == 0x20 || (0x09...0x0D).contains(byte) {
      isBlankDue = !result.isEmpty
      continue
    }
    if isBlankDue { result.append(0x20) }
    isBlankDue = false
    result.append((0x41...0x5A).contains(byte) ? byte + 0x20 : byte)
  }
  return String(decoding: result, as: UTF8.self)
}
