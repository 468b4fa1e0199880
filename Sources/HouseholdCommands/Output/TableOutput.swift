/// Rows for people: columns aligned by what they take on a terminal, one line per row whatever the texts hold.
package struct TableOutput: Sendable {
  /// One column.
  package struct Column: Sendable {
    let title: String
    let isRight: Bool

    /// A column of texts.
    package static func text(_ title: String) -> Self { Self(title: title, isRight: false) }
    /// A column of numbers, aligned at the right.
    package static func number(_ title: String) -> Self { Self(title: title, isRight: true) }
  }

  private let columns: [Column]
  private var rows: [[String]] = []

  package init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row with one cell for each column.
  package mutating func add(_ cells: [String]) {
    precondition(cells.count == columns.count, "A row has one cell for each column.")
    rows.append(cells.map(escapingControls))
  }

  /// Whether there is no row.
  package var isEmpty: Bool { rows.isEmpty }

  /// The header and the rows, without line ends.
  package var lines: [String] {
    let all = [columns.map(\.title)] + rows
    let widths = columns.indices.map { index in all.map { displayWidth($0[index]) }.max() ?? 0 }
    return all.map { cells in
      let padded = columns.indices.map { index in
        let space = String(repeating: " ", count: widths[index] - displayWidth(cells[index]))
        return columns[index].isRight ? space + cells[index] : cells[index] + space
      }
      var line = padded.joined(separator: "  ")[...]
      while line.last == " " { line.removeLast() }
      return String(line)
    }
  }
}
