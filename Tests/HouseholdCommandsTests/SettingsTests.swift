import Foundation
import HouseholdCommands
import Testing

/// Flag, environment, file, default: one name for each setting, and who says it.
@Suite struct SettingsTests {
  private let desk: Desk
  private var environment: [String: String]

  init() throws {
    desk = try Desk()
    environment = ["HOUSEHOLD_DATA_DIR": desk.path("home"), "HOME": desk.path("user")]
    for folder in ["home", "user/.config/household"] {
      try FileManager.default.createDirectory(atPath: desk.path(folder), withIntermediateDirectories: true)
    }
  }

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: desk.path(path)))
  }

  /// What a node called with these words would be told.
  private func node(_ words: String...) throws -> NodeSettings {
    let table = CommandTable(CommandLineTool.commands.map(\.description))
    guard case .run(let invocation) = try Arguments.parse(["node"] + words, table: table, environment: environment)
    else { throw CocoaError(.featureUnsupported) }
    return try NodeSettings(invocation, takesFlags: true)
  }

  /// What `household settings` says.
  private func settings(_ words: String...) async -> (code: Int32, output: String, errors: String) {
    let (standardOutput, standardError) = (CapturedSink(), CapturedSink())
    let code = await CommandLineTool.run(
      arguments: ["settings"] + words, environment: environment, commands: CommandLineTool.commands,
      output: Output(standardOutput: standardOutput, standardError: standardError))
    return (code, standardOutput.text, standardError.text)
  }

  @Test mutating func `a flag goes before the environment, that before both files, those before the default`() throws {
    #expect(try node()[.listen] == ["[::]:7411"])
    try write("listen = 127.0.0.1:1\n", "user/.config/household/settings")
    #expect(try node()[.listen] == ["127.0.0.1:1"])
    try write("\n# Here only.\n  listen=127.0.0.1:2  \r\n", "home/settings")
    #expect(try node()[.listen] == ["127.0.0.1:2"])
    environment["HOUSEHOLD_LISTEN"] = "127.0.0.1:3"
    #expect(try node()[.listen] == ["127.0.0.1:3"])
    #expect(try node("--listen", "127.0.0.1:4")[.listen] == ["127.0.0.1:4"])
  }

  @Test mutating func `who says anything of a repeatable setting says all of it`() throws {
    try write("peer = a:1\npeer = b:2\nadvertise = c:3\ndiscovery = off\n", "home/settings")
    #expect(try node()[.peer] == ["a:1", "b:2"])
    environment["HOUSEHOLD_PEER"] = "d:4, e:5"
    environment["HOUSEHOLD_ADVERTISE"] = ""
    #expect(try node()[.peer] == ["d:4", "e:5"])
    #expect(try node()[.advertise] == ["c:3"])
    #expect(try node("--peer", "f:6", "--peer", "g:7")[.peer] == ["f:6", "g:7"])
    #expect(try node("--discovery", "on")[.discovery] == ["on"])
    try write("advertise =\n", "home/settings")
    try write("advertise = h:8\n", "user/.config/household/settings")
    #expect(try node()[.advertise] == [])
  }

  @Test mutating func `the short forms are flags`() throws {
    environment["HOUSEHOLD_DISCOVERY"] = "on"
    environment["HOUSEHOLD_LOG_LEVEL"] = "problems"

    #expect(try node()[.logLevel] == ["problems"])
    #expect(try node("--no-discovery")[.discovery] == ["off"])
    #expect(try node("--quiet")[.logLevel] == ["off"])
    #expect(try node("--quiet", "--log-level", "all")[.logLevel] == ["all"])
  }

  @Test(arguments: [
    ("lisen = a:1", "unknown setting \"lisen\"", "did you mean \"listen\"?"),
    ("listen = nowhere", "\"nowhere\" for listen", "HOST:PORT"),
    ("listen =", "\"\" for listen", "HOST:PORT"),
    ("discovery = perhaps", "unknown value \"perhaps\" for discovery", "on, off"),
    ("listen", "\"listen\"", "NAME = VALUE"),
    ("discovery = on\ndiscovery = off", "discovery stands", "Leave one out"),
  ])
  func `what is not understood is quoted back with its file and line`(text: String, quote: String, remedy: String)
    async throws
  {
    try write("# A remark.\n" + text + "\n", "home/settings")

    let answer = await settings()

    #expect(answer.code == 64)
    #expect(answer.errors.contains(quote), "\(answer.errors)")
    #expect(answer.errors.contains(remedy), "\(answer.errors)")
    let line = text.split(separator: "\n").count + 1
    #expect(answer.errors.contains("in \(desk.path("home"))/settings, line \(line)"), "\(answer.errors)")
  }

  @Test mutating func `a bad value in the environment is quoted back with its variable`() async throws {
    environment["HOUSEHOLD_PEER"] = "a:1 nowhere"

    let answer = await settings()

    #expect(answer.code == 64)
    #expect(answer.errors.contains("\"nowhere\" for peer in $HOUSEHOLD_PEER"))
  }

  @Test func `a file that is none is refused, one that cannot be read says why`() async throws {
    try Data([0xFF, 0xFE]).write(to: URL(filePath: desk.path("home/settings")))
    #expect(await settings().code == 64)
    try write(String(repeating: "#", count: 70_000), "home/settings")
    #expect(await settings().errors.contains("64 KiB"))
    try FileManager.default.removeItem(atPath: desk.path("home/settings"))
    try FileManager.default.createDirectory(atPath: desk.path("home/settings"), withIntermediateDirectories: false)
    let answer = await settings()
    #expect(answer.code == 1)
    #expect(answer.errors.contains("cannot be read"), "\(answer.errors)")
  }

  @Test mutating func `settings shows each value and where it comes from`() async throws {
    try write("\npeer = a:1\n", "home/settings")
    environment["HOUSEHOLD_LISTEN"] = "127.0.0.1:3"

    let answer = await settings("--json")

    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
    let list = try #require(document["settings"] as? [[String: Any]])
    func of(_ name: String) -> [String: Any] { list.first { $0["name"] as? String == name } ?? [:] }
    #expect(of("listen")["value"] as? String == "127.0.0.1:3")
    #expect(of("listen")["source"] as? String == "environment")
    #expect(of("listen")["place"] as? String == "HOUSEHOLD_LISTEN")
    #expect(of("peer")["value"] as? [String] == ["a:1"])
    #expect(of("peer")["place"] as? String == "\(desk.path("home"))/settings:2")
    #expect(of("discovery")["source"] as? String == "default")
    #expect(list.count == NodeSetting.all.count)
    let files = try #require(document["files"] as? [[String: Any]])
    #expect(files.map { $0["exists"] as? Bool } == [true, false])
    let text = await settings().output
    #expect(text.contains("listen") && text.contains("HOUSEHOLD_LISTEN") && text.contains("(none)"))
  }
}
