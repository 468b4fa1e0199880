import FoundationEssentials
import HouseholdBudget
import HouseholdNode
import HouseholdRecords

/// `init`: makes a household and this device's replica of it.
struct InitCommand: Command {
  let description = CommandDescription(
    "init", group: .household, summary: "Make a new household on this device.",
    discussion: """
      Makes the data directory with the keys, the share certificate and an empty replica. It refuses to touch a \
      directory that holds something already.
      """,
    operands: [Operand("NAME", .optional, help: "The household's name; default: Our household.")],
    options: [
      .value("member", "NAME", help: "Your name in the household; default: your user name."),
      .value("device", "NAME", help: "This device's name; default: the machine's name."),
      .value("schema", "budget|FILE", help: "What kinds of records there are; default: budget."),
      .choice(
        "mode", ["personal", "off"],
        help: "personal: your own devices, until you invite others; off: this device alone. Default: personal."),
    ])

  private struct Result: Encodable {
    var household: String
    var directory: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let directory = try invocation.directory()
    let wishes = Founding.Wishes(
      householdName: invocation.optionalOperand("NAME") ?? "Our household",
      memberName: invocation.value("member") ?? DefaultNames.member(invocation.environment),
      deviceName: invocation.value("device") ?? DefaultNames.device(), schema: try schema(invocation.value("schema")),
      isOff: invocation.value("mode") == SharingMode.off.rawValue)
    let id = try Founding.found(wishes, in: directory)
    try output.result(Result(household: id.description, directory: directory.path)) {
      try output.line("Made the household \(quoted(wishes.householdName)) in \(directory.path).")
      output.note(
        wishes.isOff
          ? "Nothing is shared: these records stay on this device. To share them: `household mode personal`."
          : "Next: start `household node`, then invite your partner with `household invite NAME`.")
    }
    return .done
  }

  private func schema(_ word: String?) throws -> Schema {
    guard let word, word != BudgetSchema.name else { return BudgetSchema.schema }
    let bytes = try InputFile(word).read(limit: Limits.entryBytes)
    do {
      return try SchemaManifest.read(bytes)
    } catch {
      throw CommandError(
        code: "badSchema", message: "The schema \(quoted(word)) cannot be used: \(error)", remedy: error.remedy)
    }
  }
}

/// Names for who does not give one.
enum DefaultNames {
  /// The user's name.
  static func member(_ environment: [String: String]) -> String {
    for name in ["USER", "LOGNAME"] {
      if let value = environment[name], !value.isEmpty { return value }
    }
    return "owner"
  }

  /// The machine's name.
  static func device() -> String {
    let name = ProcessInfo.processInfo.hostName.split(separator: ".").first.map(String.init) ?? ""
    return name.isEmpty ? "device" : name
  }
}

/// A file that a person named.
struct InputFile {
  let path: String

  init(_ path: String) { self.path = path }

  /// The bytes; a sentence if there are none, or too many.
  func read(limit: Int) throws(CommandError) -> [UInt8] {
    do {
      let data = try Data(contentsOf: URL(filePath: path))
      guard data.count <= limit else {
        throw CommandError(
          code: "tooLarge", message: "The file \(quoted(path)) is larger than \(limit >> 10) KiB.",
          remedy: "Give a smaller file.")
      }
      return Array(data)
    } catch let error as CommandError {
      throw error
    } catch {
      throw CommandError(
        code: "unreadable", message: "The file \(quoted(path)) cannot be read.",
        remedy: "Check its name and its permissions.")
    }
  }
}
