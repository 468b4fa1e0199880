import HouseholdCommands
import Testing

@Suite struct WordTests {
  private func value(_ word: String) throws -> FieldWord.Value { try FieldWord(word).value }

  @Test func `a field is set to text, empty text or a JSON value`() throws {
    #expect(try FieldWord("title=a=b") == FieldWord("title=a=b"))
    #expect(try FieldWord("title=a=b").name == "title")
    #expect(try value("title=a=b") == .text("a=b"))
    #expect(try value("title=") == .text(""))
    #expect(try value("t=\u{301}") == .text("\u{301}"))
    #expect(try value("t:=null") == .null)
    #expect(try value("t:= true ") == .boolean(true))
    #expect(try value("t:=-9223372036854775808") == .integer(.min))
    #expect(try value("t:=9223372036854775807") == .integer(.max))
    #expect(try value("t:=9007199254740993") == .integer(9_007_199_254_740_993))
    #expect(try value("t:=1.5") == .real(1.5))
    #expect(try value("t:=1e3") == .real(1000))
    #expect(try value(#"t:="\ud83c\udf82\u00e9\n\"""#) == .text("🎂é\n\""))
    #expect(try value(#"t:={"a":[1,{}], "b":[]}"#) == .json(#"{"a":[1,{}], "b":[]}"#))
  }

  @Test(arguments: ["justaword", "=x", ":=1", ""])
  func `a word that is no field is quoted back`(word: String) {
    #expect {
      try FieldWord(word)
    } throws: { error in
      let error = error as? CommandError
      return error?.exitCode == .usage && error?.message.contains("\"\(word)\"") == true
    }
  }

  @Test(arguments: [
    "9223372036854775808", "-9223372036854775809", "[1,9223372036854775808]", "1e400", #""\ud800""#, #""\udc00""#,
    #""\ud800\u0041""#, #"{"\ud800x":1}"#, "", "nul", "01", "1.", "-", "+1", "[1,]", "{\"a\" 1}", "\"a", "\"a\n\"",
    "1 2", #"{"a":1,"a":2}"#, "NaN", #""\x""#, #""\u12g4""#, "'a'",
  ])
  func `JSON that could not be kept as it is names the field`(json: String) {
    #expect {
      try FieldWord("amount_minor:=" + json)
    } throws: { error in
      let error = error as? CommandError
      return error?.exitCode == .failed && error?.message.contains("\"amount_minor\"") == true
    }
  }

  @Test func `nesting is bounded`() throws {
    func nested(_ depth: Int) -> String {
      "t:=" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    #expect(throws: Never.self) { try FieldWord(nested(64)) }
    #expect(throws: CommandError.self) { try FieldWord(nested(65)) }
  }

  @Test func `durations have a whole number and a unit`() {
    let good = [("500ms", 500), ("2s", 2000), ("10m", 600_000), ("3h", 10_800_000), ("5d", 432_000_000), ("0s", 0)]
    for (word, milliseconds) in good { #expect(DurationWord(word)?.milliseconds == Int64(milliseconds)) }
    for word in ["", "s", "5", "-5s", "1.5h", "5 s", "5S", "5w", "99999999999999999999s", "9223372036854775807d", "٥s"]
    {
      #expect(DurationWord(word) == nil, "\(word)")
    }
  }

  @Test func `addresses have a host and a port`() {
    for word in ["[::]:7411", "127.0.0.1:0", "home.example:65535", "[fe80::1%eth0]:1"] {
      #expect(AddressWord(word)?.text == word, "\(word)")
    }
    for word in ["7411", ":7411", "host:", "host:65536", "host:-1", "::1:7411", "[]:1", "[host]:1", "a b:1", "host:7x"]
    {
      #expect(AddressWord(word) == nil, "\(word)")
    }
  }

  @Test func `a field is named once`() throws {
    #expect(try Sample.invocation("put", "note", "a=1", "b=2").fieldWords("FIELD=VALUE").map(\.name) == ["a", "b"])
    #expect(throws: CommandError.self) { try Sample.invocation("put", "note", "a=1", "a:=2").fieldWords("FIELD=VALUE") }
  }
}
