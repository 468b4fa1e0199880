import HouseholdNode

/// `mode`: with whom this device shares.
struct ModeCommand: Command {
  let description = CommandDescription(
    "mode", group: .household, summary: "Show with whom this device shares, or switch sharing off and on.",
    discussion: """
      off: a store on this device alone, which no node serves. personal: your own devices. owner: others are in, or \
      invited, and you decide who belongs. participant: you have joined others. Inviting somebody turns personal into \
      owner, joining turns any into participant. Only who is alone can switch sharing off; edits made meanwhile are \
      captured, and shared with their own times once it is on again. No node may run.
      """,
    operands: [Operand("MODE", .optional, help: "off, or personal to switch sharing on again.")])

  private struct Result: Encodable {
    var mode: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let directory = try invocation.directory()
    if let word = invocation.optionalOperand("MODE") {
      guard let wanted = SharingMode(rawValue: word), wanted == .off || wanted == .personal else {
        throw CommandError.usage(
          "\(quoted(word)) is no mode that can be chosen.",
          remedy: "Say off or personal; inviting and joining lead to the others.", code: "badMode")
      }
      try SharingMode.switchOff(wanted == .off, directory)
    }
    let mode = try SharingMode.current(directory)
    try output.result(Result(mode: mode.rawValue)) { try output.line(mode.rawValue) }
    return .done
  }
}
