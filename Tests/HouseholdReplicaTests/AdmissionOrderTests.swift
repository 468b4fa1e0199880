import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Admission is a pure function of the set of changesets and membership entries (R4)")
struct AdmissionOrderTests {
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
      return z ^ z >> 31
    }
  }

  /// One random household: edits, half-known membership acts, half-done exchanges. Two observers heard of nothing.
  private func play(_ random: inout Numbers) throws -> TestHousehold {
    let home = try TestHousehold("ann", "bo", "cy", "di", "observer", "another")
    try home.makeOwner("bo", by: "ann")
    let active = ["ann", "bo", "cy", "di"]
    for step in 0..<24 {
      let name = active.randomElement(using: &random) ?? "ann"
      switch UInt64.random(in: 0..<10, using: &random) {
      case 0..<5:
        do {
          let id = "c\(Int.random(in: 0..<3, using: &random))"
          if Bool.random(using: &random) || step < 6 {
            try home[name].put("category", id, [("note", .text("\(name) \(step)"))])
          } else {
            try home[name].delete("category", id)
          }
        } catch let error as ReplicaError where error.code == .notAllowed {}
      case 5..<8:
        let from = active.randomElement(using: &random) ?? "bo"
        if from != name { try exchange(home, name, from) }
      default:
        let owner = Bool.random(using: &random) ? "ann" : "bo"
        guard try home[owner].replica.membership().isOwner(home[owner].key.device) else { continue }
        let target = Bool.random(using: &random) ? "cy" : Bool.random(using: &random) ? "di" : "bo"
        guard try home[owner].replica.membership().admits(home[target].key.device), target != owner else { continue }
        switch UInt64.random(in: 0..<4, using: &random) {
        case 0: try home.remove(target, by: owner)
        case 1: try home.setRole(target, .member, by: owner)
        default: try home.setRole(target, .readOnly, by: owner)
        }
      }
    }
    return home
  }

  /// As a link would: entries both ways, then changesets, if both sides admit each other then.
  private func exchange(_ home: TestHousehold, _ to: String, _ from: String) throws {
    try home[from].seal()
    try home[to].seal()
    try home.tell(to, from: from)
    try home.tell(from, from: to)
    let membership = try home[to].replica.membership()
    guard membership.admits(home[from].key.device), membership.admits(home[to].key.device) else { return }
    try home.pull(home[to], from: home[from])
  }

  /// Gives an observer everything that ann has, entries and changesets in a random order that a network could bring.
  private func feed(_ observer: String, of home: TestHousehold, _ random: inout Numbers) throws {
    let ann = home["ann"].replica
    let entries = try ann.membershipEntries(except: [])
    var told = 0
    var queues: [ReplicaID: [LoggedChangeset]] = [:]
    for changeset in try ann.log(after: .start, skipping: VersionVector(), limitBytes: .max).changesets {
      queues[changeset.name.replica, default: []].append(changeset)
    }
    while !queues.isEmpty {
      if told < entries.count, UInt64.random(in: 0..<3, using: &random) == 0 {
        _ = try home[observer].replica.addMembership([entries[told]])
        told += 1
      }
      guard let replica = queues.keys.sorted().randomElement(using: &random), let next = queues[replica]?.first else {
        continue
      }
      do {
        _ = try home[observer].replica.receive(
          [next.packed], from: home["ann"].key.device, token: nil, now: home[observer].now)
        queues[replica]?.removeFirst()
        if queues[replica]?.isEmpty == true { queues[replica] = nil }
      } catch let violation as Violation {
        // It names an entry that is still to come.
        try #require(told < entries.count, "\(violation)")
      }
    }
    _ = try home[observer].replica.addMembership(Array(entries[told...]))
  }

  @Test(arguments: UInt64(0)..<8)
  func `equal sets give equal tables, conflicts and vectors`(seed: UInt64) throws {
    var random = Numbers(state: seed)
    let home = try play(&random)
    for _ in 0..<3 {
      for to in ["ann", "bo", "cy", "di"] {
        for from in ["ann", "bo", "cy", "di"] where from != to { try exchange(home, to, from) }
      }
    }
    try feed("observer", of: home, &random)
    try feed("another", of: home, &random)

    #expect(try home.firstDifference("ann", "observer", "another") == nil, "seed \(seed)")
    let membership = try home["ann"].replica.membership()
    for name in ["bo", "cy", "di"] where membership.admits(home[name].key.device) {
      #expect(try home.firstDifference("ann", name) == nil, "seed \(seed), \(name)")
    }
  }
}
