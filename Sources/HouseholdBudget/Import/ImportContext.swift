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
  /// What was said about this file: it goes before what the file shows.
  package var choices: ImportChoices
  /// What is remembered of the account: it counts where the file itself shows nothing.
  package var remembered: ImportChoices

  package init(
    account: String? = nil, format: ImportFormat = .automatic, currency: String? = nil,
    choices: ImportChoices = ImportChoices(), remembered: ImportChoices = ImportChoices()
  ) {
    self.account = account
    self.format = format
    self.currency = currency
    self.choices = choices
    self.remembered = remembered
  }
}

/// What an import must know about the records that are here; read in one transaction with the writing.
package struct ImportContext {
  /// An account that shows.
  package struct Account: Hashable, Sendable {
    package var id: String
    package var name: String?
    package var currency: String?
    /// The ids of the accounts that are one thing with it and do not show.
    package var former: [String]

    package init(id: String, name: String?, currency: String?, former: [String] = []) {
      self.id = id
      self.name = name
      self.currency = currency
      self.former = former
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
  /// The payments that may be one end of a transfer; asked for at most once, and only if a row could be the other end.
  package var transferLegs: () throws -> [TransferLeg] = { [] }
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
  /// The id of the account with this name or id; nil if it is not here.
  package func accountID(_ word: String) -> String? {
    var index = NameIndex(type: "account")
    for account in accounts { index.add(id: account.id, name: account.name, former: account.former) }
    return index.find(word)
  }
}
