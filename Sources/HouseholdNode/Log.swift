internal import Glibc
internal import HouseholdRecords

/// Writes facts on standard error: a fixed message and fields, one line each; no record contents, keys or codes.
package struct Log: Sendable {
  private let isOn: Bool

  /// - Parameter isOn: whether anything is written.
  package init(isOn: Bool) { self.isOn = isOn }

  /// Writes one fact.
  func note(_ message: String, _ fields: KeyValuePairs<String, String>) {
    guard isOn else { return }
    let parts = fields.map { "\($0.key)=\(Self.safe($0.value))" }
    let line = ([SystemClock.now.rfc3339, message] + parts).joined(separator: " ") + "\n"
    let bytes = Array(line.utf8)
    // Where nobody reads the log, the node goes on all the same.
    _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
  }

  /// A value as one word of printable characters.
  private static func safe(_ value: String) -> String {
    let shown = value.unicodeScalars.prefix(500).map { scalar in
      [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        ? " " : scalar
    }
    let word = String(String.UnicodeScalarView(shown))
    return word.contains(" ") ? "\"\(word)\"" : word
  }
}
