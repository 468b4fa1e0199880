import HouseholdRecords

extension WordKind {
  /// Throws a usage error that quotes the word if it does not look as it must.
  func check(_ word: String, as name: String) throws(CommandError) {
    switch self {
    case .text, .fieldWord: return
    case .choice(let values):
      guard !values.contains(word) else { return }
      throw .unknown("value", word, among: values, place: " for \(name)")
    case .duration:
      guard DurationWord(word) == nil else { return }
      throw bad(word, name, "no duration", "Write a number and a unit, such as 500ms, 2s, 10m, 3h or 5d.")
    case .integer(let bounds):
      guard Int(word).map(bounds.contains) != true else { return }
      throw bad(
        word, name, "no whole number in its bounds",
        bounds.upperBound == .max
          ? "Write a whole number of at least \(bounds.lowerBound)."
          : "Write a whole number from \(bounds.lowerBound) to \(bounds.upperBound).")
    case .day:
      guard CalendarDay(word) == nil else { return }
      throw bad(word, name, "no day of the calendar", "Write it as YYYY-MM-DD.")
    case .month:
      guard CalendarDay(word + "-01") == nil else { return }
      throw bad(word, name, "no month", "Write it as YYYY-MM.")
    case .address:
      guard AddressWord(word) == nil else { return }
      throw bad(word, name, "no address", "Write it as HOST:PORT, an IPv6 address in brackets: [::1]:7411.")
    case .file, .directory:
      guard word.isEmpty else { return }
      throw bad(word, name, "no path", "Name a path.")
    }
  }

  private func bad(_ word: String, _ name: String, _ what: String, _ remedy: String) -> CommandError {
    .usage("\(quoted(word)) for \(name) is \(what).", remedy: remedy, code: "badValue")
  }
}
