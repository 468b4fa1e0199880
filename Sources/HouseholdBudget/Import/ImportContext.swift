package import HouseholdRecords

/// A file's format, as `--format` names it.
package enum ImportFormat: String, Hashable, Sendable, CaseIterable {
  case automatic = "auto"
  case csv, ofx, qif, camt, mt940, json
}

/// What a person said about an import.
package struct ImportOptions: Hashable, Sendable {
  /// The id or the name of the account that rows without one go to; an unknown name makes the account.
  package var account: String?
  package var format: ImportFormat
  /// The currency of rows that name none and whose account has none.
  package var currency: String?
  /// Whether `03/04/2026` is 3 April; nil: the file decides, and if it cannot, its rows are skipped with that reason.
  package var isDayFirst: Bool?
  /// Whether `1,000` is one; nil: the file decides.
  package var hasDecimalComma: Bool?
  /// The encoding, as `--encoding` names it; nil: found out.
  package var encoding: String?

  package init(
    account: String? = nil, format: ImportFormat = .automatic, currency: String? = nil, isDayFirst: Bool? = nil,
    hasDecimalComma: Bool? = nil, encoding: String? = nil
  ) {
    self.hasDecimalComma = hasDecimalComma
    self.encoding = encoding
    self.account = account
    self.format = format
    self.currency = currency
    self.isDayFirst = isDayFirst
  }
}

/// What an import must know about the records that are here; read in one transaction with the writing.
package struct ImportContext {
  /// An account that shows.
  package struct Account: Hashable, Sendable {
    package var id: String
    package var name: String?
    package var currency: String?

    package init(id: String, name: String?, currency: String?) {
      self.id = id
      self.name = name
      self.currency = currency
    }
  }

  /// A category or a group of them that shows.
  package struct Category: Hashable, Sendable {
    package var id: String
    package var name: String?
    /// The group's id; nil for a group.
    package var group: String?

    package init(id: String, name: String?, group: String? = nil) {
      self.id = id
      self.name = name
      self.group = group
    }
  }

  /// Whether a record is here.
  package enum Presence: Hashable, Sendable {
    /// It has never been here.
    case absent
    case live
    /// It was here and was deleted.
    case deleted
  }

  package var schema: Schema
  package var accounts: [Account]
  package var groups: [Category]
  package var categories: [Category]
  /// Looks one record up; what it throws ends the import.
  package var presence: (RecordKey) throws -> Presence
  package var sha256: ([UInt8]) -> [UInt8]
  package var aliases: [AliasPatterns.Alias]
  /// The fields of a record that shows; nil if it does not.
  package var record: (RecordKey) throws -> [String: FieldValue]?
  /// Whether any of these fields was changed since the record was made.
  package var wasEdited: (RecordKey, [String]) throws -> Bool

  package init(
    schema: Schema, accounts: [Account] = [], groups: [Category] = [], categories: [Category] = [],
    aliases: [AliasPatterns.Alias] = [], presence: @escaping (RecordKey) throws -> Presence,
    record: @escaping (RecordKey) throws -> [String: FieldValue]? = { _ in nil },
    wasEdited: @escaping (RecordKey, [String]) throws -> Bool = { _, _ in false },
    sha256: @escaping ([UInt8]) -> [UInt8]
  ) {
    self.aliases = aliases
    self.record = record
    self.wasEdited = wasEdited
    self.schema = schema
    self.accounts = accounts
    self.groups = groups
    self.categories = categories
    self.presence = presence
    self.sha256 = sha256
  }
}
