import Foundation
import Testing

/// A node and its settings file.
@Suite(.ownThread) struct SettingsTests {
  private func write(_ text: String, to home: Home) throws {
    try Data(text.utf8).write(to: URL(filePath: home.directory + "/settings"))
  }

  @Test func `a node listens where its file says, and logs as little`() throws {
    let place = try Place()
    let home = place.home("ana")
    #expect(try home.run("init", "--member", "ana").code == 0)
    try write("listen = 127.0.0.1:0\ndiscovery = off\nlog-level = off\n", to: home)

    let process = try Program.start(["node", "--data-dir", home.directory], folder: place.folder, name: "node")
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    try eventually("it listens") {
      try String(contentsOfFile: place.path("node.out"), encoding: .utf8).hasPrefix("listening on 127.0.0.1:")
    }
    try write("listen = nowhere\n", to: home)
    let refused = try home.run("node")
    #expect(refused.code == 64)
    #expect(refused.errors.contains("line 1"))
  }

  @Test func `joining another household keeps what the node is told`() throws {
    let place = try Place()
    let ana = try place.founder()
    let ben = place.home("ben")
    #expect(try ben.run("init", "--member", "ben").code == 0)
    try write("log-level = problems\n", to: ben)

    let joined = try ben.run("join", try ana.invite("ben"), "--device", "b", "--data", "replace", "--yes")

    #expect(joined.code == 0, "\(joined.errors)")
    #expect(
      try String(contentsOfFile: ben.directory + "/settings", encoding: .utf8) == "log-level = problems\n")
  }
}
