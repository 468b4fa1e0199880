import Glibc

/// How long things take, in milliseconds of wall time.
struct Stopwatch {
  private let begin = ContinuousClock.now

  var milliseconds: Double { Self.milliseconds(ContinuousClock.now - begin) }

  /// The duration as a number.
  static func milliseconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1000 + Double(attoseconds) / 1e15
  }

  /// How long the body takes.
  static func time(_ body: () throws -> Void) rethrows -> Double {
    let watch = Stopwatch()
    try body()
    return watch.milliseconds
  }
}

/// Waiting for what another process does.
enum Patience {
  /// Looks again and again until `isDone`.
  ///
  /// - Parameters:
  ///   - microseconds: the pause between two looks, which is also how exact the time is.
  ///   - seconds: when to give up.
  static func wait(
    for what: String, microseconds: UInt32, seconds: Double = 300, until isDone: () throws -> Bool
  ) throws {
    let watch = Stopwatch()
    while try !isDone() {
      try Interruption.check()
      guard watch.milliseconds < seconds * 1000 else {
        throw BenchmarkError(description: "waited \(Int(seconds)) s in vain for \(what)")
      }
      usleep(microseconds)
    }
  }

  /// Lets a moment pass.
  static func pause(microseconds: UInt32) throws {
    try Interruption.check()
    usleep(microseconds)
  }

  /// Lets time pass.
  static func pause(seconds: Int) throws {
    let watch = Stopwatch()
    try wait(for: "the end of a pause", microseconds: 100_000) { watch.milliseconds >= Double(seconds) * 1000 }
  }
}
