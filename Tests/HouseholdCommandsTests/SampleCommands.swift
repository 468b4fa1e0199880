import HouseholdCommands

/// A command that prints what it was given, described by its test.
struct EchoCommand: Command {
  let description: CommandDescription
  var act: @Sendable (Invocation, Output) async throws -> ExitCode = { _, _ in .done }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode { try await act(invocation, output) }
}

/// Descriptions with everything the toolkit knows.
enum Sample {
  static let status = CommandDescription(
    "status", group: .sync, summary: "Say how sync is.", discussion: "First paragraph.\n\nSecond paragraph.",
    options: [
      .flag("watch", short: "w", help: "Go on printing."),
      .value("peer", short: "p", "P", help: "One peer only."),
      .value("wait-acked", "DURATION", kind: .duration, help: "Wait until everything is confirmed."),
    ])
  static let put = CommandDescription(
    "put", group: .records, summary: "Set fields.",
    operands: [
      Operand("TYPE", help: "The type."), Operand("ID", .optional, help: "The id."),
      Operand("FIELD=VALUE", .any, kind: .fieldWord, help: "What to set."),
    ])
  static let report = CommandDescription(
    "report", group: .files, summary: "Print totals.",
    options: [
      .choice("by", ["member", "category", "payee", "month"], help: "What a row stands for."),
      .value("month", "YYYY-MM", kind: .month, help: "One month."),
      .value("from", "D", kind: .day, help: "First day."),
      .value("limit", "N", kind: .integer(1...100), help: "Most rows."),
      .value("where", "FIELD=VALUE", repeatable: true, help: "Only such records."),
      .value("listen", "HOST:PORT", kind: .address, help: "Where to listen."),
    ])
  static let get = CommandDescription(
    "get", group: .records, summary: "Print a record.",
    operands: [Operand("TYPE", help: "The type."), Operand("ID", .oneOrMore, help: "The ids.")])
  static let importing = CommandDescription(
    "import", group: .files, summary: "Read bank files.",
    operands: [Operand("FILE", .oneOrMore, kind: .file, help: "The files.")])
  /// Real ones whose names the samples do not take.
  static let completions = CommandLineTool.commands.map(\.description)
    .filter { ["completions", "help", "version"].contains($0.name) }

  static let table = CommandTable([status, put, report, get, importing] + completions)

  /// Parses words that must be a call of a command.
  static func invocation(_ words: String..., environment: [String: String] = [:]) throws -> Invocation {
    guard case .run(let invocation) = try Arguments.parse(words, table: table, environment: environment) else {
      throw CommandError(code: "test", message: "\(words) is no call of a command.", remedy: "")
    }
    return invocation
  }

  /// What parsing these words fails with.
  static func failure(_ words: String...) -> CommandError? {
    do {
      _ = try Arguments.parse(words, table: table)
      return nil
    } catch {
      return error
    }
  }
}
