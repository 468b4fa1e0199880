package import HouseholdRecords

/// A payment that may be one end of a transfer between two accounts of the household.
package struct TransferLeg: Hashable, Sendable {
  package var id: String
  package var day: CalendarDay
  package var amount: Int64
  package var currency: String?
  /// The id of its account.
  package var account: String

  package init(id: String, day: CalendarDay, amount: Int64, currency: String?, account: String) {
    self.id = id
    self.day = day
    self.amount = amount
    self.currency = currency
    self.account = account
  }
}

/// Which payments are the two ends of one transfer between accounts of the household.
///
/// Two payments on different accounts, of one currency, with opposite amounts and at most four days apart, which nobody
/// gave a category or parts. Of several that could be the other end the nearest by day is taken, then by id. It is a
/// function of the records alone, so every device sees the same transfers; nothing is written and no money is merged.
/// Whoever gives one end a category says by that that it is none.
package struct Transfers: Hashable, Sendable {
  /// Both ends.
  package struct Pair: Hashable, Sendable {
    package var out: TransferLeg
    package var back: TransferLeg
  }

  /// By the day on which the money left, then by id.
  package private(set) var pairs: [Pair] = []
  private var ids: Set<RecordKey> = []

  /// What transfers stand under in a report by category: no category's name.
  package static let key = "(transfers)"

  package init(_ legs: some Sequence<TransferLeg>) {
    var open = OpenLegs(legs.filter { $0.amount > 0 })
    for out in legs.filter({ $0.amount < 0 }).sorted(by: OpenLegs.isBefore) {
      guard let back = open.take(other: out) else { continue }
      pairs.append(Pair(out: out, back: back))
      for leg in [out, back] { ids.insert(Self.key(leg.id)) }
    }
  }

  /// Whether a transaction is one end of a transfer.
  package func holds(_ transaction: String) -> Bool { !ids.isEmpty && ids.contains(Self.key(transaction)) }

  private static func key(_ id: String) -> RecordKey { RecordKey(type: "transaction", id: id) }
}

/// Ends of transfers whose other ends are looked for, by currency and amount.
struct OpenLegs {
  private struct Key: Hashable {
    let amount: Int64
    let currency: TextBytes?

    init(_ amount: Int64, _ currency: String?) {
      self.amount = amount
      self.currency = currency.map(TextBytes.init)
    }
  }

  /// The days between the two ends: a weekend and a holiday.
  private static let settlingDays: Int64 = 4

  /// In the order of `isBefore`.
  private var legs: [Key: [TransferLeg]] = [:]

  /// More legs than this, all of one amount within the days, are not looked through for each of their other ends.
  private static let candidateLimit = 256

  init(_ legs: some Sequence<TransferLeg>) {
    for leg in legs { self.legs[Key(leg.amount, leg.currency), default: []].append(leg) }
    for key in self.legs.keys { self.legs[key]?.sort(by: Self.isBefore) }
  }

  static func isBefore(_ a: TransferLeg, _ b: TransferLeg) -> Bool {
    a.day == b.day ? a.id.isBefore(b.id) : a.day < b.day
  }

  /// Takes the nearest leg that can be the other end out of the list; nil if there is none.
  mutating func take(other leg: TransferLeg) -> TransferLeg? {
    guard leg.amount != .min, leg.amount != 0 else { return nil }
    let key = Key(-leg.amount, leg.currency)
    guard let list = legs[key] else { return nil }
    let (first, last) = (leg.day.dayNumber - Self.settlingDays, leg.day.dayNumber + Self.settlingDays)
    var best: (index: Int, distance: Int64)?
    for index in (Self.start(of: first, in: list)..<list.count).prefix(Self.candidateLimit) {
      let other = list[index]
      if other.day.dayNumber > last { break }
      let distance = abs(other.day.dayNumber - leg.day.dayNumber)
      if other.account != leg.account, distance < best?.distance ?? .max { best = (index, distance) }
    }
    guard let best else { return nil }
    return legs[key]?.remove(at: best.index)
  }

  /// The place of the first leg that is not before the day.
  private static func start(of day: Int64, in list: [TransferLeg]) -> Int {
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if list[middle].day.dayNumber < day { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension BudgetRecords {
  /// The transfers among the transactions.
  package var transfers: Transfers { Transfers(transferLegs) }

  /// The transactions that may be one end of a transfer.
  package var transferLegs: [TransferLeg] { transactions.compactMap(transferLeg) }

  private func transferLeg(_ transaction: Transaction) -> TransferLeg? {
    guard let day = transaction.day, let account = transaction.account, hasAccount(account),
      transaction.category == nil || transaction.category == BudgetSchema.BuiltIn.uncategorised,
      !hasSplits(transaction)
    else { return nil }
    return TransferLeg(
      id: transaction.id, day: day, amount: transaction.amount, currency: transaction.currency, account: account)
  }
}
