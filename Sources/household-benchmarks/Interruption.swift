import Glibc
import Synchronization

/// Ctrl-C and SIGTERM end the waiting, so that everything is stopped and removed as after a failure.
enum Interruption {
  private static let hasCome = Atomic<Bool>(false)

  static func watch() {
    for number in [SIGTERM, SIGINT] {
      _ = signal(number) { _ in Interruption.hasCome.store(true, ordering: .relaxed) }
    }
  }

  /// Throws if one of them has come.
  static func check() throws {
    if hasCome.load(ordering: .relaxed) { throw BenchmarkError(description: "interrupted") }
  }
}
