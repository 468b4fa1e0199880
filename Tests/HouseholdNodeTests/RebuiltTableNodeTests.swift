import Foundation
import Testing

/// A tool that makes a table anew takes its triggers away.
@Suite(.serialized, .ownThread) struct RebuiltTableNodeTests {
  @Test func `status names a table that was made anew, and the node puts it right and captures what was written`()
    throws
  {
    let place = try Place()
    let ana = try place.founder()
    func damaged() throws -> [String] {
      let findings = try #require(try ana.status().report["findings"] as? [[String: Any]])
      return findings.filter { $0["code"] as? String == "tableDamaged" }.compactMap { $0["subject"] as? String }
    }
    try ana.put("alias", "a1", "pattern=shop")
    #expect(try ana.stop() == 0)

    _ = try ana.sqlite(
      """
      CREATE TABLE anew(id TEXT PRIMARY KEY NOT NULL, pattern TEXT, category TEXT);
      INSERT INTO anew SELECT id, pattern, category FROM alias;
      DROP TABLE alias; ALTER TABLE anew RENAME TO alias;
      INSERT INTO alias(id, pattern) VALUES ('a2', 'bus')
      """)
    #expect(try damaged() == ["alias"])
    #expect(try ana.status().code == 3)
    try ana.start()

    try eventually("it is put right", seconds: 20) { try damaged().isEmpty }
    let history = try #require(try ana.json("history", "alias", "a2")["changes"] as? [[String: Any]])
    #expect(history.count == 1)
  }
}
