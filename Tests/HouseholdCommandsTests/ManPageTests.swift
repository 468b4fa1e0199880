import Foundation
import HouseholdCommands
import Testing

/// The manual page says what help says.
@Suite struct ManPageTests {
  private let page = ManPage(of: CommandTable(CommandLineTool.commands.map(\.description)), version: "1.2.3").text

  @Test func `every command and option is in it`() {
    for command in CommandLineTool.commands.map(\.description) {
      #expect(page.contains("\n.B household \(command.name.replacing("-", with: #"\-"#))"), "\(command.name)")
      for option in command.options {
        #expect(page.contains(#"\-\-"# + option.name.replacing("-", with: #"\-"#)), "\(option.name)")
      }
    }
    #expect(page.contains("household 1.2.3"))
  }

  @Test func `no line of text is taken for a command of roff`() {
    let macros: Set<Substring> = [".TH", ".SH", ".SS", ".TP", ".B", ".BR", ".I", ".IP", ".RS", ".RE", ".\\\""]

    for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect(macros.contains(line.prefix { $0 != " " }), "\(line)")
    }
  }

  @Test func `help --man prints it`() async throws {
    let answer = await (try Desk()).run("help", "--man")

    #expect(answer.code == 0)
    #expect(answer.output.hasPrefix(#".\" Made by"#))
  }
}
