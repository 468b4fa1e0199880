import Foundation
import Testing

/// A running node posts what is due of series that say so.
@Suite(.serialized, .ownThread) struct RecurringNodeTests {
  @Test func `a node posts due payments of a new series, and never again what was deleted`() throws {
    let place = try Place()
    let ana = try place.founder()
    func dates() throws -> Set<String> {
      Set(try ana.records("transaction").values.compactMap { $0["date"] as? String })
    }

    try ana.put(
      "recurring", "rent", "every=year", "start=2024-02-29", "end=2025-12-31", "amount_minor=-5", "auto_post:=true")
    try ana.put("recurring", "manual", "every=year", "start=2024-03-01", "end=2025-12-31", "amount_minor=-5")
    try eventually("both are posted", seconds: 20) { try dates() == ["2024-02-29", "2025-02-28"] }
    let id = try #require(try ana.records("transaction").first { $0.value["date"] as? String == "2024-02-29" }?.key)
    _ = try ana.run("delete", "transaction", id)
    try ana.put("recurring", "rent", "end=2026-03-31")

    try eventually("the next one is posted", seconds: 20) { try dates() == ["2025-02-28", "2026-02-28"] }
    #expect(try !ana.log().contains("rent"))
  }
}
