import Foundation

/// One line of the table: what was measured, beside the same work done by plain SQLite, or by the floor.
struct BenchmarkRow: Codable {
  var name: String
  var unit: String
  /// Of the product.
  var measured: Spread
  /// Of its plain twin, measured in the same rounds; none where there is no such thing.
  var twin: Spread?
  /// Measured by twin, round by round.
  var ratio: Spread?
  /// What the milestone asks for, in words.
  var bar: String?
  /// Whether the bar is kept; none without a bar.
  var holds: Bool?

  /// A row without a twin.
  init(_ name: String, unit: String, _ values: [Double]) {
    self.name = name
    self.unit = unit
    measured = Spread(values)
  }

  /// A row whose rounds were interleaved with its twin's.
  init(_ name: String, unit: String, pairs: [(measured: Double, twin: Double)]) {
    self.init(name, unit: unit, pairs.map(\.measured))
    twin = Spread(pairs.map(\.twin))
    ratio = Spread(pairs.map { $0.measured / $0.twin })
  }

  /// The same row with the bar that it must keep.
  func mustKeep(_ bar: String, _ holds: (Self) -> Bool) -> Self {
    var row = self
    row.bar = bar
    row.holds = holds(self)
    return row
  }
}

/// The median of some values, with the least, the greatest and the 99th percentile.
struct Spread: Codable {
  var median: Double
  var least: Double
  var greatest: Double
  var percentile99: Double

  init(_ values: [Double]) {
    let sorted = values.sorted()
    precondition(!sorted.isEmpty, "every benchmark measures at least once")
    let middle = sorted.count / 2
    median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    least = sorted[0]
    greatest = sorted[sorted.count - 1]
    percentile99 = sorted[min(sorted.count - 1, Int((Double(sorted.count) * 0.99).rounded(.up)) - 1)]
  }

  /// Median and range, for people.
  var text: String { "\(Self.text(median)) (\(Self.text(least))-\(Self.text(greatest)))" }

  static func text(_ value: Double) -> String {
    let digits = value.magnitude < 10 ? 2 : value.magnitude < 100 ? 1 : 0
    return String(format: "%.\(digits)f", value)
  }
}

/// All rows of one run.
struct BenchmarkReport: Codable {
  var rows: [BenchmarkRow]
  var machine: String
  var date: String
  var records: Int

  /// The report as a JSON document.
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// The report as a table, which is Markdown at the same time.
  func table() -> String {
    var lines: [[String]] = [["what", "unit", "household", "twin", "ratio", "bar", ""]]
    for row in rows {
      lines.append([
        row.name, row.unit, row.measured.text, row.twin?.text ?? "", row.ratio?.text ?? "", row.bar ?? "",
        row.holds.map { $0 ? "kept" : "MISSED" } ?? "",
      ])
    }
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    lines.insert(widths.map { String(repeating: "-", count: max(3, $0)) }, at: 1)
    let body = lines.map { line in
      "| "
        + zip(line, widths).map { $0.padding(toLength: max($1, 3), withPad: " ", startingAt: 0) }
        .joined(separator: " | ") + " |"
    }
    return (["\(date), \(machine), \(records) transactions; median (least-greatest)", ""] + body)
      .joined(separator: "\n")
  }
}

/// What it was measured on.
enum Machine {
  static var description: String {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    var model = "unknown processor"
    if let text = FileManager.default.contents(atPath: "/proc/cpuinfo").map({ String(decoding: $0, as: UTF8.self) }),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("model name") }),
      let name = line.split(separator: ":").last
    {
      model = name.trimmingCharacters(in: .whitespaces)
    }
    return "\(ProcessInfo.processInfo.operatingSystemVersionString), \(processors) cores, \(model)"
  }

  static var today: String { String(Date.now.formatted(.iso8601).prefix(10)) }
}
