import Foundation
import HouseholdCommands
import Testing

/// Letting systemd run the node; what stands in for systemctl writes down how it was called.
@Suite struct ServiceTests {
  private let desk: Desk
  private let unit: String

  init() async throws {
    desk = try await Desk.withHousehold()
    unit = desk.path("user/.config/systemd/user/household.service")
    try FileManager.default.createDirectory(atPath: desk.path("bin"), withIntermediateDirectories: false)
  }

  private func run(_ words: String...) async -> Desk.Answer {
    let (standardOutput, standardError) = (CapturedSink(), CapturedSink())
    let code = await CommandLineTool.run(
      arguments: ["service"] + words,
      environment: ["HOUSEHOLD_DATA_DIR": desk.path("home"), "HOME": desk.path("user"), "PATH": desk.path("bin")],
      commands: CommandLineTool.commands, output: Output(standardOutput: standardOutput, standardError: standardError))
    return Desk.Answer(code: code, output: standardOutput.text, errors: standardError.text)
  }

  /// Puts a systemctl in the path, with this script as its body.
  private func putSystemctl(_ body: String) throws {
    let script = "#!/bin/sh\necho \"$@\" >> '\(desk.path("calls"))'\n\(body)\n"
    try Data(script.utf8).write(to: URL(filePath: desk.path("bin/systemctl")))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: desk.path("bin/systemctl"))
  }

  private func calls() throws -> [String] {
    try String(contentsOfFile: desk.path("calls"), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private var files: FileManager { .default }

  @Test func `install writes a unit, and has it enabled and started`() async throws {
    try putSystemctl("exit 0")

    let answer = await run("install", "--listen", "127.0.0.1:7000", "--no-discovery", "--program", "/opt/house hold")

    #expect(answer.code == 0, "\(answer.errors)")
    #expect(
      try calls() == [
        "--user daemon-reload", "--user enable household.service", "--user restart --no-block household.service",
      ])
    let text = try String(contentsOfFile: unit, encoding: .utf8)
    let home = desk.path("home")
    #expect(
      text.contains(
        "\nExecStart=:\"/opt/house hold\" node --data-dir \(home) --listen 127.0.0.1:7000 --no-discovery\n"))
    for line in [
      "Type=notify", "Restart=on-failure", "WatchdogSec=120", "NoNewPrivileges=yes", "WantedBy=default.target",
    ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
    #expect(answer.output.contains("systemd starts the node now"))
  }

  @Test func `without systemd the unit is written, and what to type is said`() async throws {
    let answer = await run("install")

    #expect(answer.code == 0)
    #expect(files.fileExists(atPath: unit))
    #expect(answer.errors.contains("no systemctl in the PATH"))
    #expect(answer.errors.contains("  systemctl --user daemon-reload\n"))
    #expect(answer.errors.contains("  systemctl --user enable household.service\n"))
    let document = try await run("install", "--json").document()
    #expect(document["started"] as? Bool == false)
    #expect((document["next"] as? [String])?.count == 3)
    #expect(await run("status").code == 1)
    #expect(try await run("status", "--json").document()["systemd"] as? Bool == false)
  }

  @Test func `where systemd refuses, its words are passed on with what is left to do`() async throws {
    try putSystemctl("case \"$2\" in enable) echo 'Failed to connect to bus'; exit 1;; esac")

    let answer = await run("install")

    #expect(answer.code == 0)
    #expect(answer.errors.contains("systemd says: Failed to connect to bus"))
    #expect(!answer.errors.contains("daemon-reload"))
    #expect(answer.errors.contains("  systemctl --user enable household.service\n"))
  }

  @Test func `uninstall removes what install made, and nothing else`() async throws {
    #expect(await run("uninstall").code == 1)
    #expect(await run("install").code == 0)
    let folder = desk.path("user/.config/systemd/user")
    try files.createDirectory(atPath: folder + "/default.target.wants", withIntermediateDirectories: false)
    let wants = folder + "/default.target.wants/"
    try files.createSymbolicLink(atPath: wants + "household.service", withDestinationPath: unit)
    try files.createSymbolicLink(atPath: wants + "other.service", withDestinationPath: "/nowhere")
    try putSystemctl("exit 0")

    #expect(await run("uninstall").code == 0)

    #expect(try calls() == ["--user disable --now household.service", "--user daemon-reload"])
    #expect(!files.fileExists(atPath: unit))
    #expect(try files.contentsOfDirectory(atPath: wants) == ["other.service"])
  }

  @Test func `a unit that somebody else wrote is neither overwritten nor removed`() async throws {
    try files.createDirectory(
      atPath: desk.path("user/.config/systemd/user"), withIntermediateDirectories: true)
    try Data("[Service]\n".utf8).write(to: URL(filePath: unit))

    for act in ["install", "uninstall"] {
      let answer = await run(act)
      #expect(answer.code == 1)
      #expect(answer.errors.contains("was not made by household service install"))
    }
    #expect(try String(contentsOfFile: unit, encoding: .utf8) == "[Service]\n")
  }

  @Test func `there is nothing to start where sharing is off, or where there is no household`() async throws {
    #expect(await desk.run("mode", "off").code == 0)

    let answer = await run("install")

    #expect(answer.code == 1)
    #expect(answer.errors.contains("Sharing is off here"))
    #expect(await run("install", "--data-dir", desk.path("none")).errors.contains("no household"))
    #expect(!files.fileExists(atPath: unit))
  }

  @Test func `status tells what systemd says`() async throws {
    try putSystemctl(
      "case \"$2\" in is-enabled) echo enabled;; is-active) echo active;; show) echo 'listening on [::]:7411';; esac")
    #expect(await run("install").code == 0)

    let answer = await run("status", "--json")

    #expect(answer.code == 0)
    let document = try answer.document()
    #expect(document["installed"] as? Bool == true)
    #expect(document["enabled"] as? String == "enabled")
    #expect(document["text"] as? String == "listening on [::]:7411")
  }

  @Test(arguments: [[], ["--system"]])
  func `systemd itself finds no fault with a unit`(scope: [String]) async throws {
    let analyze = "/usr/bin/systemd-analyze"
    try #require(files.isExecutableFile(atPath: analyze) || !files.fileExists(atPath: "/usr/bin/systemctl"))
    guard files.isExecutableFile(atPath: analyze) else { return }
    let answer = await Self.unit(scope, desk)
    #expect(answer.code == 0, "\(answer.errors)")
    let file = desk.path("household.service")
    try Data(answer.output.utf8).write(to: URL(filePath: file))

    try files.createDirectory(atPath: desk.path("run"), withIntermediateDirectories: false)
    let process = Process()
    process.executableURL = URL(filePath: analyze)
    process.arguments = (scope.isEmpty ? ["--user"] : []) + ["--man=no", "verify", file]
    process.environment = ["PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": desk.path("run"), "HOME": desk.path("user")]
    let pipe = Pipe()
    process.standardError = pipe
    try process.run()
    let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()

    // It looks at the machine's own units too, so only what it says of ours counts.
    let ours = said.split(separator: "\n").filter { $0.contains("household") }
    #expect(ours.isEmpty, "\(ours)")
  }

  private static func unit(_ scope: [String], _ desk: Desk) async -> Desk.Answer {
    await desk.run(
      ["service", "unit", "--program", "/bin/true", "--data-dir", desk.path("home"), "--peer", "[::1%eth0]:1"] + scope)
  }

  @Test func `words are quoted so that systemd reads what was typed`() async throws {
    let answer = await run("unit", "--program", #"/opt/100% "a\b""#)

    #expect(answer.output.contains(#"ExecStart=:"/opt/100%% \"a\\b\"" node"#))
    #expect(await run("unit", "--program", "/opt/a\nb").code == 64)
    #expect(await run("status", "--listen", "a:1").code == 64)
  }
}
