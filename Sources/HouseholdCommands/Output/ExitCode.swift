/// What the process ends with, as sysexits.h numbers it: a script can act on it without reading text.
package struct ExitCode: RawRepresentable, Hashable, Sendable {
  /// The number that the shell sees.
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Done.
  package static let done = Self(rawValue: 0)
  /// The operation failed.
  package static let failed = Self(rawValue: 1)
  /// The words were not understood; nothing was done.
  package static let usage = Self(rawValue: 64)
  /// The node is needed and not running.
  package static let nodeNotRunning = Self(rawValue: 69)
  /// Locked or unreachable: the same words may work later.
  package static let tryAgain = Self(rawValue: 75)
  /// The role does not allow it, or the right was lost.
  package static let notAllowed = Self(rawValue: 77)

  /// The verdict of `status`: 0 in sync, 1 pending, 2 degraded, 3 broken.
  package static func verdict(_ number: Int32) -> Self {
    precondition((0...3).contains(number), "A verdict is a number from 0 to 3.")
    return Self(rawValue: number)
  }
}
