import HouseholdRecords

/// Collects what an import would write, and finds or makes the accounts and categories that rows name.
struct PlanBuilder {
  let options: ImportOptions
  let context: ImportContext
  private(set) var records: [ImportedRecord] = []
  private(set) var added = 0
  private(set) var known = 0
  private(set) var skipped: [SkippedLine] = []
  private(set) var updates: [ImportedRecord] = []
  private(set) var notes: [String] = []
  /// The rows of this file by the import id that their bank id makes.
  var bankRows: [String: BankRows] = [:]
  let aliases: AliasPatterns
  /// How the file is read; empty for formats that leave nothing open.
  private(set) var reading = ImportChoices()
  /// What the file proves about how files of its account are to be read.
  private(set) var proven = ImportChoices()
  /// The transfers among the new rows and what is here.
  var transfers = NewTransfers()

  private var accounts: NameIndex
  private var accountCurrencies: [RecordKey: String] = [:]
  /// For each account that shows, those that are one thing with it.
  private var formerAccounts: [RecordKey: [String]] = [:]
  private var groups: NameIndex
  private var categories: NameIndex
  private var categoriesByGroup: [String: NameIndex] = [:]
  /// The line on which each record of the file stands.
  private var lines: [RecordKey: Int] = [:]
  /// How many rows of the file have the same content, by its digest.
  private var ordinals: [ContentDigest: Int] = [:]
  /// The account that was asked for last: most files are of one.
  private var lastAccount: (word: String, id: String)?
  let payeeField: FieldDefinition?
  let noteField: FieldDefinition?
  private let progress: ((Int, Int) -> Void)?
  /// Takes weak records at once instead of keeping them: a large file's rows would fill the memory.
  private let writing: ((ImportedRecord) throws -> Void)?

  init(
    options: ImportOptions, context: ImportContext, progress: ((Int, Int) -> Void)? = nil,
    writing: ((ImportedRecord) throws -> Void)? = nil
  ) {
    self.progress = progress
    self.writing = writing
    self.options = options
    self.context = context
    aliases = AliasPatterns(context.aliases)
    let transaction = context.schema.type("transaction")
    (payeeField, noteField) = (transaction?.field("payee"), transaction?.field("note"))
    accounts = NameIndex(type: "account")
    groups = NameIndex(type: "category_group")
    categories = NameIndex(type: "category")
    for account in context.accounts {
      let key = RecordKey(type: "account", id: account.id)
      accounts.add(id: account.id, name: account.name, former: account.former)
      accountCurrencies[key] = account.currency
      formerAccounts[key] = account.former
    }
    for group in context.groups { groups.add(id: group.id, name: group.name) }
    for category in context.categories {
      categories.add(id: category.id, name: category.name)
      if let group = category.group { add(category.id, named: category.name, toGroup: group) }
    }
  }

  // MARK: Rows

  /// Reads one row of the file after the other, and says how far it is.
  mutating func read<Row>(each rows: [Row], _ body: (Row, inout PlanBuilder) throws -> Void) rethrows {
    for (index, row) in rows.enumerated() {
      if index.isMultiple(of: 256) { progress?(index, rows.count) }
      try body(row, &self)
    }
  }

  /// Notes that something in the file is not taken.
  ///
  /// - Parameter isFault: whether something is wrong with it, which `--strict` does not let pass.
  mutating func skip(line: Int, _ reason: String, isFault: Bool = true) {
    skipped.append(SkippedLine(line: line, reason: reason, isFault: isFault))
  }

  /// Says something about the whole file that a person should know.
  mutating func note(_ sentence: String) {
    guard notes.count < Limits.unreadableLines else { return }
    notes.append(sentence)
  }

  /// Takes note of how the file is read, and of what it proves.
  mutating func read(as layout: ImportChoices, _ dialect: FileDialect) {
    reading = layout.over(dialect.choices)
    proven = dialect.proven
    if let sentence = dialect.note { note(sentence) }
  }

  /// Takes what a bank says anew about a record that an import made.
  mutating func update(_ record: ImportedRecord) { updates.append(record) }

