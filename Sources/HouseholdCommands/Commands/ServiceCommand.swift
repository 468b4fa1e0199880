import Glibc
import HouseholdNode

/// `service`: lets systemd run the node, from login or from the machine's start.
struct ServiceCommand: Command {
  let description = CommandDescription(
    "service", group: .sync, summary: "Let systemd run the node: install, uninstall, status, unit.",
    discussion: """
      install writes household.service for this user (or for the machine, with --system and as root), enables and \
      starts it; options like those of node go into it. Where systemd does not answer, it says what to type. uninstall \
      stops the node and removes what install wrote, and nothing else. unit prints the file and writes nothing. status \
      exits with 0 if the service runs, else 1.

      A user's services run while that user is logged in; from the machine's start on after: loginctl enable-linger
      """,
    operands: [
      Operand("ACT", kind: .choice(["install", "uninstall", "status", "unit"]), help: "What to do.")
    ],
    options: [
      .flag("system", help: "A unit of the machine, run by the owner of the data directory."),
      .value("program", "PATH", kind: .file, help: "The program that the unit starts; default: this one."),
      .flag("no-discovery", help: "The same as --discovery off."),
    ] + NodeSetting.all.map(\.option))

  private struct Installed: Encodable {
    var unit: String
    var isRunning: Bool
    var next: [String]
    enum CodingKeys: String, CodingKey { case unit, isRunning = "started", next }
  }

  private struct State: Encodable {
    var installed: Bool
    var unit: String
    var running: Bool
    var systemd: Bool
    var enabled: JSONValue
    var active: JSONValue
    var text: JSONValue
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let isSystem = invocation.flag("system")
    let act = invocation.operand("ACT")
    let options = try Self.options(invocation)
    guard act == "install" || act == "unit" || options.isEmpty && invocation.value("program") == nil else {
      throw CommandError.usage(
        "\(options.first ?? "--program") goes with install and unit.", remedy: "Leave it out.", code: "unexpectedOption"
      )
    }
    let control = SystemControl(isSystem: isSystem, environment: invocation.environment)
    switch act {
    case "unit":
      let text = try Self.unit(invocation, options: options).text
      try output.result(["unit": text]) { try output.write(Array(text.utf8)) }
      return .done
    case "install": return try install(invocation, options: options, control, output: output)
    case "uninstall": return try uninstall(try ServiceFile(isSystem: isSystem, invocation), control, output: output)
    default: return try status(try ServiceFile(isSystem: isSystem, invocation), control, output: output)
    }
  }

  // MARK: The unit

  /// The options of a node that were given, as its words.
  private static func options(_ invocation: Invocation) throws(CommandError) -> [String] {
    let given = NodeSetting.all.flatMap { setting in
      let values = invocation.values(setting.name)
      return (setting.option.isRepeatable ? values : values.suffix(1)).flatMap { ["--\(setting.name)", $0] }
    }
    return given + (invocation.flag("no-discovery") ? ["--no-discovery"] : [])
  }

