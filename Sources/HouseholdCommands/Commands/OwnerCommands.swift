import HouseholdNode

/// `remove`: ends the membership of a person or device.
struct RemoveCommand: Command {
  let description = CommandDescription(
    "remove", group: .household, summary: "Remove a member with all devices, or one device.",
    discussion: """
      The removed device is cut off at once and told; it keeps what it had. What it wrote that this node has counts; \
      whatever comes later, also by way of a third device, is kept aside (household rejected). The node must run.
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

/// `promote`: a member may do more.
struct PromoteCommand: Command {
  let description = CommandDescription(
    "promote", group: .household, summary: "Make a read-only member a member, or a member an owner.",
    discussion: """
      An owner decides who belongs and can invite: the share's key goes to the devices of the new owner as soon as they \
      are connected. The node must run.
      """,
    operands: [Operand("MEMBER", help: "A member's name or id.")])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try showRole(try ask(.promote(invocation.operand("MEMBER")), invocation), output: output)
  }
}

/// `demote`: a member may do less.
struct DemoteCommand: Command {
  let description = CommandDescription(
    "demote", group: .household, summary: "Make an owner a member, or anyone read-only.",
    discussion: """
      With --read-only the member can write nothing from then on. What they wrote that this node has counts; what comes \
      later is kept aside (household rejected). The node must run.
      """,
    operands: [Operand("MEMBER", help: "A member's name or id.")],
    options: [.flag("read-only", help: "The member may read and not write.")])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let request = ControlRequest.demote(invocation.operand("MEMBER"), readOnly: invocation.flag("read-only"))
    return try showRole(try ask(request, invocation), output: output)
  }
}

private func showRole(_ response: ControlResponse, output: Output) throws -> ExitCode {
  guard case .role(let member, let role) = response else { throw InviteCommand.confused }
  try output.result(["member": member, "role": role]) { output.note("\(quoted(member)) is \(role) now.") }
  return .done
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
@discardableResult
private func ask(_ request: ControlRequest, _ invocation: Invocation) throws -> ControlResponse {
  let directory = try invocation.directory()
  try directory.requireHousehold()
  let client = try ControlClient.require(directory)
  defer { client.hangUp() }
  return try client.ask(request)
}
