import HouseholdNode
import HouseholdRecords

/// `invite`: makes a one-time invitation.
struct InviteCommand: Command {
  let description = CommandDescription(
    "invite", group: .household, summary: "Invite a partner, or another device of yours.",
    discussion: """
      Prints a one-time code, and a link that holds it with this node's address. The other device joins with \
      `household join`. The node must run; a code lasts ten minutes and three wrong tries lock it. With --wait it \
      exits with 0 once the invitation is used, with 75 when it has expired, and with 1 when it is cancelled or locked.
      """,
    operands: [Operand("MEMBER", .optional, help: "The name of the person to invite.")],
    options: [
      .flag("device", help: "Invite another device of your own instead of a person."),
      .flag("read-only", help: "The invited person may read and not write."),
      .value("expires", "DURATION", kind: .duration, help: "How long the code lasts; default: 10m."),
      .flag("wait", help: "Wait until the invitation is used, has expired, or is closed."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let member = invocation.optionalOperand("MEMBER")
    let isDevice = invocation.flag("device")
    guard isDevice != (member != nil) else {
      throw CommandError.usage(
        isDevice ? "--device invites a device of your own and takes no member." : "whom do you want to invite?",
        remedy: "Say household invite NAME, or household invite --device.", code: "memberMissing")
    }
    let isReadOnly = invocation.flag("read-only")
    guard !(isReadOnly && isDevice) else {
      throw CommandError.usage(
        "--read-only is for a person; a device of your own may what you may.", remedy: "Leave one of the two out.",
        code: "readOnlyDevice")
    }
    let lifetime = invocation.milliseconds("expires") ?? 10 * 60_000
    let directory = try invocation.directory()
    try directory.requireHousehold()
    let client = try ControlClient.require(directory)
    defer { client.hangUp() }
    let response = try client.ask(
      .invite(
        member: member, role: (isReadOnly ? Role.readOnly : .member).rawValue, lifetimeMilliseconds: lifetime))
    guard case .invitation(let made) = response else { throw Self.confused }
    try output.result(InvitationShown(made)) { try show(made, output: output) }
    return invocation.flag("wait") ? try wait(for: made, client: client, output: output) : .done
  }

  private func show(_ made: InvitationFacts, output: Output) throws {
    try output.line("Code:  \(output.styled(made.code, .bold))")
    try output.line("Link:  \(made.link)")
    try output.line("For \(made.member) (\(made.role)), until \(Instant(milliseconds: made.expiresAt).rfc3339).")
    if output.isTerminal, let code = QRCode(made.link) {
      for line in code.terminalLines(colors: true) { try output.line(line) }
    }
    output.note("On the other device: household join \(quoted(made.link))")
  }

  private func wait(for made: InvitationFacts, client: ControlClient, output: Output) throws -> ExitCode {
    while true {
      guard case .invitationState(let state) = try client.ask(.invitationState(code: made.code)) else {
        throw Self.confused
      }
      switch state {
      case .open: Pause.milliseconds(300)
      case .used:
        output.note("The invitation is used.")
        return .done
      case .expired:
        throw CommandError(
          code: "expired", message: "The invitation has expired.", remedy: "Make another one: household invite",
          exitCode: .tryAgain)
      case .cancelled:
        throw CommandError(
          code: "cancelled", message: "The invitation was cancelled.", remedy: "Make another one: household invite")
      case .locked:
        throw CommandError(
          code: "locked", message: "The invitation is locked: a wrong code was tried three times.",
          remedy: "Make another one (household invite), and give the code to nobody else.")
      }
    }
  }

  static var confused: CommandError {
    CommandError(
      code: "unexpected", message: "The node answered something else than was asked.",
      remedy: "Use the same version of household for node and command.")
  }
}

/// `invitations`: lists open invitations, or cancels one.
struct InvitationsCommand: Command {
  let description = CommandDescription(
    "invitations", group: .household, summary: "List open invitations, or cancel one.",
    operands: [
      Operand("cancel", .optional, kind: .choice(["cancel"]), help: "Take an invitation back."),
      Operand("CODE", .optional, help: "The code of the invitation to cancel."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let directory = try invocation.directory()
    try directory.requireHousehold()
    let client = try ControlClient.require(directory)
    defer { client.hangUp() }
    if invocation.optionalOperand("cancel") != nil {
      guard let code = invocation.optionalOperand("CODE") else {
        throw CommandError.usage(
          "which invitation?", remedy: "Say household invitations cancel CODE.", code: "codeMissing")
      }
      _ = try client.ask(.cancel(code: code))
      try output.result(["cancelled": code]) { try output.line("The invitation is cancelled.") }
      return .done
    }
    guard case .invitations(let open) = try client.ask(.invitations) else { throw InviteCommand.confused }
    try output.result(["invitations": open.map(InvitationShown.init)]) {
      if open.isEmpty { return try output.line("There is no open invitation.") }
      var table = TableOutput([.text("CODE"), .text("MEMBER"), .text("ROLE"), .text("EXPIRES")])
      for invitation in open {
        table.add([
          invitation.code, invitation.member, invitation.role,
          Instant(milliseconds: invitation.expiresAt).rfc3339,
        ])
      }
      try output.table(table)
    }
    return .done
  }
}

/// An invitation in the JSON of the contract.
private struct InvitationShown: Encodable {
  var code: String
  var link: String
  var expiresAt: String
  var member: String
  var role: String

  init(_ facts: InvitationFacts) {
    code = facts.code
    link = facts.link
    expiresAt = Instant(milliseconds: facts.expiresAt).rfc3339
    member = facts.member
    role = facts.role
  }
}
