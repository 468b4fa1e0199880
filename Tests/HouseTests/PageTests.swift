import Foundation
import Testing

/// The pages for people lead where they say.
struct PageTests {
  @Test func `every link leads to a file and a heading that are there`() throws {
    for page in try House.pages() {
      let folder = page.path.split(separator: "/").dropLast().joined(separator: "/")
      for match in Self.withoutCode(page.text).matches(of: /\]\(([^)\s]+)\)/) {
        let target = String(match.1)
        if target.hasPrefix("https://") || target.hasPrefix("http://") { continue }
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].isEmpty ? page.path : folder.isEmpty ? String(parts[0]) : "\(folder)/\(parts[0])"

        #expect(House.exists(path), "\(page.path) links to \(target)")

        if parts.count == 2, House.exists(path), path.hasSuffix(".md") {
          let anchors = Self.anchors(of: try House.file(path).text)
          #expect(anchors.contains(String(parts[1])), "\(page.path) links to \(target)")
        }
      }
    }
  }

  @Test func `every path in code type is there`() throws {
    for page in try House.pages() {
      for match in page.text.matches(of: /`((?:Sources|Tests|Docs|Scripts|Certificates|\.ci)\/[A-Za-z0-9_.+\/-]+)`/) {
        #expect(House.exists(String(match.1)), "\(page.path) names \(match.1)")
      }
    }
  }

  @Test func `every suite of tests that a page names is there`() throws {
    let suites = try House.tests().map(\.text).joined(separator: "\n")
    for page in try House.pages() {
      for match in page.text.matches(of: /`([A-Z][A-Za-z]+Tests)`/) {
        let name = String(match.1)
        let isTarget = House.exists("Tests/\(name)")
        #expect(isTarget || suites.contains("struct \(name) "), "\(page.path) names \(name)")
      }
    }
  }

  @Test func `every promise of the threat model names the tests that show it`() throws {
    let text = try House.file("Docs/ThreatModel.md").text
    let promises = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Promises kept today") })
    let rows = promises.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| against") }

    #expect(rows.count > 15)
    for row in rows { #expect(row.contains(/`[A-Z][A-Za-z]+Tests`/), "\(row)") }
  }

  @Test func `every page of Docs is in its reading order`() throws {
    let index = try House.file("Docs/README.md").text

    for page in try House.files(in: "Docs", endingWith: ".md") where page.path != "Docs/README.md" {
      let path = page.path.dropFirst("Docs/".count)
      #expect(index.contains("](\(path))"), "Docs/README.md does not lead to \(path)")
    }
  }

  @Test func `every library has a page of its own`() throws {
    let programs = ["household", "household-benchmarks", "household-simulator", "notes"]
    let libraries = Set(try House.sources().map(\.target)).subtracting(programs)

    for library in libraries {
      #expect(House.exists("Sources/\(library)/\(library).docc/\(library).md"), "\(library) has no page")
    }
  }

  @Test func `a decision record has at most forty lines`() throws {
    let records = try House.files(in: "Docs/Decisions", endingWith: ".md")

    #expect(!records.isEmpty)
    for record in records { #expect(record.lines.count <= 41, "\(record.path) has \(record.lines.count) lines") }
  }

  @Test func `nothing is left to be done in the text`() throws {
    let marks = ["TO" + "DO", "FIX" + "ME"]
    let scripts = try House.files(in: "Scripts", endingWith: "")

    for file in try House.sources() + House.tests() + House.pages() + scripts {
      for mark in marks { #expect(!file.text.contains(mark), "\(file.path) says \(mark): mend it or write an issue") }
    }
  }

  /// The page without blocks and spans of code.
  private static func withoutCode(_ text: String) -> String {
    text.replacing(/(?ms)^```.*?^```/, with: "").replacing(/`[^`\n]*`/, with: "")
  }

  /// The anchors of the headings: lower case, blanks as hyphens, marks left out.
  private static func anchors(of text: String) -> Set<String> {
    Set(
      text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
        let title = line.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(title.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" })
          .replacingOccurrences(of: " ", with: "-")
      })
  }
}
