import HouseholdCommands
import HouseholdRecords
import Testing

@Suite struct ArgumentsTests {
  @Test func `options stand before or after operands, joined or apart`() throws {
    let call = try Sample.invocation("report", "--by=payee", "--where", "a=1", "--json", "--where=b=2")

    #expect(call.value("by") == "payee")
    #expect(call.values("where") == ["a=1", "b=2"])
    #expect(call.wantsJSON)
    #expect(call.value("month") == nil)
  }

  @Test func `global options stand before the command word too`() throws {
    let call = try Sample.invocation("--data-dir", "/d", "-q", "status", "-vw", "-p", "sam")

    #expect(try call.dataDirectory() == "/d")
    #expect(call.isQuiet && call.isVerbose && call.flag("watch"))
    #expect(call.value("peer") == "sam")
    #expect(try Sample.invocation("status", "-wpsam").value("peer") == "sam")
  }

  @Test func `two hyphens end the options`() throws {
    let call = try Sample.invocation("get", "note", "--", "--json", "-x", "--")

    #expect(call.operands("ID") == ["--json", "-x", "--"])
    #expect(!call.wantsJSON)
  }

  @Test func `negative numbers, a lone hyphen and fields with them are operands`() throws {
    let call = try Sample.invocation("get", "note", "-5", "-.5", "-", "amount=-5")

    #expect(call.operands("ID") == ["-5", "-.5", "-", "amount=-5"])
  }

  @Test func `an optional id is told from the fields that follow`() throws {
    let withID = try Sample.invocation("put", "note", "n1", "title=a", "text:=null")
    let without = try Sample.invocation("put", "note", "title=a", "text=b")
    let odd = try Sample.invocation("put", "note", "café=1 ", "title=a")

    #expect(withID.optionalOperand("ID") == "n1" && withID.operands("FIELD=VALUE") == ["title=a", "text:=null"])
    #expect(without.optionalOperand("ID") == nil && without.operands("FIELD=VALUE") == ["title=a", "text=b"])
    #expect(odd.optionalOperand("ID") == "café=1 ")
  }

  @Test func `an equals sign before a combining mark still splits`() throws {
    #expect(try Sample.invocation("status", "--peer=\u{301}x").value("peer") == "\u{301}x")
  }

  @Test func `an unknown word is quoted with the nearest known one`() {
    #expect(Sample.failure("stauts")?.message == "unknown command \"stauts\"; did you mean \"status\"?")
    #expect(Sample.failure("stat")?.message == "unknown command \"stat\"; did you mean \"status\"?")
    #expect(Sample.failure("zzzzzz")?.message == "unknown command \"zzzzzz\".")
    #expect(
      Sample.failure("status", "--wacth")?.message == "unknown option \"--wacth\" of status; did you mean \"--watch\"?")
    #expect(Sample.failure("report", "--by", "weather")?.message == "unknown value \"weather\" for --by.")
    #expect(Sample.failure("status", "-wx")?.message.hasPrefix("unknown option \"-x\" of status") == true)
    #expect(Sample.failure("--wathc", "status")?.exitCode == .usage)
    #expect(Sample.failure("--watch", "status")?.message == "option \"--watch\" stands before the command.")
    #expect(Sample.failure("st\nat\u{1B}")?.message.contains("\"st\\nat\\u{1B}\"") == true)
  }

  @Test(arguments: [
    (["report", "--by"], "option \"--by\" of report needs a value."),
    (["status", "--peer", "--watch"], "option \"--peer\" of status needs a value, and \"--watch\" follows."),
    (["status", "--watch=yes"], "option \"--watch\" of status takes no value."),
    (["report", "--from", "2026-02-30"], "\"2026-02-30\" for --from is no day of the calendar."),
    (["report", "--month", "2026-13"], "\"2026-13\" for --month is no month."),
    (["report", "--limit", "0"], "\"0\" for --limit is no whole number in its bounds."),
    (["report", "--listen", "7411"], "\"7411\" for --listen is no address."),
    (["status", "--wait-acked", "soon"], "\"soon\" for --wait-acked is no duration."),
    (["status", "--peer", "a", "--peer=b"], "option \"--peer\" of status stands twice."),
    (["get", "note"], "get: ID is missing."), (["status", "now"], "status: \"now\" is one word too many."),
    (["--json"], "a command is missing."),
    (["completions", "tcsh"], "unknown value \"tcsh\" for SHELL."),
  ])
  func `wrong words are usage errors with a sentence`(words: [String], message: String) throws {
    do {
      _ = try Arguments.parse(words, table: Sample.table)
      Issue.record("\(words) was understood")
    } catch {
      #expect(error.message == message)
      #expect(error.exitCode == .usage)
      #expect(!error.remedy.isEmpty)
    }
  }

  @Test func `help wins over what is missing`() throws {
    for words in [["get", "--help"], ["--help", "get"], ["get", "-h", "note"]] {
      guard case .help(let command) = try Arguments.parse(words, table: Sample.table) else {
        Issue.record("\(words) is no call for help")
        continue
      }
      #expect(command?.name == "get")
    }
  }

  @Test func `the data directory is the option's, the environment's or the home directory's`() throws {
    let all = ["HOUSEHOLD_DATA_DIR": "/h", "XDG_DATA_HOME": "/x", "HOME": "/home/a"]
    func directory(_ environment: [String: String]) throws -> String {
      try Sample.invocation("status", environment: environment).dataDirectory()
    }

    #expect(try Sample.invocation("status", "--data-dir=/o", environment: all).dataDirectory() == "/o")
    #expect(try directory(all) == "/h")
    #expect(try directory(["HOUSEHOLD_DATA_DIR": "", "XDG_DATA_HOME": "/x", "HOME": "/home/a"]) == "/x/household")
    #expect(try directory(["XDG_DATA_HOME": "x", "HOME": "/home/a"]) == "/home/a/.local/share/household")
    #expect(throws: CommandError.self) { try directory([:]) }
  }

  @Test func `typed values come out as what they are`() throws {
    let call = try Sample.invocation("report", "--limit", "7", "--from", "2026-03-01")

    #expect(call.integer("limit") == 7)
    #expect(call.day("from")?.description == "2026-03-01")
    #expect(try Sample.invocation("status", "--wait-acked", "2s").milliseconds("wait-acked") == 2000)
  }

  @Test func `the distance counts a swap of neighbours once`() {
    #expect(editDistance("stauts", "status") == 1)
    #expect(editDistance("", "abc") == 3)
    #expect(editDistance("kitten", "sitting") == 3)
  }
}
