import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("The replica check finds what is not as it must be, and nothing else")
struct ReplicaCheckTests {
  let home: TestHousehold
  let a: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    try a.put("category", "c1", [("name", .text("Food"))])
    try a.put("transaction", "t1", [("amount_minor", .integer(5)), ("category", .text("c1"))])
    try a.put("transaction", "t2", [("amount_minor", .integer(6))])
    try home.sync("alex", "sam")
    try home["sam"].put("transaction", "t1", [("note", .text("mine"))])
    try a.put("transaction", "t1", [("note", .text("ours"))])
    try a.delete("transaction", "t2")
    try home.sync("alex", "sam")
  }

  private func faults(isThorough: Bool = true) throws -> [ReplicaCheck.Fault] {
    try ReplicaCheck.run(path: a.path, isThorough: isThorough, cryptography: OpenSSLCryptography()).flatMap(\.faults)
  }

  /// Writes past the triggers, as damage does.
  private func damage(_ sql: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/sqlite3")
    process.arguments = ["-cmd", ".dbconfig enable_trigger off", a.path, sql]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  @Test func `a replica with edits, conflicts and deletions is whole`() throws {
    #expect(try faults().isEmpty)
    #expect(try faults(isThorough: false).isEmpty)
  }

  @Test func `what is edited and not sealed is no fault`() throws {
    try a.put("category", "c2", [("name", .text("Trips"))])
    try a.delete("category", "c1")

    #expect(try faults().isEmpty)
  }

  @Test func `a row that went without a changeset is found`() throws {
    try damage("DELETE FROM \"transaction\" WHERE id = 't1'")

    #expect(try faults(isThorough: false).map(\.part) == [.rows])
  }

  @Test func `a row that came without a changeset is found`() throws {
    try damage("INSERT INTO category(id, name) VALUES ('c9', 'Nobody')")

    #expect(try faults(isThorough: false).map(\.part) == [.rows])
  }

  @Test func `a changeset with another hash is found, and that nothing follows on it`() throws {
    try damage("UPDATE sync_changeset SET hash = randomblob(32) WHERE position = 1")

    let found = try faults()

    #expect(found.allSatisfy { $0.part == .chain })
    #expect(found.contains { $0.text.hasSuffix("is not what its hash says.") })
  }

  @Test func `a changeset that is gone is found, and the records that it wrote`() throws {
    try damage("DELETE FROM sync_changeset WHERE position = 1")

    #expect(Set(try faults().map(\.part)).isSuperset(of: [.records]))
  }

  @Test func `a changeset whose bytes were changed is not its author's`() throws {
    try damage(
      """
      UPDATE sync_changeset SET body = CAST(substr(body, 1, length(body) - 1)
        || CASE WHEN substr(body, -1) = x'00' THEN x'01' ELSE x'00' END AS BLOB) WHERE position = 1
      """)

    #expect(try faults().contains { $0.part == .chain })
  }

  @Test func `references to what is not there are counted`() throws {
    try a.delete("category", "c1")

    let found = try ReplicaCheck.danglingReferences(path: a.path, cryptography: OpenSSLCryptography())

    #expect(found.map(\.field) == ["transaction.category"] && found.map(\.count) == [1])
  }
}
