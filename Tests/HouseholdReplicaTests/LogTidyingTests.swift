import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("The write-ahead log is tidied apart from commits, and what need not be durable at once waits for no disk")
struct LogTidyingTests {
  let home: TestHousehold
  let a: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
  }

  /// Edits one record and seals it.
  private func edit(_ number: Int) throws {
    try a.put("category", "c", [("name", .text("Name \(number)"))])
    try a.seal()
  }

  @Test func `a log of more pages than SQLite would wait for is tidied when it is asked for, and nothing is lost`()
    throws
  {
    try edit(0)
    let before = a.replica.logPages
    for number in 1...30 { try edit(number) }
    #expect(a.replica.logPages > before)

    try a.replica.tidyLog()

    #expect(a.replica.logPages == 0)
    #expect(try a.fields("category", "c")?["name"] == .text("Name 30"))
    try edit(31)
    #expect(a.replica.logPages < before + 30, "the log begins from its start")
    try a.restart()
    #expect(try a.fields("category", "c")?["name"] == .text("Name 31"))
  }

  @Test func `what a reader still needs stays in the log and is tidied after it`() throws {
    try edit(0)
    let reader = try RecordAccess(path: a.path, readOnly: true, cryptography: OpenSSLCryptography())
    try reader.execute("BEGIN")
    _ = try reader.record(a.type("category"), "c")
    for number in 1...10 { try edit(number) }

    try a.replica.tidyLog()

    let rest = a.replica.logPages
    #expect(rest > 0)
    try reader.execute("COMMIT")
    try a.replica.tidyLog()
    #expect(a.replica.logPages == 0)
  }

  @Test func `commits are counted, those in passing too, and what is looked at only is none`() throws {
    try edit(0)
    let before = a.replica.commits

    try a.replica.saw(home["sam"].key.device, at: a.now, completedSync: a.now, contact: "{}")
    try a.replica.acknowledge(a.replica.vectors().received, by: home["sam"].key.device, at: a.now)
    _ = try a.replica.hasUnsealedEdits()
    try a.seal()

    #expect(a.replica.commits == before + 2)
    try a.restart()
    #expect(try a.replica.peer(home["sam"].key.device).acknowledged == a.replica.vectors().received)
  }

  @Test
  func
    `a file that another program took out of that mode gets its log again, so that readers keep nobody from writing`()
    throws
  {
    try edit(0)
    a.access.close()
    a.replica.close()
    let other = try RecordAccess(path: a.path, readOnly: false, cryptography: OpenSSLCryptography())
    try other.execute("PRAGMA journal_mode = DELETE")
    other.close()

    try a.reopen()
    let reader = try RecordAccess(path: a.path, readOnly: true, cryptography: OpenSSLCryptography())
    try reader.execute("BEGIN")
    _ = try reader.record(a.type("category"), "c")

    try edit(1)
    #expect(try a.fields("category", "c")?["name"] == .text("Name 1"))
    reader.close()
  }
}
