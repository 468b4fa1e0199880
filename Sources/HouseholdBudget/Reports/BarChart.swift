/// The rows of a report as bars in one SVG file that needs nothing else and looks right by day and night.
package enum BarChart {
  private static let (width, left, bar, rowHeight) = (860, 230, 470, 30)
  /// More bars than this are no picture any more; the rest is one bar.
  private static let barLimit = 30

  /// The text of the file.
  package static func svg(_ report: Report, title: String) -> String {
    var body = ""
    var top = 24
    body += text(title, x: 24, y: top + 8, style: "font-size:20px;font-weight:600")
    top += 36
    for section in report.sections { top = append(section, at: top, to: &body) }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(top + 12)" width="\(width)" height="\(top + 12)" role="img" aria-label="\(escaped(title))">
      <style>
      text { font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; font-size: 14px; fill: #1d2530; }
      .paper { fill: #ffffff; } .out { fill: #c2573f; } .in { fill: #3d8b6b; } .quiet { fill: #667180; }
      @media (prefers-color-scheme: dark) { text { fill: #e7eaef; } .paper { fill: #161b22; } .quiet { fill: #9aa5b3; } }
      </style>
      <rect class="paper" width="100%" height="100%"/>
      \(body)</svg>

      """
  }

  private static func append(_ section: Report.Section, at start: Int, to body: inout String) -> Int {
    var top = start
    let total = "\(grouped(section.totalMinor, section.currency)) \(section.currency ?? "")"
    body += text("\(section.currency ?? "no currency"), total \(total)", x: 24, y: top + 14, style: "", class: "quiet")
    top += 30
    let rows = shown(section.rows)
    let most = rows.map(\.amountMinor.magnitude).max() ?? 1
    for row in rows {
      let length = max(1, Int(Double(row.amountMinor.magnitude) / Double(max(most, 1)) * Double(bar)))
      let kind = row.amountMinor < 0 ? "out" : "in"
      body += text(cut(row.key), x: left - 12, y: top + 19, style: "text-anchor:end")
      body +=
        "<rect class=\"\(kind)\" x=\"\(left)\" y=\"\(top + 4)\" width=\"\(length)\" height=\"\(rowHeight - 10)\" rx=\"3\"/>\n"
      body += text(grouped(row.amountMinor, section.currency), x: left + length + 8, y: top + 19, style: "")
      top += rowHeight
    }
    return top + 14
  }

  private static func shown(_ rows: [Report.Row]) -> [Report.Row] {
    guard rows.count > barLimit else { return rows }
    let largest = rows.indices.sorted { rows[$0].amountMinor.magnitude > rows[$1].amountMinor.magnitude }
    let kept = Set(largest.prefix(barLimit - 1))
    let rest = rows.indices.filter { !kept.contains($0) }
    let sum = rest.reduce(Int128(0)) { $0 + Int128(rows[$1].amountMinor) }
    let other = Report.Row(
      key: "\(rest.count) more", count: rest.reduce(0) { $0 + rows[$1].count }, amountMinor: Int64(clamping: sum))
    return rows.indices.filter(kept.contains).map { rows[$0] } + [other]
  }

  private static func text(_ text: String, x: Int, y: Int, style: String, class name: String = "") -> String {
    let attributes = (style.isEmpty ? "" : " style=\"\(style)\"") + (name.isEmpty ? "" : " class=\"\(name)\"")
    return "<text x=\"\(x)\" y=\"\(y)\"\(attributes)>\(escaped(text))</text>\n"
  }

  /// Major units with thin blanks between thousands, which no reader takes for a decimal mark.
  private static func grouped(_ minor: Int64, _ currency: String?) -> String {
    let plain = Currency.text(minor.magnitude, currency)
    let whole = plain.prefix { $0 != "." }
    var groups: [Substring] = []
    var rest = whole
    while !rest.isEmpty {
      groups.insert(rest.suffix(3), at: 0)
      rest = rest.dropLast(3)
    }
    return (minor < 0 ? "\u{2212}" : "") + groups.joined(separator: "\u{2009}") + plain.dropFirst(whole.count)
  }

  private static func cut(_ key: String) -> String {
    let line = onOneLine(key) ?? "none"
    return line.count > 28 ? "\(line.prefix(27))…" : line
  }

  /// For XML: what it cannot hold at all is left out.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": continue
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
