package import HouseholdRecords

/// How far something has come, drawn over one line of the terminal once it has taken longer than a second.
package struct ProgressBar {
  private let label: String
  private let total: Int
  private let output: Output
  private let clock: () -> Tick
  private let start: Tick
  private var lastDrawn: Tick?

  /// What takes shorter than this shows no bar, in milliseconds.
  package static let patienceMilliseconds: Int64 = 1000
  /// A bar is drawn at most this often, in milliseconds.
  package static let intervalMilliseconds: Int64 = 100

  /// A bar for `total` steps; nothing is drawn where standard error is no terminal, under `--quiet` and `--json`.
  package init(
    _ label: String, total: Int, output: Output, clock: @escaping () -> Tick = ProgressBar.monotonicTick
  ) {
    self.label = label
    self.total = total
    self.output = output
    self.clock = clock
    start = clock()
  }

  /// Says that `done` steps are done, and draws if it is time.
  package mutating func update(_ done: Int) {
    guard output.canDraw else { return }
    let now = clock()
    guard now >= start.advanced(byMilliseconds: Self.patienceMilliseconds) else { return }
    if let lastDrawn, now < lastDrawn.advanced(byMilliseconds: Self.intervalMilliseconds) { return }
    lastDrawn = now
    output.draw("\r\(Self.line(label, done: done, total: total, width: output.width))\u{1B}[K")
  }

  /// Wipes the bar; what comes next starts on a clean line.
  package mutating func finish() {
    if lastDrawn != nil { output.draw("\r\u{1B}[K") }
    lastDrawn = nil
  }

  /// The bar as text of at most `width` columns less one.
  package static func line(_ label: String, done: Int, total: Int, width: Int) -> String {
    let fraction = total > 0 ? min(max(Double(done) / Double(total), 0), 1) : 0
    let percent = " \(Int(fraction * 100)) %"
    let label = escapingControls(label)
    let room = min(width - 1 - displayWidth(label) - displayWidth(percent) - 1, 40)
    guard room >= 4 else { return label + percent }
    let eighths = Int(fraction * Double(room * 8))
    let whole = String(repeating: "█", count: eighths / 8)
    let part = eighths % 8 == 0 ? "" : String(["▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8 - 1])
    return "\(label) \(whole)\(part)\(String(repeating: "░", count: room - whole.count - part.count))\(percent)"
  }

  /// Now, on this machine's clock that only runs forward.
  package static func monotonicTick() -> Tick {
    let elapsed = origin.duration(to: .now).components
    return Tick(milliseconds: elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000)
  }

  private static let origin = ContinuousClock.now
}
