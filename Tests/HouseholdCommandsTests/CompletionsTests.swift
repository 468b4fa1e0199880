import Foundation
import HouseholdCommands
import Testing

@Suite struct CompletionsTests {
  /// What bash offers for the last of these words.
  private func offered(_ words: String...) throws -> [String] {
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let script =
      CompletionShell.bash.script(for: Sample.table)
      + "\nCOMP_WORDS=(household \(list)); COMP_CWORD=\(words.count); _household; printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["--norc", "-c", script]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test func `bash offers commands, options and allowed values`() throws {
    #expect(try offered("st") == ["status"])
    #expect(try offered("status", "--w") == ["--watch", "--wait-acked"])
    #expect(try offered("--data-dir", "status", "report", "--by", "m") == ["member", "month"])
    #expect(try offered("report", "--by", "=", "p") == ["payee"])
    #expect(try offered("report", "--by", "=") == ["member", "category", "payee", "month"])
    #expect(try offered("completions", "") == ["bash", "zsh", "fish"])
    #expect(try offered("--j") == ["--json"])
  }

  @Test(arguments: CompletionShell.allCases)
  func `every script names every command, option and allowed value`(shell: CompletionShell) {
    let script = shell.script(for: Sample.table)

    for command in Sample.table.commands {
      #expect(script.contains(command.name))
      for option in command.options { #expect(script.contains(option.name)) }
    }
    #expect(script.contains("member category payee month"))
    #expect(script.contains("bash zsh fish"))
  }
}
