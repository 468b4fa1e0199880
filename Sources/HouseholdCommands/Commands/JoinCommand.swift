import HouseholdNode
import HouseholdRecords
import HouseholdSync
import HouseholdTransport

/// `join`: pairs this device with a household.
struct JoinCommand: Command {
  let description = CommandDescription(
    "join", group: .household, summary: "Join a household with a code or link.",
    discussion: """
      Shows what is about to be joined, asks, and pairs. A link holds the inviting node's address; a bare code \
      needs --address. No node needs to run here; the records come once this device's node has synced.
      """,
    operands: [Operand("CODE_OR_LINK", .oneOrMore, help: "The code (blanks do not matter) or the link.")],
    options: [
      .value("member", "NAME", help: "The name that was invited; may be left out."),
      .value("device", "NAME", help: "This device's name; default: the machine's name."),
      .value(
        "address", "HOST:PORT", kind: .address, repeatable: true, help: "Where the inviting node can be reached."),
      .choice(
        "data", ["merge", "replace"],
        help: "What becomes of records that are here already: they come along, or stay behind."),
      .flag("yes", help: "Do not ask."),
    ])

  private struct Joined: Encodable {
    var household: String
    var name: String
    var member: String
    var role: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let directory = try invocation.directory()
    let existing = try existingRecords(directory, invocation: invocation, output: output)
    let link = try Self.link(invocation.operands("CODE_OR_LINK").joined(separator: " "))
    var addresses = try invocation.values("address").map(NodeCommand.address)
    addresses += try link.addresses.map(NodeCommand.address)
    guard !addresses.isEmpty else {
      throw CommandError.usage(
        "a bare code needs the address of the inviting node.",
        remedy: "Give it with --address HOST:PORT, or use the link.", code: "addressMissing")
    }
    let guest = PairingGuest(
      directory: directory, code: link.code, household: link.household, addresses: addresses,
      deviceName: invocation.value("device") ?? DefaultNames.device(), existing: existing)
    let shown = Shown()
    try await guest.join { preview in
      shown.preview = preview
      try decide(preview, invocation: invocation, output: output)
    }
    let preview = shown.preview
    try output.result(
      Joined(
        household: preview?.household.description ?? "", name: preview?.householdName ?? "",
        member: preview?.memberName ?? "", role: preview?.role.rawValue ?? "")
    ) {
      try output.line("This device belongs to \(quoted(preview?.householdName ?? "the household")) now.")
      output.note("Next: start `household node`; the records come as soon as it meets another device.")
    }
    return .done
  }

  /// What is to become of a household that is here already.
  private func existingRecords(
    _ directory: DataDirectory, invocation: Invocation, output: Output
  ) throws -> PairingGuest.ExistingRecords {
    guard directory.hasHousehold else { return .refuse }
    if let word = invocation.value("data") { return word == "merge" ? .merge : .replace }
    let counts = try ExistingHousehold(directory).recordCounts().filter { $0.count > 0 }
    if counts.isEmpty { return .replace }
    let text = counts.map { "\($0.count) \($0.type)" }.joined(separator: ", ")
    output.note("There are records here already: \(text).")
    let merges: Bool
    do {
      merges = try Question.confirm(
        "Bring them along (merge)? No leaves them behind, in a copy (replace).",
        instead: "--data merge or --data replace",
        output: output)
    } catch {
      throw CommandError.usage(
        "there are records here already (\(text)), and nothing says what becomes of them.",
        remedy: "Say --data merge to bring them along, or --data replace to leave them behind in a copy.",
        code: "dataMissing")
    }
    return merges ? .merge : .replace
  }

  /// What was shown, kept for the last line; set once, before it is read.
  private final class Shown: @unchecked Sendable {
    var preview: PairingPreview?
  }

  private static func link(_ word: String) throws(CommandError) -> InvitationLink {
    do {
      if InvitationLink.isLink(word) { return try InvitationLink(word) }
      return InvitationLink(code: try InvitationCode(word))
    } catch {
      throw CommandError(
        code: "badCode", message: "\(error)", remedy: "Ask the inviting person to read it again.")
    }
  }

  private func decide(_ preview: PairingPreview, invocation: Invocation, output: Output) throws {
    if let name = invocation.value("member"), name != preview.memberName {
      throw CommandError(
        code: "otherMember", message: "The invitation is for \(quoted(preview.memberName)), not \(quoted(name)).",
        remedy: "Leave --member out, or ask for an invitation for \(quoted(name)).")
    }
    output.note("Household: \(preview.householdName)")
    output.note("Invited by: \(preview.inviterMember) (\(preview.inviterDevice))")
    output.note("As: \(preview.memberName) (\(preview.role.rawValue))")
    let counts = preview.recordCounts.filter { $0.count > 0 }.map { "\($0.count) \($0.type)" }
    output.note("Records: \(counts.isEmpty ? "none yet" : counts.joined(separator: ", "))")
    if invocation.flag("yes") { return }
    guard try Question.confirm("Join this household?", instead: "--yes", output: output) else {
      throw CommandError(code: "declined", message: "Nothing was joined.", remedy: "The invitation can still be used.")
    }
  }
}
