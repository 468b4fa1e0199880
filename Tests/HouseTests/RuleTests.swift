import Foundation
import Testing

/// Every rule of the protocol is cited by a test that proves it.
struct RuleTests {
  private static let page = "Docs/Protocol.md"

  /// Rules that no test can cite yet, and why.
  private static let unproven: [String: String] = [:]

  /// The rules that a page states: `| R1 |` at the head of a table's row, `- **P1**` at the head of an item.
  private static func rules(in file: House.File) -> Set<String> {
    var rules: Set<String> = []
    for line in file.lines {
      if let match = line.prefixMatch(of: /\| (R[0-9]+) \|/) ?? line.prefixMatch(of: /- \*\*([RP][0-9]+)\*\*/) {
        rules.insert(String(match.1))
      }
    }
    return rules
  }

  private static func cited() throws -> Set<String> {
    var cited: Set<String> = []
    for file in try House.tests() { cited.formUnion(citations(in: file.text)) }
    return cited
  }

  /// Every `R1` or `P1` that stands as a word of its own.
  private static func citations(in text: String) -> Set<String> {
    let words = text.utf8.split { byte in
      !(byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
        || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") || byte == UInt8(ascii: "_"))
    }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let rules = words.filter { word in
      (word.first == UInt8(ascii: "R") || word.first == UInt8(ascii: "P")) && word.count > 1
        && word.dropFirst().allSatisfy(digits.contains)
    }
    return Set(rules.map { String(decoding: $0, as: UTF8.self) })
  }

  @Test(.enabled(if: House.exists(Self.page)))
  func `every rule of the protocol is cited by a test`() throws {
    let rules = Self.rules(in: try House.file(Self.page))
    let cited = try Self.cited()

    #expect(rules.count > 9, "\(Self.page) states rules, and none of them can be read")
    for rule in rules.sorted() where Self.unproven[rule] == nil {
      #expect(cited.contains(rule), "no test cites \(rule)")
    }
  }

  @Test(.enabled(if: House.exists(Self.page)))
  func `every rule that code or tests cite is stated`() throws {
    let rules = Self.rules(in: try House.file(Self.page))

    for file in try House.sources() + House.tests() {
      for rule in Self.citations(in: file.text).subtracting(rules).sorted() {
        Issue.record("\(file.path) cites \(rule), which \(Self.page) does not state")
      }
    }
  }

  @Test func `the list of unproven rules is not too long`() throws {
    let cited = try Self.cited()

    for (rule, reason) in Self.unproven {
      #expect(!cited.contains(rule), "\(rule) is cited by now")
      #expect(!reason.isEmpty)
    }
  }
}
