import Foundation
import HouseholdRecords
import Testing

/// The table of messages in `Docs/Protocol.md`, by which another node is built.
struct MessageTableTests {
  @Test func `the table of messages names the limits that hold (P3)`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "Docs/Protocol.md"), encoding: .utf8)
    let limits: [String: [Int]] = [
      "hello": [Limits.membershipHeads, Limits.nameBytes, Limits.addressesPerDevice, Limits.addressBytes],
      "acknowledge": [Limits.vectorEntriesPerControlFrame],
      "offer": [Limits.vectorEntriesPerControlFrame],
      "goodbye": [Limits.sentenceBytes],
      "shareKey": [Limits.shareKeyBytes],
      "certificate": [Limits.certificateBytes],
      "membershipHave": [Limits.membershipEntries],
      "membership": [Limits.membershipEntries, Limits.entryBytes >> 10],
      "subscribe": [ChangeToken.byteLimit, Limits.cursorBytes],
      "withheld": [Limits.vectorEntries],
      "present": [Limits.presences, Limits.vectorEntriesPerControlFrame],
    ]

    for (message, expected) in limits.sorted(by: { $0.key < $1.key }) {
      let row = try #require(page.split(separator: "\n").first { $0.contains("` | \(message) | ") })
      let told = row.matches(of: /≤ ([0-9,]+)/).compactMap { Int($0.1.replacing(",", with: "")) }

      #expect(told == expected, "\(message)")
    }
  }
}
