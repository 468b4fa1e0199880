import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Set aside: of what does not count, a snapshot tells what the log no longer holds one by one (R3, D5)")
struct SetAsideTests {
  /// The records that the rejected changesets here wrote, each as often as it is listed.
  private func rejected(_ device: TestHousehold.Device) throws -> [String] {
    try device.access.rejected().flatMap(\.edits).map(\.id).sorted()
  }

  @Test func `whose log holds what a snapshot has set aside passes it on from the log (household 200392)`() throws {
    let home = try TestHousehold("ann", "bo", "cy")
    try home["cy"].put("category", "c1", [("name", .text("by cy"))])
    try home.pull("bo", from: "cy")
    try home.add("di", needsSnapshot: true)
    try home.adoptSnapshot("di", from: "cy")
    try home.remove("cy", by: "ann")
    for name in ["bo", "di"] { try home.tell(name, from: "ann") }
    try home.adoptSnapshot("bo", from: "di")

    try home.add("ed", needsSnapshot: true)
    try home.adoptSnapshot("ed", from: "bo")
    try home.pull("ed", from: "bo")

    for name in ["bo", "di", "ed"] { #expect(try rejected(home[name]) == ["c1"], "\(name)") }
    try home.settle("ann", "bo", "di", "ed")
    #expect(try home.firstDifference("ann", "bo", "di", "ed") == nil)
    for change in try home["ann"].access.rejected() { #expect(try home["ann"].access.adopt(change.id).isEmpty) }
    try home.settle("ann", "bo", "di", "ed")
    for name in ["bo", "di", "ed"] {
      #expect(try home[name].fields("category", "c1")?["name"] == .text("by cy"), "\(name)")
    }
  }

  @Test func `what came one by one before a snapshot of it did is told on when a cutoff takes it`() throws {
    let home = try TestHousehold("ann", "bo", "cy")
    try home["cy"].put("category", "c1", [("name", .text("by cy"))])
    try home.pull("bo", from: "cy")
    try home["cy"].put("category", "c2", [("name", .text("by cy"))])
    try home["cy"].seal()
    try home.adoptSnapshot("bo", from: "cy")
    try home.remove("cy", by: "ann")
    try home.tell("bo", from: "ann")

    try home.add("ed", needsSnapshot: true)
    try home.adoptSnapshot("ed", from: "bo")
    try home.pull("ed", from: "bo")

    for name in ["bo", "ed"] { #expect(try rejected(home[name]) == ["c1", "c2"], "\(name)") }
    try home.settle("ann", "bo", "ed")
    #expect(try rejected(home["ann"]) == ["c1", "c2"])
    #expect(try home.firstDifference("ann", "bo", "ed") == nil)
  }

  @Test(arguments: ["cy", "second"])
  func `what a branch left goes by snapshot with the branch, though the log holds it one by one (household 406231)`(
    known: String
  ) throws {
    let home = try TestHousehold("ann", "bo", "cy", "di")
    try home["cy"].put("category", "c1", [("name", .text("by cy"))])
    try home["cy"].seal()
    _ = try home.copy("cy", as: "second")
    func give(to: String, from: String) throws {
      let log = try home[from].replica.log(after: .start, skipping: VersionVector(), limitBytes: .max)
      let (replica, device) = (home[to].replica, home["cy"].key.device)
      _ = try replica.receive(log.changesets.map(\.packed), from: device, token: nil, now: home[to].now)
    }
    for name in ["cy", "second"] {
      try home[name].put("category", name, [("name", .text("by cy"))])
      try home[name].seal()
      try give(to: "di", from: name)
    }
    try home.add("ed", needsSnapshot: true)
    try home.adoptSnapshot("ed", from: "di")
    // One of the two branches is in bo's log, with what both of them left.
    try give(to: "bo", from: known)
    try home.remove("cy", by: "ann")
    for name in ["bo", "ed"] { try home.tell(name, from: "ann") }
    try home.adoptSnapshot("bo", from: "ed")

    try home.add("fay", needsSnapshot: true)
    try home.adoptSnapshot("fay", from: "bo")
    // Which of the two has the replica's name there is not what bo calls so.
    try give(to: "fay", from: "bo")

    for name in ["bo", "ed", "fay"] { #expect(try rejected(home[name]) == ["c1", "cy", "second"], "\(name)") }
    try home.settle("ann", "bo", "di", "ed", "fay")
    #expect(try home.firstDifference("ann", "bo", "di", "ed", "fay") == nil)
    for change in try home["ann"].access.rejected() { #expect(try home["ann"].access.adopt(change.id).isEmpty) }
    try home.settle("ann", "bo", "di", "ed", "fay")
    for name in ["bo", "di", "ed", "fay"] {
      for id in ["c1", "cy", "second"] {
        #expect(try home[name].fields("category", id)?["name"] == .text("by cy"), "\(name) \(id)")
      }
    }
  }
}
