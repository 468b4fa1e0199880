/// systemctl, for the units of a user or of the machine: asks it where it is, and knows what to type where it is not.
struct SystemControl: Sendable {
  let isSystem: Bool
  private let environment: [String: String]
  private let program: String?

  init(isSystem: Bool, environment: [String: String]) {
    self.isSystem = isSystem
    self.environment = environment
    program = ChildProgram.find("systemctl", environment)
  }

  private var scope: [String] { isSystem ? [] : ["--user"] }

  /// A call as a person types it.
  func line(_ words: [String]) -> String {
    ((isSystem ? ["sudo", "systemctl"] : ["systemctl"]) + scope + words).joined(separator: " ")
  }

  /// Runs a call; nil where there is no systemctl.
  func ask(_ words: [String]) -> ChildProgram.Answer? {
    program.flatMap { ChildProgram.run($0, scope + words, environment: environment) }
  }

  /// Runs the calls in order until one fails; why, and those that are left to do, that one included.
  func obey(_ calls: [[String]]) -> (reason: String?, left: [String]) {
    for (index, call) in calls.enumerated() {
      let left = calls[index...].map(line)
      guard let answer = ask(call) else { return ("systemd is not here: there is no systemctl in the PATH", left) }
      guard answer.code == 0 else {
        return (
          answer.text.isEmpty ? "systemctl \(call[0]) ended with \(answer.code)" : "systemd says: \(answer.text)", left
        )
      }
    }
    return (nil, [])
  }

  /// One word that it answers, whatever it exits with; nil where it cannot be asked or has nothing to say of it.
  func word(_ words: [String]) -> String? {
    guard let answer = ask(words), !answer.text.isEmpty, !answer.text.hasPrefix("Failed") else { return nil }
    return answer.text
  }
}
