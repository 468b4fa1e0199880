internal import Glibc
internal import HouseholdRecords

/// Writes facts on standard error: a fixed message and fields, one line each; no record contents, keys or codes.
package struct Log: Sendable {
  /// What is written.
  package enum Level: Int, Sendable, Comparable {
    case off, problems, all

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  private let level: Level
  private let isJournal: Bool

  /// - Parameters:
  ///   - level: what is written.
  ///   - isJournal: whether the system's journal reads it, which knows the time and wants the priority first.
  package init(_ level: Level, isJournal: Bool = false) {
    self.level = level
    self.isJournal = isJournal
  }

  /// Whether the journal reads standard error: as the service manager says in `$JOURNAL_STREAM`, by the number of the
  /// stream, as somebody may have turned it to a file since.
  package static func goesToJournal(_ environment: [String: String]) -> Bool {
    var facts = stat()
    guard let stream = environment["JOURNAL_STREAM"], unsafe fstat(STDERR_FILENO, &facts) == 0 else { return false }
    return stream == "\(facts.st_dev):\(facts.st_ino)"
  }

  /// Writes one fact: something began, ended or came.
  func note(_ message: String, _ fields: KeyValuePairs<String, String>) {
    guard level >= .all else { return }
    write(message, fields, priority: 6)
  }

  /// Writes one fact that somebody may have to act on.
  func problem(_ message: String, _ fields: KeyValuePairs<String, String>) {
    guard level >= .problems else { return }
    write(message, fields, priority: 4)
  }

  private func write(_ message: String, _ fields: KeyValuePairs<String, String>, priority: Int) {
    let parts = fields.map { "\($0.key)=\(Self.safe($0.value))" }
    let start = isJournal ? "<\(priority)>\(message)" : "\(SystemClock.now.rfc3339) \(message)"
    let bytes = Array(([start] + parts).joined(separator: " ").utf8) + [UInt8(ascii: "\n")]
    // Where nobody reads the log, the node goes on all the same.
    _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
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