  /// Takes a part of a record of the file, unless anything was ever heard of it.
  mutating func addPart(_ record: ImportedRecord) throws {
    guard try context.presence(RecordKey(type: record.type, id: record.id)) == .absent else { return }
    try keep(record)
  }

  /// Notes that a record of the file is here already and stays as it is.
  mutating func countKnown() { known += 1 }

  /// Whether a record of the file is new here: else it is counted as known, or skipped when it stands there twice.
  ///
  /// - Parameter former: other ids under which it may be here.
  mutating func isNew(_ key: RecordKey, or former: [RecordKey] = [], line: Int) throws -> Bool {
    if let other = lines.updateValue(line, forKey: key) {
      skip(line: line, "the id \(quoted(key.id)) stands on line \(other) already")
      return false
    }
    return try isUnknown([key] + former)
  }

  /// Whether nothing was ever heard of a record under any of its ids, which no other record of the file has; else it is
  /// counted as known.
  mutating func isUnknown(_ keys: [RecordKey]) throws -> Bool {
    guard try keys.allSatisfy({ try context.presence($0) == .absent }) else {
      known += 1
      return false
    }
    return true
  }

  /// Takes a record of the file, which must be new.
  mutating func add(_ record: ImportedRecord) throws {
    added += 1
    try keep(record)
  }

  private mutating func keep(_ record: ImportedRecord) throws {
    if record.isWeak, let writing { try writing(record) } else { records.append(record) }
  }

  /// Whoever may own a row in its import ids: the account, and then all that are one thing with it. Which of them shows
  /// may have changed since the row was imported first.
  func owners(_ account: String?) -> [String] {
    guard let account else { return [""] }
    return [account] + (formerAccounts[RecordKey(type: "account", id: account)] ?? [])
  }

  /// The import ids of a row that no bank named, of which a new row gets the first: they follow from the account (see
  /// ``owners(_:)``), the day, the amount and the text.
  ///
  /// Equal rows of one file are told apart by their order among themselves, so that statements that overlap meet as
  /// long as they hold whole days. Texts are compared folded: encoding, case and line ends make no difference.
  mutating func importIDs(account: String?, date: String, amount: Int64, text: [String]) -> [String] {
    let content = [date, String(amount)] + text.map(foldedKey)
    let parts = owners(account).map { ["household/import/1", $0] + content }
    let first = ContentID.digest(parts[0] + ["1"], sha256: context.sha256)
    let ordinal = ordinals[ContentDigest(first), default: 0] + 1
    ordinals[ContentDigest(first)] = ordinal
    let others = parts.dropFirst(ordinal == 1 ? 1 : 0).map {
      ContentID.id($0 + [String(ordinal)], sha256: context.sha256)
    }
    return (ordinal == 1 ? [hexadecimal(first)] : []) + others
  }

  // MARK: Accounts and categories

  /// The account with this name or id, made if it is not there.
  mutating func account(_ word: String, currency: String?) throws -> String {
    if let lastAccount, lastAccount.word == word { return lastAccount.id }
    let id = try accounts.find(word) ?? newAccount(word, currency: currency)
    lastAccount = (word, id)
    return id
  }

  private mutating func newAccount(_ word: String, currency: String?) throws -> String {
    let id = try idForNew("account", folded: foldedKey(word), among: accounts)
    let key = RecordKey(type: "account", id: id)
    accounts.add(id: id, name: word)
    if accountCurrencies[key] == nil { accountCurrencies[key] = currency }
    try make("account", id, ["name": .text(word), "currency": currency.map(FieldValue.text) ?? .null])
    return id
  }

  /// The currency of an account, as far as it is known.
  func currency(ofAccount id: String) -> String? { accountCurrencies[RecordKey(type: "account", id: id)] }

  /// The id of the account that the options name, as soon as it is there.
  var accountID: String? { options.account.flatMap { accounts.find($0) } }

