import HouseholdRecords

/// How the files of one account are to be read where a file alone leaves it open: said by a person, or proved by an
/// earlier file of the same account.
///
/// Kept on this device under the account's id, as text that `init(parsing:)` reads back.
package struct ImportChoices: Hashable, Sendable {
  /// What stands between the fields of CSV.
  package var delimiter: Character?
  /// The encoding by its usual name, for files that are neither UTF-8 nor UTF-16.
  package var encoding: String?
  /// Whether `03/04/2026` is 3 April.
  package var isDayFirst: Bool?
  /// Whether `1,000` is one.
  package var hasDecimalComma: Bool?
  /// Which column is what: by a role (`date`, `payee`, ...) its header or its number from 1; empty for "none is".
  package var columns: [String: String] = [:]

  package init(
    delimiter: Character? = nil, encoding: String? = nil, isDayFirst: Bool? = nil, hasDecimalComma: Bool? = nil,
    columns: [String: String] = [:]
  ) {
    self.delimiter = delimiter
    self.encoding = encoding
    self.isDayFirst = isDayFirst
    self.hasDecimalComma = hasDecimalComma
    self.columns = columns
  }

  package var isEmpty: Bool { self == ImportChoices() }

  /// These choices, and the other ones where these say nothing.
  package func over(_ other: ImportChoices) -> ImportChoices {
    ImportChoices(
      delimiter: delimiter ?? other.delimiter, encoding: encoding ?? other.encoding,
      isDayFirst: isDayFirst ?? other.isDayFirst, hasDecimalComma: hasDecimalComma ?? other.hasDecimalComma,
      columns: columns.merging(other.columns) { own, _ in own })
  }

  /// What a column may be, as `--column` names it.
  package static let roles = BankLayout.Role.allCases.map(\.rawValue)

  /// What may stand between fields, as `--delimiter` names it.
  package static let delimiters: [(word: String, character: Character)] = [
    ("comma", ","), ("semicolon", ";"), ("tab", "\t"), ("bar", "|"),
  ]

  /// The delimiter in words.
  package var delimiterWord: String? {
    delimiter.flatMap { delimiter in Self.delimiters.first { $0.character == delimiter }?.word }
  }
}

extension ImportChoices {
  /// One line of JSON, the same for equal choices.
  package var text: String {
    var parts: [String] = []
    if let delimiterWord { parts.append("\"delimiter\": \(JSONSpelling.text(delimiterWord))") }
    if let encoding { parts.append("\"encoding\": \(JSONSpelling.text(encoding))") }
    if let isDayFirst { parts.append("\"isDayFirst\": \(isDayFirst)") }
    if let hasDecimalComma { parts.append("\"hasDecimalComma\": \(hasDecimalComma)") }
    if !columns.isEmpty {
      let members = columns.sorted { $0.key < $1.key }.map {
        "\(JSONSpelling.text($0.key)): \(JSONSpelling.text($0.value))"
      }
      parts.append("\"columns\": {\(members.joined(separator: ", "))}")
    }
    return "{\(parts.joined(separator: ", "))}"
  }

  /// Reads what `text` wrote; what it does not know is left out, and nil means that it is no such text.
  package init?(parsing text: String) {
    do throws(JSONTreeFailure) {
      let tree = try JSONTree.read(Array(text.utf8))
      guard case .object = tree.value else { return nil }
      self.init()
      if case .string(let word) = tree["delimiter"]?.value {
        delimiter = Self.delimiters.first { $0.word == word }?.character
      }
      if case .string(let name) = tree["encoding"]?.value { encoding = name }
      if case .boolean(let isFirst) = tree["isDayFirst"]?.value { isDayFirst = isFirst }
      if case .boolean(let isComma) = tree["hasDecimalComma"]?.value { hasDecimalComma = isComma }
      if case .object(let members) = tree["columns"]?.value {
        for member in members where Self.roles.contains(member.name) {
          if case .string(let word) = member.value.value { columns[member.name] = word }
        }
      }
    } catch {
      return nil
    }
  }
}
