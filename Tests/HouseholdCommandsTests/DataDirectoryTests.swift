import Foundation
import HouseholdCommands
import Testing

/// Data directories as they should not be.
@Suite struct DataDirectoryTests {
  private let files = FileManager.default

  private func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

  @Test func `of several inits at once on one directory one makes the household, and nothing is left beside it`()
    async throws
  {
    let desk = try Desk()

    let home = desk.path("home")
    let codes = await withTaskGroup(of: Int32.self) { group in
      for index in 0..<6 {
        group.addTask {
          await CommandLineTool.run(
            arguments: ["init", "Home", "--member", "ana", "--device", "laptop\(index)"],
            environment: ["HOUSEHOLD_DATA_DIR": home], commands: CommandLineTool.commands,
            output: Output(standardOutput: CapturedSink(), standardError: CapturedSink()))
        }
      }
      return await group.reduce(into: [Int32]()) { $0.append($1) }
    }

    #expect(codes.filter { $0 == 0 }.count == 1)
    #expect(codes.allSatisfy { [0, 1, 75].contains($0) }, "\(codes)")
    #expect(await desk.run("list", "category").code == 0)
  }

  @Test func `init takes new, empty, linked and deep directories, spelled in any way`() async throws {
    let desk = try Desk()
    try files.createDirectory(atPath: desk.path("empty"), withIntermediateDirectories: false)
    try files.createDirectory(atPath: desk.path("target"), withIntermediateDirectories: false)
    try files.createSymbolicLink(atPath: desk.path("link"), withDestinationPath: desk.path("target"))

    for home in ["new", "empty", "link", "deep/er/still"] {
      let made = await desk.run(["init", "--data-dir", desk.path(home) + "/"])
      #expect(made.code == 0, "\(home): \(made.errors)")
      #expect(try await desk.records("category", in: home).count == 1)
      let again = await desk.run(["init"], in: home)
      #expect(again.code == 1 && again.errors.contains("already"), "\(again.errors)")
    }
    let mode = try files.attributesOfItem(atPath: desk.path("empty"))[.posixPermissions] as? Int
    #expect(mode == 0o700)
    #expect(!files.fileExists(atPath: desk.path("new.joining")))
  }

  @Test func `init leaves alone what is not its own`() async throws {
    let desk = try Desk()
    try files.createDirectory(atPath: desk.path("full"), withIntermediateDirectories: false)
    try write("mine", desk.path("full/letter"))
    try write("mine", desk.path("file"))
    try files.createDirectory(atPath: desk.path("home.joining"), withIntermediateDirectories: false)
    try write("mine", desk.path("home.joining/letter"))

    for (home, word) in [("full", "letter"), ("file", "no folder"), ("file/x", "folder"), ("home", "letter")] {
      let answer = await desk.run(["init"], in: home)
      #expect(answer.code == 1 && answer.errors.contains(word), "\(home): \(answer.errors)")
      #expect(!answer.errors.contains("Error("), "\(answer.errors)")
    }
    for path in ["full/letter", "file", "home.joining/letter"] {
      #expect(try String(contentsOfFile: desk.path(path), encoding: .utf8) == "mine")
    }
    let nameless = await desk.run(["init", "a\nb"], in: "nameless")
    #expect(nameless.code == 1 && !files.fileExists(atPath: desk.path("nameless")))
  }

  @Test func `init sweeps away what a killed init left`() async throws {
    let desk = try Desk()
    try files.createDirectory(atPath: desk.path("home.joining/share"), withIntermediateDirectories: true)
    try write("half a key", desk.path("home.joining/share/device.key"))
    try write("half", desk.path("home.joining/replica.sqlite-wal"))

    #expect(await desk.run("init").code == 0)

    #expect(!files.fileExists(atPath: desk.path("home.joining")))
  }

  @Test func `a household that a killed join had put aside is not swept away`() async throws {
    let desk = try Desk()
    let kept = desk.path("home.joining/snapshots/before-join-1")
    try files.createDirectory(atPath: kept, withIntermediateDirectories: true)
    try write("the only copy", kept + "/replica.sqlite")

    let answer = await desk.run("init")

    #expect(answer.code == 1 && answer.errors.contains("before-join-1"), "\(answer.errors)")
    #expect(try String(contentsOfFile: kept + "/replica.sqlite", encoding: .utf8) == "the only copy")
  }

