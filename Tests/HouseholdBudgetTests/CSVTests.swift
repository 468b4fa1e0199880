import Foundation
import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct CSVTests {
  private func fields(_ text: String, separator: Character = ",") throws -> [[String]] {
    try CSVReader.rows(text.utf8, separator: separator).map(\.fields)
  }

  @Test func `quoted fields may hold separators, doubled quotes and line ends`() throws {
    let rows = try fields("a,\"b,c\",\"say \"\"hi\"\"\"\n\"two\r\nlines\",,\n")

    #expect(rows == [["a", "b,c", "say \"hi\""], ["two\r\nlines", "", ""]])
  }

  @Test func `lines end with LF, CR or CRLF, and the last needs no end`() throws {
    #expect(try fields("a,b\nc,d\re,f\r\ng,h") == [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]])
  }

  @Test func `a byte order mark is skipped, and a piece of one is text`() throws {
    #expect(try fields("\u{FEFF}a,b\n") == [["a", "b"]])
    #expect(throws: CSVFailure(reason: .notUTF8, line: 1)) { try CSVReader.rows([0xEF, 0xBB]) }
  }

  @Test func `blank lines yield nothing, a lone quoted empty field yields a record`() throws {
    #expect(try fields("\n\r\n\"\"\n\n") == [[""]])
    #expect(try fields("").isEmpty)
  }

  @Test func `a quote inside an unquoted field stands for itself`() throws {
    #expect(try fields("5\" pipe,x\n") == [["5\" pipe", "x"]])
  }

  @Test func `records carry the physical line on which they begin`() throws {
    let rows = try CSVReader.rows("h\r\n\r\n\"a\r\nb\rc\nd\"\r\nlast".utf8)

    #expect(rows.map(\.line) == [1, 3, 7])
  }

  @Test func `an unterminated quote names the line where it opens`() {
    #expect(throws: CSVFailure(reason: .unterminatedQuote, line: 3)) { try fields("a\n\"b\nc\",\"d\ne\nf") }
    #expect(throws: CSVFailure(reason: .textAfterQuote, line: 2)) { try fields("a\n\"b\"c\n") }
  }

  @Test func `bytes that are no UTF-8 are refused with their line`() {
    #expect(throws: CSVFailure(reason: .notUTF8, line: 2)) { try CSVReader.rows(Array("a\n".utf8) + [0xFC, 0x0A]) }
  }

  @Test func `the separator is configurable`() throws {
    #expect(try fields("a;1,50;\"x;y\"\n", separator: ";") == [["a", "1,50", "x;y"]])
  }

  @Test func `a field, a record or a line of fields over its limit is refused`() throws {
    let longest = String(repeating: "x", count: Limits.textBytes)

    #expect(try fields(longest) == [[longest]])
    #expect(throws: CSVFailure(reason: .fieldTooLong, line: 1)) { try fields(longest + "x") }
    let fewest = Limits.recordBytes / Limits.textBytes
    #expect(throws: CSVFailure(reason: .recordTooLong, line: 1)) {
      try fields(Array(repeating: longest, count: fewest).joined(separator: ",") + ",x")
    }
    #expect(throws: CSVFailure(reason: .tooManyFields, line: 1)) {
      try fields(String(repeating: ",", count: Limits.importColumns))
    }
  }

  @Test func `what the writer writes the reader reads back, however the bytes are cut`() throws {
    let records = [
      ["plain", "with,comma", "with \"quotes\""], ["", "", ""], [""], ["line\nend", "\r", "🎂 e\u{301}"], ["\u{FEFF}"],
      [" blank ", "\t", "''"],
    ]
    let bytes = Array(records.map(CSVWriter().line).joined().utf8)

    for size in [1, 2, 3, 7, bytes.count] {
      var reader = CSVReader()
      var rows: [CSVRow] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        rows += try reader.read(bytes[start..<min(start + size, bytes.count)])
      }
      rows += try reader.finish()

      #expect(rows.map(\.fields) == records, "cut into pieces of \(size) bytes")
    }
  }

  @Test func `the writer quotes only what needs it`() {
    #expect(CSVWriter().line(["a b", "c;d", "e,f", "g\"h"]) == "a b,c;d,\"e,f\",\"g\"\"h\"\n")
    #expect(CSVWriter(separator: ";").line(["c;d", "e,f"]) == "\"c;d\";e,f\n")
  }

  @Test func `two years of a household come out to the cent`() throws {
    struct Expected: Decodable {
      let rows: Int
      let sum_minor: Int
      let by_category: [String: Int]
    }
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
    let json = try Data(contentsOf: fixtures.appending(path: "household-24m.expected.json"))
    let expected = try JSONDecoder().decode(Expected.self, from: json)

    let rows = try CSVReader.rows(Data(contentsOf: fixtures.appending(path: "household-24m.csv")))

    let header = try #require(rows.first?.fields)
    let amount = try #require(header.firstIndex(of: "amount_minor"))
    let category = try #require(header.firstIndex(of: "category"))
    var sums: [String: Int] = [:]
    for row in rows.dropFirst() {
      #expect(row.fields.count == header.count, "line \(row.line)")
      sums[row.fields[category], default: 0] += try #require(Int(row.fields[amount]))
    }
    #expect(rows.count - 1 == expected.rows)
    #expect(sums == expected.by_category)
    #expect(sums.values.reduce(0, +) == expected.sum_minor)
  }
}
