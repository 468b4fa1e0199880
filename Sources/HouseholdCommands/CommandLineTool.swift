import FoundationEssentials
import Glibc
import HouseholdKit
import HouseholdNode

/// The program: words in, text and an exit code out.
package enum CommandLineTool {
  /// The version that `--version` prints.
  package static let version = "0.1.0"

  /// Every command of the program.
  package static let commands: [any Command] = [
    InitCommand(), InviteCommand(), InvitationsCommand(), JoinCommand(), MembersCommand(),
    RemoveCommand(), RetireCommand(), RenameCommand(), PromoteCommand(), DemoteCommand(),
    LeaveCommand(), ModeCommand(), NodeCommand(), SettingsCommand(), ServiceCommand(),
    StatusCommand(), EventsCommand(), TypesCommand(), SchemaCommand(), ListCommand(), GetCommand(), PutCommand(),
    DeleteCommand(), SplitCommand(),
    HistoryCommand(), RevertCommand(), RestoreCommand(), ConflictsCommand(), ResolveCommand(),
    HeldCommand(), DecideCommand.approve, DecideCommand.reject, RejectedCommand(), DoctorCommand(),
    UnshownCommand.parked, UnshownCommand.quarantine, CompactCommand(),
    ImportCommand(), ExportCommand(), ReportCommand(), RecurringCommand(), AliasCommand(), BackupCommand(),
    RecoverCommand(), SelftestCommand(), CompletionsCommand(), HelpCommand(), VersionCommand(),
  ]

  /// Runs with the words and descriptors of this process and returns what it should exit with.
  package static func main() async -> Int32 {
    // A reader that goes away is told by the write that fails, not by a signal that kills in the middle of an act.
    _ = signal(SIGPIPE, SIG_IGN)
    let environment = ProcessInfo.processInfo.environment
    do {
      return await run(arguments: try processArguments(), environment: environment, commands: commands)
    } catch {
      Output().error(error)
      return error.exitCode.rawValue
    }
  }

  /// Runs one command line; tests give their own words, commands and output.
  ///
  /// - Parameter arguments: the words after the program's name.
  package static func run(
    arguments: [String], environment: [String: String], commands: [any Command], output: Output = Output()
  ) async -> Int32 {
    var settings = Output.Settings()
    settings.environment = environment
    settings.wantsJSON = Arguments.wantJSON(arguments)
    var output = output.with(settings)
    do {
      let table = CommandTable(commands.map(\.description))
      switch try Arguments.parse(arguments, table: table, environment: environment) {
      case .help(let command):
        try HelpCommand.show(command, of: table, output: output)
        return ExitCode.done.rawValue
      case .version:
        try VersionCommand.show(output: output)
        return ExitCode.done.rawValue
      case .run(let invocation):
        settings.wantsJSON = invocation.wantsJSON
        settings.isQuiet = invocation.isQuiet
        settings.isVerbose = invocation.isVerbose
        output = output.with(settings)
        guard let command = commands.first(where: { $0.description.name == invocation.command.name }) else {
          preconditionFailure("Every command of the table can be run.")
        }
        return try await command.run(invocation, output: output).rawValue
      }
    } catch {
      return report(error, output: output).rawValue
    }
  }

  /// Prints why a command failed and says what to exit with.
  private static func report(_ error: any Error, output: Output) -> ExitCode {
    let told: CommandError
    switch error {
    case let error as CommandError: told = error
    case let error as NodeError: told = CommandError(error)
    case let error as HouseholdError: told = CommandError(error)
    case let failure as OutputFailure:
      guard let error = failure.commandError else { return .done }
      told = error
    default:
      told = CommandError(
        code: "unexpected", message: "something unexpected stopped the command: \(error).",
        remedy: "Please report it with the words that you typed.")
    }
    output.error(told)
    return told.exitCode
  }

  /// The words of this process, each checked to be UTF-8: repaired bytes would be other words than were typed.
  ///
  /// Read from the kernel: Swift's own list is empty when a preloaded library has started before it, such as faketime.
  private static func processArguments() throws(CommandError) -> [String] {
    var words: [String] = []
    for (index, bytes) in commandLine().enumerated().dropFirst() {
      guard let word = String(validating: bytes, as: UTF8.self) else {
        throw .usage(
          "word \(index) of the command line is no UTF-8 text: \(quoted(String(decoding: bytes, as: UTF8.self))).",
          remedy: "Use UTF-8 in the terminal, or rename the file.", code: "notUTF8")
      }
      words.append(word)
    }
    return words
  }

  /// The bytes of each word, the program's name first.
  private static func commandLine() -> [[UInt8]] {
    let descriptor = unsafe open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return CommandLine.arguments.map { Array($0.utf8) } }
    defer { close(descriptor) }
    let bytes = DescriptorReader.all(of: descriptor)
    // Each word ends with a NUL, the last one too.
    return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
  }
}
