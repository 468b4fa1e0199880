import Foundation
import Testing

/// When copies are made under `snapshots/`: five are kept, so one that is of no use takes the place of one that was.
struct SafetyCopyTests {
  private func copies(_ desk: Desk) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: desk.path("home/snapshots"))
  }

  @Test func `no copy is made for what is refused or changes nothing`() async throws {
    let desk = try await Desk.withHousehold()
    let file = desk.path("sunday.backup")
    try #require(await desk.run("backup", file).code == 0)

    let unknown = await desk.run("approve", "nope")
    let unchanged = await desk.run("recover", file, "--scope", "household", "--yes")

    #expect(unknown.code == 1 && unknown.errors.contains("no held change"))
    #expect(unchanged.code == 0, "\(unchanged.errors)")
    #expect(try copies(desk) == [])
    _ = await desk.run("put", "note", "n1", "title=x")
    #expect(await desk.run("recover", file, "--scope", "household", "--yes").code == 0)
    #expect(try copies(desk).count == 1)
  }

  @Test func `putting a device back tells of the edits that are on no other device, sealed or not`() async throws {
    let desk = try await Desk.withHousehold()
    let file = desk.path("sunday.backup")
    try #require(await desk.run("backup", file).code == 0)
    _ = await desk.run("put", "note", "n1", "title=x")
    _ = await desk.run("put", "note", "n2", "title=y")

    let answer = await desk.run("recover", file, "--scope", "device", "--yes")

    #expect(answer.code == 0)
    #expect(answer.errors.contains("2 edits"), "\(answer.errors)")
    #expect(answer.errors.contains("snapshots/ only"), "\(answer.errors)")
  }
}
