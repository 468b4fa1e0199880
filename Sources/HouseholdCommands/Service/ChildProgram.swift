import Glibc

/// Another program that is run to its end.
enum ChildProgram {
  /// What it said, on either output, and how it ended.
  struct Answer: Sendable {
    var code: Int32
    var text: String
  }

  /// Where a program of this name is, by `$PATH`; nil if it is nowhere.
  static func find(_ name: String, _ environment: [String: String]) -> String? {
    (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
      .first { unsafe access($0, X_OK) == 0 }
  }

  /// Runs it with these words and variables, and waits; nil if it cannot be run.
  static func run(_ path: String, _ words: [String], environment: [String: String]) -> Answer? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    let arguments = unsafe ([path] + words).map { unsafe strdup($0) } + [nil]
    let variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
    var child = pid_t()
    let result = unsafe posix_spawn(&child, path, &actions, nil, arguments, variables)
    close(ends[1])
    guard result == 0 else { return nil }
    let bytes = DescriptorReader.all(of: ends[0])
    var state: Int32 = 0
    while unsafe waitpid(child, &state, 0) < 0 && errno == EINTR {}
    let isExit = state & 0x7F == 0
    return Answer(
      code: isExit ? (state >> 8) & 0xFF : 128 + state & 0x7F,
      text: String(decoding: bytes, as: UTF8.self).split(separator: "\n").joined(separator: " "))
  }
}