  /// The account that a word of the options names, if it is there: its currency counts before its rows are read.
  func currency(ofAccountNamed word: String) -> String? { accounts.find(word).flatMap { currency(ofAccount: $0) } }

  /// The category with this name or id, made if it is not there.
  ///
  /// `Income:Tax` is the category Tax of the group Income, unless a category has that whole name. A new category goes
  /// into the group that it names, else into Living.
  mutating func category(_ word: String) throws -> String {
    if let id = categories.find(word) { return id }
    var (group, name) = (BudgetSchema.BuiltIn.living, word)
    if let colon = word.unicodeScalars.firstIndex(of: ":"), let named = groups.find(String(word[..<colon])) {
      (group, name) = (named, String(word[word.unicodeScalars.index(after: colon)...]))
      if let id = categoriesByGroup[group]?.find(name) { return id }
    }
    let id = try idForNew("category", folded: foldedKey(word), among: categories)
    categories.add(id: id, name: word)
    add(id, named: name, toGroup: group)
    try make("category", id, ["name": .text(name), "group": .text(group)])
    return id
  }

  private mutating func add(_ category: String, named name: String?, toGroup group: String) {
    categoriesByGroup[group, default: NameIndex(type: "category")].add(id: category, name: name)
  }

  /// The id that follows from the name; of names that were deleted here before, the next one.
  ///
  /// An id that is here under another name now (it was renamed) is taken, or what it is one thing with: whoever renamed it
  /// goes on getting its rows.
  private func idForNew(_ type: String, folded: String, among index: NameIndex) throws -> String {
    var parts = ["household/\(type)", folded]
    while true {
      let id = ContentID.id(parts, sha256: context.sha256)
      if let shown = index.shown(id) { return shown }
      if try context.presence(RecordKey(type: type, id: id)) != .deleted { return id }
      parts.append("again")
    }
  }

  private mutating func make(_ type: String, _ id: String, _ fields: [String: FieldValue]) throws {
    guard try context.presence(RecordKey(type: type, id: id)) == .absent else { return }
    try keep(ImportedRecord(type: type, id: id, fields: fields, isWeak: true))
  }
}

/// Records of one type by their folded names and by their ids; names go first.
///
/// The id of a record that is one thing with another one finds that.
struct NameIndex {
  private let type: String
  private var byName: [String: String] = [:]
  private var ids: [RecordKey: String] = [:]

  init(type: String) { self.type = type }

  /// Of several with one name the smallest id counts, as in a merge of equal names.
  mutating func add(id: String, name: String?, former: [String] = []) {
    for other in former + [id] { ids[RecordKey(type: type, id: other)] = id }
    guard let name else { return }
    let key = foldedKey(name)
    if let other = byName[key], !id.utf8.lexicographicallyPrecedes(other.utf8) { return }
    byName[key] = id
  }

  func find(_ word: String) -> String? {
    if let id = byName[foldedKey(word)] { return id }
    return shown(word)
  }

  /// The id that shows for this one; nil if it is not here.
  func shown(_ id: String) -> String? { ids[RecordKey(type: type, id: id)] }
}

/// The 16 bytes of a content's id, cheap to hash: every row of a file has one.
private struct ContentDigest: Hashable {
  private let high: UInt64
  private let low: UInt64

  init(_ bytes: [UInt8]) {
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Ids that follow from content, so that two devices that import the same thing make one record.
enum ContentID {
  /// 32 hexadecimal digits of SHA-256 over the parts, each with its length in front.
  static func id(_ parts: [String], sha256: ([UInt8]) -> [UInt8]) -> String {
    hexadecimal(digest(parts, sha256: sha256))
  }

  /// The 16 bytes of the id.
  static func digest(_ parts: [String], sha256: ([UInt8]) -> [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parts.reduce(0) { $0 + $1.utf8.count + 5 })
    for (index, part) in parts.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: String(part.utf8.count).utf8)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: part.utf8)
    }
    return Array(sha256(bytes).prefix(16))
  }

  /// The parts as one text that no other parts have.
  static func spelled(_ parts: [String]) -> String {
    parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
  }
}
