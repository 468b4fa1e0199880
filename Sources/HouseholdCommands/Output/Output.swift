import FoundationEssentials
import Glibc

/// The one place that prints: results on standard output, everything else on standard error.
package struct Output: Sendable {
  /// What the words and the environment say about printing.
  package struct Settings: Sendable {
    /// Results as JSON.
    package var wantsJSON = false
    /// Results and errors only.
    package var isQuiet = false
    /// More about what is being done.
    package var isVerbose = false
    /// The environment: `NO_COLOR`, `TERM` and `COLUMNS` are read.
    package var environment: [String: String] = [:]

    package init() {}
  }

  /// How a piece of text stands out.
  package enum Style: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
  }

  private let standardOutput: any OutputSink
  private let standardError: any OutputSink
  private let settings: Settings

  package init(
    standardOutput: any OutputSink = DescriptorSink.standardOutput,
    standardError: any OutputSink = DescriptorSink.standardError, settings: Settings = Settings()
  ) {
    self.standardOutput = standardOutput
    self.standardError = standardError
    self.settings = settings
  }

  /// The same sinks under other settings.
  func with(_ settings: Settings) -> Output {
    Output(standardOutput: standardOutput, standardError: standardError, settings: settings)
  }

  // MARK: Results

  /// Prints a line of the result; the line end is added.
  package func line(_ text: String = "") throws(OutputFailure) { try write(Array(text.utf8) + [UInt8(ascii: "\n")]) }

  /// Prints the rows of a table, its header in bold.
  package func table(_ table: TableOutput) throws(OutputFailure) {
    let lines = table.lines
    for (index, text) in lines.enumerated() { try line(index == 0 ? styled(text, .bold) : text) }
  }

  /// Prints bytes as they are, such as an exported file.
  package func write(_ bytes: [UInt8]) throws(OutputFailure) {
    switch standardOutput.write(bytes) {
    case 0: return
    case EPIPE: throw .closed
    case let number: throw .failed(errorNumber: number)
    }
  }

  /// Waits so long before more is printed; throws when nobody reads any more, which a quiet command would never notice.
  package func pause(milliseconds: Int32) throws(OutputFailure) {
    guard standardOutput.waits(milliseconds: milliseconds) else { throw .closed }
  }

  /// Prints one JSON document on one line: sorted keys, slashes as they are.
  package func json(_ value: some Encodable) throws {
    try line(Self.jsonText(value))
  }

  /// Prints the result: the value under `--json`, else what `text` prints.
  package func result(_ value: @autoclosure () throws -> some Encodable, text: () throws -> Void) throws {
    if settings.wantsJSON { try json(value()) } else { try text() }
  }

  // MARK: Beside the result

  /// Says on standard error what happened, unless `--quiet`.
  package func note(_ text: String) {
    if !settings.isQuiet { say(text) }
  }

  /// Says on standard error what is being done, under `--verbose` only.
  package func detail(_ text: String) {
    if settings.isVerbose { say(text) }
  }

  /// Prints an error on standard error: two lines for people, a document under `--json`.
  package func error(_ error: CommandError) {
    // Three strings always encode; were it otherwise, the two lines below still tell.
    if settings.wantsJSON, let text = try? Self.jsonText(ErrorDocument(error)) { return say(text) }
    let prefix = isColored(standardError) ? "\u{1B}[31mhousehold:\u{1B}[0m" : "household:"
    say("\(prefix) \(escapingControls(error.message))")
    if !error.remedy.isEmpty { say(escapingControls(error.remedy)) }
  }

  /// Text without a line end on standard error, for what is drawn over: only where a terminal shows it.
  func draw(_ text: String) { _ = standardError.write(Array(text.utf8)) }

  private func say(_ text: String) { _ = standardError.write(Array(text.utf8) + [UInt8(ascii: "\n")]) }

  // MARK: What is at the other end

  /// Whether results are printed as JSON.
  package var wantsJSON: Bool { settings.wantsJSON }
  /// Whether a person looks at standard output.
  package var isTerminal: Bool { standardOutput.isTerminal }
  /// Whether a drawing over one line of standard error makes sense.
  var canDraw: Bool { standardError.isTerminal && !settings.isQuiet && !settings.wantsJSON }

  /// The columns to lay text out for: `$COLUMNS`, else the terminal's, else 80.
  package var width: Int {
    if let named = settings.environment["COLUMNS"].flatMap({ Int($0) }), named > 0 { return named }
    return standardOutput.columns ?? standardError.columns ?? 80
  }

  /// The text in a style, where standard output shows styles; else the text alone.
  package func styled(_ text: String, _ style: Style) -> String {
    isColored(standardOutput) ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  private func isColored(_ sink: any OutputSink) -> Bool {
    sink.isTerminal && (settings.environment["NO_COLOR"] ?? "").isEmpty && settings.environment["TERM"] != "dumb"
  }

  private static func jsonText(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

/// Why a result could not be printed.
package enum OutputFailure: Error, Hashable, Sendable {
  /// The reader went away, as `head` does: there is nobody to tell.
  case closed
  /// The system refused, such as for a full disk.
  case failed(errorNumber: Int32)

  /// What to tell about it; nil when nobody listens.
  package var commandError: CommandError? {
    switch self {
    case .closed: nil
    case .failed(let number):
      CommandError(
        code: "outputFailed", message: "the result could not be written: \(systemMessage(number)).",
        remedy: "What was printed is incomplete; give it a place with room and run the command again.")
    }
  }
}

/// What the system says about an error number.
private func systemMessage(_ number: Int32) -> String {
  var buffer = [CChar](repeating: 0, count: 256)
  guard unsafe strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
  return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

private struct ErrorDocument: Encodable {
  struct Fields: Encodable {
    let code: String
    let message: String
    let remedy: String
  }
  let error: Fields

  init(_ error: CommandError) {
    self.error = Fields(code: error.code, message: error.message, remedy: error.remedy)
  }
}
