import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

/// What records themselves give to look at.
enum FaultsOfData {
  static let rows: [Fault] = [
    Fault(
      name: "a partner deletes many records of others", verdict: "broken", reason: "held",
      remedy: "Look at it (household held)", clears: "by `approve` or `reject`", isQuick: true
    ) { stage in
      try massDeletion(stage)
      return { try decide("approve", stage) }
    },
    Fault(
      name: "a partner holds back deletions of ours", told: "ben", verdict: "pending", reason: "heldThere",
      remedy: "Ask them to look at it", clears: "by `approve` or `reject` there"
    ) { stage in
      try massDeletion(stage)
      return { try decide("reject", stage) }
    },
    Fault(
      name: "two edits of one field at a time", verdict: "degraded", reason: "conflicts", remedy: "Look at them",
      clears: "by `resolve`", isQuick: true
    ) { stage in
      try stage.ana.put("note", "both", "title=first")
      for home in [stage.ana, stage.ben] { try home.waitInSync() }
      try stage.ben.stop()
      try stage.ben.put("note", "both", "title=ben's")
      try stage.ana.put("note", "both", "title=ana's")
      try stage.ben.start(peers: [stage.ana])
      return {
        let conflicts = try #require(try stage.ana.json("conflicts")["conflicts"] as? [[String: Any]])
        let name = try #require(conflicts.first?["conflict"] as? String)
        try stage.ana.json("resolve", name, "--take", "mine")
      }
    },
    Fault(
      name: "splits that do not add up", verdict: "degraded", reason: "attention", remedy: "Correct the record",
      clears: "when the record is corrected", isQuick: true
    ) { stage in
      let id = "uneven-\(UUID().uuidString.prefix(4))"
      try stage.ana.put("transaction", id, "date=2026-03-01", "amount_minor=-1000", "currency=EUR")
      try stage.ana.put("split", id + "-1", "parent=\(id)", "amount_minor=-300")
      return { try stage.ana.put("split", id + "-1", "amount_minor=-1000") }
    },
    Fault(
      name: "a record's table was changed past the triggers", verdict: "broken", reason: "diverged",
      remedy: "Keep both files", clears: "when the record is as it was written"
    ) { stage in
      try stage.ana.put("note", "bent", "title=straight")
      for home in [stage.ana, stage.ben] { try home.waitInSync() }
      try bend(stage.ben, "bent")
      try stage.ana.put("note", "bent-2", "title=x")
      return {
        try bend(stage.ben, "straight")
        try stage.ana.put("note", "bent-2", "title=y")
      }
    },
    Fault(
      name: "the data directory was put back from a copy", told: "ben", verdict: "inSync", reason: "ok",
      mentions: "\"restored\""
    ) { stage in
      try stage.ben.stop()
      let copy = stage.ben.directory + "-copy"
      try FileManager.default.copyItem(atPath: stage.ben.directory, toPath: copy)
      try FileManager.default.removeItem(atPath: stage.ben.directory)
      try FileManager.default.moveItem(atPath: copy, toPath: stage.ben.directory)
      try stage.ben.start(peers: [stage.ana])
      return {}
    },
    Fault(
      name: "records of a type that is not known here", verdict: "degraded", reason: "parked",
      remedy: "Update household", clears: "when the schema has the type"
    ) { stage in
      try stranger(
        stage, [Shape(type: "goal", fields: ["title"])],
        [Operation(kind: .insert, shape: 0, id: "g1", life: 1, values: [.text("Holiday")])])
      return {
        let schema = stage.place.path("goal.json")
        try
          #"{"format":"household-schema/1","name":"budget","version":9,"types":[{"name":"goal","fields":[{"name":"title","type":"text"}]}]}"#
          .write(toFile: schema, atomically: true, encoding: .utf8)
        try stage.ana.json("schema", "upgrade", schema)
        try stage.loseKim()
      }
    },
    Fault(
      name: "a value that its field cannot hold", verdict: "degraded", reason: "quarantined",
      remedy: "Write the field anew", clears: "when the field is written anew"
    ) { stage in
      try stranger(
        stage, [Shape(type: "note", fields: ["is_favorite"])],
        [Operation(kind: .insert, shape: 0, id: "odd", life: 1, values: [.text("very")])])
      return {
        try stage.ana.put("note", "odd", "is_favorite:=true")
        try stage.loseKim()
      }
    },
  ]

