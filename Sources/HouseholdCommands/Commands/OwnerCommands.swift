import HouseholdNode

/// `remove`: ends the membership of a person or device.
struct RemoveCommand: Command {
  let description = CommandDescription(
    "remove", group: .household, summary: "Remove a member with all devices, or one device.",
    discussion: """
      The removed device is cut off at once and told; it keeps what it had. What it wrote before it heard and gave to \
      a third device is still taken in: undoing that is not built yet. The node must run.
      """,
    operands: [Operand("MEMBER_OR_DEVICE", help: "A name or an id; see household members.")],
    options: [.flag("yes", help: "Do not ask.")])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let word = invocation.operand("MEMBER_OR_DEVICE")
    if !invocation.flag("yes") {
      guard try Question.confirm("Remove \(quoted(word)) from the household?", instead: "--yes", output: output) else {
        throw CommandError(code: "declined", message: "Nobody was removed.", remedy: "")
      }
    }
    try ask(.remove(word), invocation)
    try output.result(["removed": word]) { output.note("Removed \(quoted(word)).") }
    return .done
  }
}

/// `retire`: ends one device of a member who stays.
struct RetireCommand: Command {
  let description = CommandDescription(
    "retire", group: .household, summary: "Retire a device that is not used any more.",
    operands: [Operand("DEVICE", help: "The device's name or id.")])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let word = invocation.operand("DEVICE")
    try ask(.retire(word), invocation)
    try output.result(["retired": word]) { output.note("Retired \(quoted(word)).") }
    return .done
  }
}

/// `rename`: another name for a member or device.
struct RenameCommand: Command {
  let description = CommandDescription(
    "rename", group: .household, summary: "Give a member or device another name.",
    operands: [
      Operand("MEMBER_OR_DEVICE", help: "The name or id it has."), Operand("NAME", help: "The name it gets."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let word = invocation.operand("MEMBER_OR_DEVICE")
    let name = invocation.operand("NAME")
    try ask(.rename(word, to: name), invocation)
    try output.result(["renamed": word, "name": name]) { output.note("\(quoted(word)) is \(quoted(name)) now.") }
    return .done
  }
}

/// Lets the node do it: it alone writes the membership log.
private func ask(_ request: ControlRequest, _ invocation: Invocation) throws {
  let directory = try invocation.directory()
  try directory.requireHousehold()
  let client = try ControlClient.require(directory)
  defer { client.hangUp() }
  _ = try client.ask(request)
}