  @Test func `where there is no household every command says how to get one`() async throws {
    let desk = try Desk()

    for words in [
      ["status"], ["members"], ["list", "note"], ["get", "note", "x"], ["put", "note", "title=x"],
      ["delete", "note", "x"], ["types"], ["schema", "show"], ["export"], ["import", "x"], ["invite", "ben"],
      ["invitations"], ["node", "--listen", "127.0.0.1:0"],
    ] {
      let answer = await desk.run(words + ["--json"])
      #expect(answer.code == 1, "\(words): \(answer.code)")
      let error = try #require(try answer.document()["error"] as? [String: Any])
      #expect(Set(error.keys) == ["code", "message", "remedy"] && error["code"] as? String == "noHousehold")
      #expect((error["remedy"] as? String)?.contains("household init") == true)
    }
    #expect(!files.fileExists(atPath: desk.path("home")))
  }

  @Test(arguments: ["no database at all, but long enough to be looked at", "", "another program's"])
  func `a replica that is none is named, and left as it is`(kind: String) async throws {
    let desk = try await Desk.withHousehold()
    let path = desk.path("home/replica.sqlite")
    for ending in ["", "-wal", "-shm"] where files.fileExists(atPath: path + ending) {
      try files.removeItem(atPath: path + ending)
    }
    try write(kind, path)
    if kind == "another program's" {
      try files.removeItem(atPath: path)
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/sqlite3")
      process.arguments = [path, "CREATE TABLE mine(x); INSERT INTO mine VALUES (1)"]
      try process.run()
      process.waitUntilExit()
    }
    let before = try Data(contentsOf: URL(filePath: path))

    let told = await desk.run("status")
    #expect(told.code == 3 && told.output.contains("replica"), "\(told.output)\(told.errors)")
    for words in [["list", "note"], ["put", "note", "title=x"], ["node", "--listen", "127.0.0.1:0"]] {
      let answer = await desk.run(words)
      #expect(answer.code == 1 && answer.errors.contains("replica"), "\(words): \(answer.errors)")
      #expect(!answer.errors.contains("unexpected"), "\(answer.errors)")
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test func `keys that are missing, cut or another's stop the node with their name`() async throws {
    let desk = try await Desk.withHousehold()
    #expect(await desk.run(["init"], in: "other").code == 0)
    let key = desk.path("home/share/device.key")
    let right = try Data(contentsOf: URL(filePath: key))
    let others = try Data(contentsOf: URL(filePath: desk.path("other/share/device.key")))

    for wrong in [nil, right.prefix(40), others, Data("junk".utf8)] {
      if let wrong { try wrong.write(to: URL(filePath: key)) } else { try files.removeItem(atPath: key) }
      let answer = await desk.run("node", "--listen", "127.0.0.1:0")
      #expect(answer.code == 1 && answer.errors.contains("home/share"), "\(answer.errors)")
    }
    try files.removeItem(atPath: desk.path("home/share/household.pem"))
    let answer = await desk.run("node", "--listen", "127.0.0.1:0")
    #expect(answer.code == 1 && answer.errors.contains("household.pem"), "\(answer.errors)")
    // Records need no keys.
    #expect(await desk.run("put", "note", "title=x").code == 0)
    #expect(await desk.run("status").code == 3)
  }

  @Test func `what needs a node says 69, and a code that cannot be read 1`() async throws {
    let desk = try await Desk.withHousehold()

    for words in [["invite", "ben"], ["invitations"], ["invitations", "cancel", "K3QZ-7M2P-9XWD-T"]] {
      #expect(await desk.run(words).code == 69, "\(words)")
    }
    for code in ["K3QZ", "K3QZ-7M2P-9XWD-U", "household://join/nothing"] {
      let answer = await desk.run(["join", code, "--address", "127.0.0.1:1", "--yes"], in: "guest")
      #expect(answer.code == 1, "\(code): \(answer.errors)")
    }
    #expect(await desk.run(["join", "K3QZ-7M2P-9XWD-T", "--yes"], in: "guest").code != 0)
    #expect(!files.fileExists(atPath: desk.path("guest")))
  }
}
