/// Joins payments that a bank spreads over two lines of CSV: one with the day, and under it one that goes on.
///
/// A line goes on if it has no day and, where the line above has an amount, none. Only a file in which at least three of
/// four payments go on is of this kind: elsewhere a line without a day is a mistake, or the file's last words.
enum TwoLineRecords {
  static func joined(_ rows: [CSVRow], layout: BankLayout) -> [CSVRow] {
    var (payments, further, isUnderDay) = (0, 0, false)
    for (index, row) in rows.enumerated() {
      if hasDay(row, layout) {
        payments += 1
      } else {
        guard index > 0, goesOn(row, after: rows[index - 1], layout) else { return rows }
        further += 1
        isUnderDay = isUnderDay || !isBlank(layout.cell(.date, of: row) ?? "")
      }
    }
    guard further > 0, further * 4 >= payments * 3, payments > 1 || !isUnderDay else { return rows }
    var joined: [CSVRow] = []
    for row in rows {
      if hasDay(row, layout) {
        joined.append(row)
      } else if let above = joined.popLast() {
        joined.append(join(above, row, layout))
      }
    }
    return joined
  }

  private static func hasDay(_ row: CSVRow, _ layout: BankLayout) -> Bool {
    layout.cell(.date, of: row).map { DayText($0) != nil } ?? false
  }

  private static func hasAmount(_ row: CSVRow, _ layout: BankLayout) -> Bool {
    [BankLayout.Role.amount, .debit, .credit].contains { !isBlank(layout.cell($0, of: row) ?? "") }
  }

  /// A text where the day would be is one that goes on only if it is all there is: else it is a day written wrongly.
  private static func goesOn(_ row: CSVRow, after above: CSVRow, _ layout: BankLayout) -> Bool {
    guard hasDay(above, layout), hasAmount(row, layout) != hasAmount(above, layout) else { return false }
    return isBlank(layout.cell(.date, of: row) ?? "") || row.fields.count { !isBlank($0) } == 1
  }

  /// Both lines as one record, column by column; a text under the day, or in a column that is nothing, goes to the note.
  private static func join(_ first: CSVRow, _ second: CSVRow, _ layout: BankLayout) -> CSVRow {
    let width = max(first.fields.count, layout.columnCount)
    var fields = first.fields + Array(repeating: "", count: width - first.fields.count)
    let quotes = first.isQuoted + Array(repeating: false, count: width - first.isQuoted.count)
    let roles = Dictionary(layout.columns.map { ($0.value, $0.key) }) { one, _ in one }
    let text = layout.columns[.note] ?? layout.columns[.payee]
    for (column, cell) in second.fields.enumerated() where !isBlank(cell) {
      let isKnown = roles[column].map { $0 != .date } ?? false
      guard let target = isKnown ? column : text, target < width else { continue }
      fields[target] = isBlank(fields[target]) ? cell : "\(fields[target]) \(cell)"
    }
    return CSVRow(line: first.line, fields: fields, isQuoted: quotes)
  }
}
