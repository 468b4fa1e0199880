import Testing

/// A file is a room that one can hold in one's head (CONTRIBUTING.md).
struct SizeTests {
  private static let fileLines = 400
  private static let functionLines = 60

  /// What may be longer, and why. Keys: `path` for a file, `path name` for a function.
  private static let excused: [String: String] = [:]

  @Test func `no file has more than 400 lines`() throws {
    for file in try House.sources() + House.tests() where Self.excused[file.path] == nil {
      let count = file.lines.count - (file.text.hasSuffix("\n") ? 1 : 0)
      #expect(count <= Self.fileLines, "\(file.path) has \(count) lines: which idea wants its own file?")
    }
  }

  @Test func `no function has more than 60 lines`() throws {
    for file in try House.sources() + House.tests() {
      for function in file.code.functions
      where function.lineCount > Self.functionLines && Self.excused["\(file.path) \(function.name)"] == nil {
        Issue.record("\(file.path):\(function.line) \(function.name) has \(function.lineCount) lines")
      }
    }
  }

  @Test func `the excuses are still needed`() throws {
    for key in Self.excused.keys.sorted() {
      let path = key.prefix { $0 != " " }
      let file = try House.file(String(path))
      let isLong =
        key.contains(" ")
        ? file.code.functions.contains { key.hasSuffix(" \($0.name)") && $0.lineCount > Self.functionLines }
        : file.lines.count > Self.fileLines
      #expect(isLong, "\(key) is short enough now")
    }
  }

  @Test func `a function is measured from its first word to its last brace`() {
    let text = """
      struct A {
        func one(
          _ f: () -> Void = {}
        ) {
          print("}}} \\(["}"].map { "{" + $0 })")  // }
        }

        /* } */
        init() { }
        func `a { b`() {
        }
      }
      protocol P {
        func none()
        func none2() -> Int
      }
      func last() { }
      """

    let functions = SourceText(text).functions

    #expect(functions.map(\.line) == [2, 9, 10, 17])
    #expect(functions.map(\.lineCount) == [5, 1, 2, 1])
  }
}
