import Glibc
import HouseholdCommands
import HouseholdRecords
import Synchronization
import Testing

@Suite struct OutputTests {
  private let standardOutput = CapturedSink()
  private let standardError = CapturedSink()

  private func run(
    _ words: String..., output: (any OutputSink)? = nil, environment: [String: String] = [:],
    act: @escaping @Sendable (Invocation, Output) async throws -> ExitCode = { _, _ in .done }
  ) async -> Int32 {
    await CommandLineTool.run(
      arguments: words, environment: environment, commands: [EchoCommand(description: Sample.status, act: act)],
      output: Output(standardOutput: output ?? standardOutput, standardError: standardError))
  }

  @Test func `an error is a sentence and a remedy on standard error`() async {
    let code = await run("status") { _, _ in
      throw CommandError(
        code: "nodeNotRunning", message: "no node\nruns.", remedy: "Start it.", exitCode: .nodeNotRunning)
    }

    #expect(code == 69)
    #expect(standardError.text == "household: no node\\nruns.\nStart it.\n")
    #expect(standardOutput.text.isEmpty)
  }

  @Test func `under --json an error is a document, also when the words were not understood`() async {
    let code = await run("--json", "statsu")

    #expect(code == 64)
    #expect(
      standardError.text == #"{"error":{"code":"unknownCommand","message":"unknown command \"statsu\"; did you mean "#
        + #"\"status\"?","remedy":"See \"household --help\" for the commands."}}"# + "\n")
    #expect(standardOutput.text.isEmpty)
  }

  @Test func `a result is text or one JSON document with sorted keys and plain slashes`() async {
    let act: @Sendable (Invocation, Output) async throws -> ExitCode = { _, output in
      let value = JSONValue.object([
        .init("b", .string("a/b")), .init("a", .array([.integer(.max), .real(0.1), .null])),
      ])
      try output.result(value) { try output.line("text") }
      return .verdict(2)
    }

    #expect(await run("status", act: act) == 2)
    #expect(await run("status", "--json", act: act) == 2)
    #expect(standardOutput.text == "text\n" + #"{"a":[9223372036854775807,0.1,null],"b":"a/b"}"# + "\n")
  }

  @Test func `quiet leaves results, verbose adds details`() async {
    let act: @Sendable (Invocation, Output) async throws -> ExitCode = { _, output in
      output.note("note")
      output.detail("detail")
      try output.line("result")
      return .done
    }

    _ = await run("status", "--quiet", act: act)
    #expect(standardError.text.isEmpty)
    _ = await run("status", act: act)
    #expect(standardError.text == "note\n")
    _ = await run("status", "--verbose", act: act)
    #expect(standardError.text == "note\nnote\ndetail\n")
    #expect(standardOutput.text == "result\nresult\nresult\n")
  }

  @Test func `a reader that went away ends the command quietly`() async {
    let code = await run("status", output: CapturedSink(failingWith: EPIPE)) { _, output in
      try output.line("x")
      return .failed
    }

    #expect(code == 0)
    #expect(standardError.text.isEmpty)
  }

  @Test func `a result that could not be written whole is a failure`() async {
    let code = await run("status", output: CapturedSink(failingWith: ENOSPC)) { _, output in
      try output.line("x")
      return .done
    }

    #expect(code == 1)
    #expect(standardError.text.contains("No space left on device"))
  }

  @Test func `colour needs a terminal, no NO_COLOR and a terminal that is not dumb`() {
    func styled(_ isTerminal: Bool, _ environment: [String: String]) -> String {
      var settings = Output.Settings()
      settings.environment = environment
      return Output(standardOutput: CapturedSink(isTerminal: isTerminal), settings: settings).styled("x", .bold)
    }

    #expect(styled(true, [:]) == "\u{1B}[1mx\u{1B}[0m")
    #expect(styled(true, ["NO_COLOR": ""]) == "\u{1B}[1mx\u{1B}[0m")
    #expect(styled(true, ["NO_COLOR": "1"]) == "x")
    #expect(styled(true, ["TERM": "dumb"]) == "x")
    #expect(styled(false, [:]) == "x")
  }

  @Test func `help and version are printed on standard output`() async {
    #expect(await run("--help", environment: ["COLUMNS": "60"]) == 0)
    #expect(standardOutput.text.contains("  status  Say how sync is.\n"))
    #expect(standardOutput.text.split(separator: "\n").allSatisfy { displayWidth(String($0)) <= 60 })
    #expect(await run("--version") == 0)
    #expect(standardOutput.text.hasSuffix("household \(CommandLineTool.version)\n"))
  }

  @Test func `help about a command names its words, options and allowed values`() {
    let text = HelpText(width: 80).details(of: Sample.report)

    #expect(text.hasPrefix("Usage: household report [OPTIONS]\n"))
    #expect(text.contains("--by member|category|payee|month"))
    #expect(text.contains("Only such records. Repeatable."))
    #expect(HelpText(width: 80).details(of: Sample.put).contains("household put TYPE [ID] [FIELD=VALUE]..."))
    #expect(HelpText(width: 80).details(of: Sample.status).contains("First paragraph.\n\nSecond paragraph.\n"))
    for width in [60, 71, 80] {
      let lines = HelpText(width: width).details(of: Sample.report).split(separator: "\n")
      #expect(lines.allSatisfy { displayWidth(String($0)) <= width }, "at \(width) columns")
    }
  }

  @Test func `columns align by displayed width and a record stays one line`() {
    var table = TableOutput([.text("PAYEE"), .number("AMOUNT"), .text("NOTE")])
    table.add(["寿司", "-5", "a\nb\t\u{1B}[2J"])
    table.add(["cafe\u{301} 🎂", "12345", ""])

    #expect(
      table.lines == [
        "PAYEE    AMOUNT  NOTE",
        "寿司         -5  a\\nb\\t\\u{1B}[2J",
        "cafe\u{301} 🎂   12345",
      ])
    #expect(displayWidth("👨‍👩‍👧❤️한e\u{301}") == 7)
  }

  @Test func `a progress bar waits a second, and shows on a terminal only`() {
    let now = Mutex<Int64>(0)
    let terminal = CapturedSink(isTerminal: true, columns: 40)
    for sink in [terminal, standardError] {
      now.withLock { $0 = 0 }
      var bar = ProgressBar("Importing", total: 10, output: Output(standardOutput: standardOutput, standardError: sink))
      {
        Tick(milliseconds: now.withLock { $0 })
      }
      for (time, done) in [(0, 0), (999, 3), (1000, 5), (1050, 6), (1200, 10)] {
        now.withLock { $0 = Int64(time) }
        bar.update(done)
      }
      bar.finish()
    }

    #expect(standardError.text.isEmpty)
    #expect(terminal.text.split(separator: "\r").count == 3)
    #expect(terminal.text.contains(" 50 %") && !terminal.text.contains(" 60 %") && terminal.text.contains(" 100 %"))
    #expect(ProgressBar.line("x", done: 1, total: 0, width: 5) == "x 0 %")
    #expect(displayWidth(ProgressBar.line("Importing", done: 7, total: 9, width: 30)) <= 29)
  }
}