  private static func unit(_ invocation: Invocation, options: [String]) throws -> ServiceUnit {
    let directory = try invocation.directory()
    let isNamed = invocation.environment["HOME"].map { directory.path != "\($0)/.local/share/household" } ?? true
    var environment: [(name: String, value: String)] = []
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
      if let value = invocation.environment[name], value.hasPrefix("/") { environment.append((name, value)) }
    }
    return ServiceUnit(
      program: try invocation.value("program") ?? program(),
      words: ["node"] + (isNamed || invocation.flag("system") ? ["--data-dir", directory.path] : []) + options,
      environment: environment, owner: try invocation.flag("system") ? owner(of: directory.path) : nil)
  }

  /// This program's whole path.
  private static func program() throws(CommandError) -> String {
    guard let path = unsafe realpath("/proc/self/exe", nil) else {
      throw CommandError(
        code: "programUnknown", message: "This program is not where it was when it was started.",
        remedy: "Name it with --program PATH.")
    }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  /// The name of the user whose file it is.
  private static func owner(of path: String) throws(CommandError) -> String {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0, let user = unsafe getpwuid(facts.st_uid) else {
      throw CommandError(
        code: "ownerUnknown", message: "\(path) has no owner whose name is known.", remedy: "Name it with --data-dir.")
    }
    return unsafe String(cString: user.pointee.pw_name)
  }

  // MARK: Acts

  private func install(
    _ invocation: Invocation, options: [String], _ control: SystemControl, output: Output
  ) throws -> ExitCode {
    let directory = try invocation.directory()
    // A node that refuses would be started again and again.
    try SharingMode.requireOn(try SharingMode.current(directory) == .off)
    let file = try ServiceFile(isSystem: control.isSystem, invocation)
    try file.requireOurs()
    let text = try Self.unit(invocation, options: options).text
    let was = file.text
    if was != text { try file.write(text) }
    let isTaken = was == nil && Self.nodeRuns(directory)
    let (reason, left) = control.obey([
      ["daemon-reload"], ["enable", ServiceUnit.name], ["restart", "--no-block", ServiceUnit.name],
    ])
    try output.result(Installed(unit: file.path, isRunning: left.isEmpty, next: left)) {
      try output.line(was == text ? "\(file.path) was right already." : "Wrote \(file.path).")
      if left.isEmpty { try output.line("systemd starts the node now; look at it with: household service status") }
    }
    if let reason {
      output.note("Nothing was started, as \(reason). Where systemd runs, type:")
      for line in left { output.note("  \(line)") }
    }
    if isTaken { output.note("A node runs here already; the service takes over when that one is stopped.") }
    return .done
  }

  /// Whether a node answers, started by whomever.
  private static func nodeRuns(_ directory: DataDirectory) -> Bool {
    guard let client = try? ControlClient.connect(directory) else { return false }
    client.hangUp()
    return true
  }

  private func uninstall(_ file: ServiceFile, _ control: SystemControl, output: Output) throws -> ExitCode {
    guard file.isThere else {
      throw CommandError(
        code: "notInstalled", message: "There is no \(file.path).",
        remedy: control.isSystem ? "Leave --system out for a user's unit." : "Add --system for a unit of the machine.")
    }
    try file.requireOurs()
    let (reason, left) = control.obey([["disable", "--now", ServiceUnit.name]])
    try file.remove()
    _ = control.ask(["daemon-reload"])
    let next = left.isEmpty ? [] : [control.line(["stop", ServiceUnit.name]), control.line(["daemon-reload"])]
    try output.result(Installed(unit: file.path, isRunning: false, next: next)) {
      try output.line("Removed \(file.path).")
    }
    if let reason {
      output.note("Whether the node was stopped is not known, as \(reason). Where systemd runs, type:")
      for line in next { output.note("  \(line)") }
    }
    return .done
  }

  private func status(_ file: ServiceFile, _ control: SystemControl, output: Output) throws -> ExitCode {
    let enabled = control.word(["is-enabled", ServiceUnit.name])
    let active = control.word(["is-active", ServiceUnit.name])
    let text = active == nil ? nil : control.word(["show", "--property=StatusText", "--value", ServiceUnit.name])
    let isRunning = active == "active"
    func json(_ word: String?) -> JSONValue { word.map(JSONValue.string) ?? .null }
    let state = State(
      installed: file.isOurs, unit: file.path, running: isRunning, systemd: active != nil, enabled: json(enabled),
      active: json(active), text: json(text))
    try output.result(state) {
      try output.line(file.isOurs ? "unit: \(file.path)" : "unit: none at \(file.path)")
      guard let active else { return try output.line("systemd: does not answer here") }
      try output.line("service: \(active)\(enabled.map { ", \($0)" } ?? "")")
      if let text { try output.line("node: \(text)") }
    }
    if !file.isOurs, active == nil || active == "inactive" { output.note("Install it with: household service install") }
    return isRunning ? .done : .failed
  }
}
