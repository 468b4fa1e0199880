import HouseholdCommands
import Testing

@Suite struct QRCodeTests {
  private func rows(_ code: QRCode) -> [String] {
    (0..<code.side).map { row in
      String((0..<code.side).map { code.isDark(row: row, column: $0) ? "1" : "0" })
    }
  }

  @Test func `a short text is the matrix that another encoder makes`() throws {
    let expected = """
      111111100011001111111
      100000100111101000001
      101110101111101011101
      101110101110001011101
      101110101000101011101
      100000101101001000001
      111111101010101111111
      000000001100000000000
      101111100101001111100
      110011001101111111001
      110111100010100001010
      100010010011110011100
      010001110010101011001
      000000001000110111101
      111111100001000001110
      100000101010000101110
      101110101001000111001
      101110101001111110100
      101110101010101001000
      100000100101111001100
      111111101100100000010
      """

    let code = try #require(QRCode(bytes: Array("household".utf8), mask: 2))

    #expect(code.version == 1)
    #expect(rows(code) == expected.split(separator: "\n").map(String.init))
  }

  @Test func `several blocks, alignments and version information are as another encoder makes them`() throws {
    // Each row of 45 modules as a hexadecimal number.
    let expected = """
      1fcee164e97f
      10517e14ba41
      175e84915a5d
      175f05bdfb5d
      17407bf3775d
      1046591bb041
      1fd55555557f
      0018031fd900
      105ffbfa0ace
      0210477ff5f0
      19fbe250074a
      102a1430be3c
      1346fd3874fe
      1c2620c1d12d
      1e64ddfd3572
      1caff7be832e
      1ad44686ac62
      07077ae2e305
      0ed62670a335
      020c42adde27
      1ff0fdf621f9
      0b12431b5f19
      175917529f5a
      13117d11351d
      05f58ff53bf2
      15b43d38ea29
      1673cc900e0e
      13380ef7c42d
      0d5d88a2c077
      0194d9d2512f
      0b536173f247
      0b1757235a45
      084acb06a498
      169e9f2fe513
      0150e5a735b6
      0f01c1931a6e
      1341c3f7d7f8
      0017b911631c
      1fc56f59375e
      104d9514e31f
      1748ddf4cffb
      1740463bc879
      1742e77c19b9
      104ff4a4b404
      1fd5ae1503f2
      """
    let text =
      "household:join?code=ABCD-EFGH-JKMN-P&at=192.168.1.20:7411&at=[fe80::1]:7411&key=3f2a9c4e5d6b7a8f90&name=home"

    let code = try #require(QRCode(bytes: Array(text.utf8), mask: 5))

    #expect(code.version == 7)
    #expect(rows(code).map { UInt64($0, radix: 2) } == expected.split(separator: "\n").map { UInt64($0, radix: 16) })
  }

  @Test func `the version grows with the text, and 666 bytes are the most`() throws {
    #expect(QRCode(bytes: Array(repeating: 65, count: 14), mask: 0)?.version == 1)
    #expect(QRCode(bytes: Array(repeating: 65, count: 15), mask: 0)?.version == 2)
    #expect(QRCode(bytes: Array(repeating: 65, count: 180), mask: 0)?.version == 9)
    #expect(QRCode(bytes: Array(repeating: 65, count: 181), mask: 0)?.version == 10)
    #expect(QRCode(bytes: Array(repeating: 65, count: 666), mask: 0)?.version == 20)
    #expect(QRCode(bytes: Array(repeating: 65, count: 667), mask: 0) == nil)
  }

  @Test func `the chosen mask is written into the matrix`() throws {
    let best = try #require(QRCode("household"))
    let forced = try #require(QRCode(bytes: Array("household".utf8), mask: best.mask))

    #expect(rows(best) == rows(forced))
  }

  @Test func `a terminal shows every module and the quiet zone`() throws {
    let code = try #require(QRCode("household"))

    let lines = code.terminalLines(colors: false)

    let dark: [Character: (Bool, Bool)] = [
      "█": (false, false), "▀": (false, true), "▄": (true, false), " ": (true, true),
    ]
    #expect(lines.count == (code.side + 8 + 1) / 2)
    for (line, text) in lines.enumerated() {
      #expect(text.count == code.side + 8)
      for (column, character) in text.enumerated() {
        let (upper, lower) = try #require(dark[character])
        #expect(upper == code.isDark(row: line * 2 - 4, column: column - 4))
        #expect(lower == code.isDark(row: line * 2 - 3, column: column - 4))
      }
    }
    #expect(code.terminalLines(colors: true).allSatisfy { $0.hasPrefix("\u{1B}[97;40m") && $0.hasSuffix("\u{1B}[0m") })
  }
}