  private static func massDeletion(_ stage: FaultStage) throws {
    let group = "gone-\(UUID().uuidString.prefix(4))"
    let rows = (0..<20).map { "INSERT INTO note(id, title) VALUES('\(group)-\($0)', 't');" }
    _ = try stage.ana.sqlite("BEGIN;" + rows.joined() + "COMMIT;")
    try eventually("ben has them") { try stage.ben.records("note")["\(group)-19"] != nil }
    _ = try stage.ben.sqlite("DELETE FROM note WHERE id LIKE '\(group)%'")
  }

  private static func decide(_ word: String, _ stage: FaultStage) throws {
    let held = try #require(try stage.ana.json("held")["held"] as? [[String: Any]])
    try stage.ana.json(word, try #require(held.first?["id"] as? String))
  }

  /// Writes a title so that nothing captures it, as a damaged program would.
  private static func bend(_ home: Home, _ title: String) throws {
    _ = try home.sqlite("UPDATE note SET title = '\(title)' WHERE id = 'bent'", captured: false)
    #expect(try home.sqlite("SELECT title FROM note WHERE id = 'bent'") == title)
  }

  /// Kim's device, of a newer or careless program, writes what ours does not expect.
  private static func stranger(_ stage: FaultStage, _ shapes: [Shape], _ operations: [HouseholdRecords.Operation])
    throws
  {
    let home = stage.place.home("kim-\(UUID().uuidString.prefix(4))")
    try home.joinAs("kim-laptop", try stage.ana.invite("kim"))
    try home.start(peers: [stage.ana])
    stage.kim = home
    try home.waitInSync()
    try home.stop()
    try home.seal(shapes, operations)
    try home.start(peers: [stage.ana])
  }
}

extension Home {
  /// Puts a changeset of this device into its replica that no trigger has captured.
  func seal(_ shapes: [Shape], _ operations: [HouseholdRecords.Operation]) throws {
    let directory = DataDirectory(directory)
    let keys = try NodeKeys(directory)
    let cryptography = OpenSSLCryptography()
    let replica = try Replica(path: directory.replica, cryptography: cryptography, signer: keys.key)
    defer { replica.close() }
    var random = SecureRandom()
    let nonce = ReplicaNonce.random(from: &random)
    let device = replica.identity.device
    let known = Dependencies(try replica.receivedDependencies())
    let changeset = Changeset(
      name: ChangesetName(replica: cryptography.replicaID(device: device, nonce: nonce), sequence: 1),
      previous: .zero, origin: ReplicaOrigin(device: device, nonce: nonce),
      stamp: Stamp.sealing(edited: SystemClock.now, last: .least, wall: SystemClock.now, overwritten: nil),
      editedAt: SystemClock.now, continues: false, dependencyChanges: known.changes(since: Dependencies()),
      schemaVersion: try replica.membership().schema.version, membershipHeads: try replica.membership().heads,
      shapes: shapes, operations: operations)
    let packed = PackedChangeset(bytes: [0] + (try SignedChangeset(changeset, signer: keys.key).bytes))
    _ = try replica.receive([packed], from: device, token: nil, now: SystemClock.now)
  }

  /// Adds to the membership log a schema of a newer program, with a strategy that this one does not know.
  func stateSchema(strategy: String) throws {
    let directory = DataDirectory(directory)
    let keys = try NodeKeys(directory)
    let replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: keys.key)
    defer { replica.close() }
    let schema = Schema(
      name: "budget", version: 99, types: [RecordType(name: "wish", fields: [], strategy: strategy)])
    _ = try replica.state(.schema(schema), at: SystemClock.now)
  }
}
