extension ByteWriter {
  /// A version vector, in ascending order of the replica.
  package mutating func vector(_ vector: VersionVector) {
    varint(vector.entries.count)
    for entry in vector.sorted {
      identifier(entry.replica)
      varint(entry.sequence)
    }
  }

  /// Dependencies, in ascending order of the replica.
  package mutating func dependencies(_ dependencies: [Dependency]) {
    varint(dependencies.count)
    for entry in dependencies {
      identifier(entry.replica)
      varint(entry.sequence)
      fixed(entry.hashPrefix)
    }
  }

  /// Hashes in ascending order.
  package mutating func heads(_ heads: [EntryHash]) {
    varint(heads.count)
    for head in heads { identifier(head) }
  }
}

extension ByteReader {
  package mutating func vector() throws(DecodingViolation) -> VersionVector {
    var entries: [ReplicaID: UInt64] = [:]
    var last: ReplicaID?
    for _ in 0..<(try count(limit: Limits.vectorEntries)) {
      let replica: ReplicaID = try identifier128()
      if let last, replica <= last { throw .notSorted }
      last = replica
      entries[replica] = try sequence()
    }
    return VersionVector(entries)
  }

  package mutating func dependencies() throws(DecodingViolation) -> [Dependency] {
    var list: [Dependency] = []
    for _ in 0..<(try count(limit: Limits.vectorEntries)) {
      let replica: ReplicaID = try identifier128()
      if let last = list.last, replica <= last.replica { throw .notSorted }
      list.append(Dependency(replica: replica, sequence: try sequence(), hashPrefix: try fixed()))
    }
    return list
  }

  package mutating func heads() throws(DecodingViolation) -> [EntryHash] {
    var heads: [EntryHash] = []
    for _ in 0..<(try count(limit: Limits.membershipHeads)) {
      let head: EntryHash = try identifier256()
      if let last = heads.last, head <= last { throw .notSorted }
      heads.append(head)
    }
    return heads
  }

  /// A seq: from 1, and small enough for SQLite's signed integers.
  package mutating func sequence() throws(DecodingViolation) -> UInt64 {
    let value = try varint()
    guard value > 0, value <= UInt64(Int64.max) else { throw .badNumber }
    return value
  }
}
