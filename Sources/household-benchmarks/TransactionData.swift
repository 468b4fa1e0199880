/// The transactions that are measured with: about 145 bytes each, the same in every run.
enum TransactionData {
  /// One transaction, as the columns that are filled.
  struct Row {
    var id: String
    var date: String
    var amountMinor: Int64
    var payee: String
    var category: String
    var member: String
    var note: String
  }

  /// The columns of the budget schema that are filled, in the order in which they are bound.
  static let columns = ["id", "date", "amount_minor", "currency", "payee", "category", "member", "note"]

  private static let firstWords = [
    "Corner", "Green", "North", "City", "Old", "Blue", "Royal", "Sunny", "Village", "Harbor",
  ]
  private static let secondWords = [
    "Grocers", "Bakery", "Pharmacy", "Petrol", "Cafe", "Hardware", "Books", "Clinic", "Butcher", "Market", "Cinema",
    "Florist",
  ]
  private static let noteWords = """
    weekly shop milk bread eggs refund birthday gift school trip lunch dinner fuel commute rent share electricity \
    water internet phone shoes jacket repair dentist vet cat food garden plants holiday deposit train ticket parking \
    coffee with friends split later
    """.split(separator: " ").map(String.init)

  /// So many transactions, in an order that their ids do not follow.
  static func rows(_ count: Int) -> [Row] {
    var random = SplitMix(state: 20_261_130)
    let categories = (0..<40).map { _ in uuid(&random) }
    return (0..<count).map { _ in
      let date =
        "20\(Int.random(in: 15...26, using: &random))-\(twoDigits(1...12, &random))-\(twoDigits(1...28, &random))"
      let words = (0..<Int.random(in: 4...9, using: &random)).map { _ in one(of: noteWords, &random) }
      return Row(
        id: uuid(&random), date: date, amountMinor: .random(in: -50_000...50_000, using: &random),
        payee: one(of: firstWords, &random) + " " + one(of: secondWords, &random),
        category: one(of: categories, &random), member: one(of: ["anna", "bob", "chloe", "dan"], &random),
        note: words.joined(separator: " "))
    }
  }

  private static func one(of list: [String], _ random: inout SplitMix) -> String {
    list[Int.random(in: 0..<list.count, using: &random)]
  }

  private static func twoDigits(_ range: ClosedRange<Int>, _ random: inout SplitMix) -> String {
    let number = Int.random(in: range, using: &random)
    return number < 10 ? "0\(number)" : "\(number)"
  }

  private static func uuid(_ random: inout SplitMix) -> String {
    let digits = (0..<32).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }
    let lengths = [8, 4, 4, 4, 12]
    var start = 0
    return lengths.map { length in
      defer { start += length }
      return digits[start..<start + length].joined()
    }.joined(separator: "-")
  }
}

/// A small generator with a seed. Source: SplitMix64, Steele and others 2014.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
