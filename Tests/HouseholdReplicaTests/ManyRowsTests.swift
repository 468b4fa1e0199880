import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Records that are stored many at a time are stored as one by one")
struct ManyRowsTests {
  /// More than a statement has rows, so that some go one by one.
  private static let count = 150

  /// Records of all types with all kinds of values; every so often one is edited, deleted or contested.
  private func fill(_ home: TestHousehold) throws {
    let (ann, bo) = (home["ann"], home["bo"])
    try ann.access.transaction {
      for number in 0..<Self.count {
        try ann.put("category", "c\(number)", [("name", .text("Category \(number)"))])
        try ann.put(
          "sample", "s\(number)",
          [
            ("text", .text(number.isMultiple(of: 3) ? "" : "é \(number)")), ("integer", .integer(Int64(number - 9))),
            ("real", .real(Double(number) / 7)), ("boolean", .integer(Int64(number % 2))),
            ("bytes", .bytes([UInt8](repeating: 7, count: number % 5))), ("json", .text("[\(number)]")),
          ])
      }
    }
    try home.sync("ann", "bo")
    // Long stretches without anything, and short ones.
    for number in stride(from: 40, to: 80, by: 5) {
      try ann.put("category", "c\(number)", [("note", .text("by ann"))])
      try bo.put("category", "c\(number + 1)", [("name", .text("by bo"))])
      try bo.delete("sample", "s\(number)")
      for device in [ann, bo] { try device.put("sample", "s\(number + 2)", [("text", .text("by \(device.name)"))]) }
    }
    try home.sync("ann", "bo")
  }

  private func pages(_ server: TestHousehold.Device) throws -> (SnapshotOffer, [SnapshotPage]) {
    let offer = try #require(try server.replica.openSnapshot(resuming: nil))
    var pages: [SnapshotPage] = []
    while pages.last?.isLast != true {
      pages.append(try server.replica.snapshotPage(offer.id, after: pages.last?.cursor ?? []))
    }
    return (offer, pages)
  }

  private func adopt(
    _ offer: SnapshotOffer, _ pages: [SnapshotPage], of server: TestHousehold.Device, by guest: TestHousehold.Device
  ) throws {
    guest.replica.lastNow = guest.now
    for page in pages { try guest.replica.stage(page, of: offer.id) }
    try guest.replica.adoptSnapshot(
      offer.id, from: server.key.device,
      token: ChangeToken(incarnation: server.replica.incarnation, position: offer.position), now: guest.now)
  }

  private func expectSame(_ a: String, _ b: String, in home: TestHousehold) throws {
    #expect(try home.difference(a, b) == nil)
    for prefix in ["c", "s"] {
      for number in 0..<Self.count {
        let key = RecordKey(type: prefix == "c" ? "category" : "sample", id: "\(prefix)\(number)")
        #expect(try home[a].replica.state(of: key) == home[b].replica.state(of: key), "\(key)")
        #expect(
          try home[a].access.provenance(home[a].type(key.type), key.id)?.modified
            == home[b].access.provenance(home[b].type(key.type), key.id)?.modified, "\(key)")
      }
    }
    #expect(try home[a].access.conflicts(includingClosed: false) == home[b].access.conflicts(includingClosed: false))
  }

  @Test(arguments: [false, true]) func `a snapshot is put in place the same both ways`(sealsMany: Bool) throws {
    let home = try TestHousehold("ann", "bo")
    home["ann"].replica.takesShortWay = sealsMany
    try fill(home)
    let (offer, pages) = try pages(home["ann"])
    for (name, way) in [("many", true), ("single", false)] {
      let guest = try home.add(name, needsSnapshot: true)
      guest.replica.takesShortWay = way
      try adopt(offer, pages, of: home["ann"], by: guest)
    }

    try expectSame("many", "single", in: home)
    try expectSame("many", "ann", in: home)
    let areas = try ReplicaCheck.run(
      path: home["many"].path, isThorough: true, cryptography: OpenSSLCryptography())
    #expect(areas.flatMap(\.faults).isEmpty)
  }

  @Test func `a snapshot is merged the same both ways with what is here`() throws {
    let home = try TestHousehold("ann", "bo")
    let guests = try [("many", true), ("single", false)].map { name, way in
      let guest = try home.add(name)
      guest.replica.takesShortWay = way
      return guest
    }
    try fill(home)
    let (offer, pages) = try pages(home["ann"])
    // Some of what the snapshot brings is here, later than it and beside it.
    try home["ann"].put("category", "c100", [("name", .text("later"))])
    for guest in guests { try home.pull(guest, from: home["ann"]) }
    for guest in guests { try adopt(offer, pages, of: home["ann"], by: guest) }

    try expectSame("many", "single", in: home)
    try expectSame("many", "ann", in: home)
  }

  @Test func `a record that a page has twice is refused by neither way, and shown once`() throws {
    let home = try TestHousehold("ann", "bo")
    try fill(home)
    let (offer, pages) = try pages(home["ann"])
    // The second half once more: all of its records are known by then.
    for (name, way) in [("many", true), ("single", false)] {
      let guest = try home.add(name, needsSnapshot: true)
      guest.replica.takesShortWay = way
      try adopt(offer, pages + pages.dropFirst(), of: home["ann"], by: guest)
    }

    try expectSame("many", "single", in: home)
    try expectSame("many", "ann", in: home)
  }
}
