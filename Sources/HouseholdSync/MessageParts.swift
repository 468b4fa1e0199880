import HouseholdRecords

/// How the larger messages are written and read; the layouts stand in Docs/Protocol.md.
extension ByteWriter {
  /// Up to eight yes-or-no facts in one byte, the first in the lowest bit.
  mutating func flags(_ flags: [Bool]) {
    byte(flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
  }

  mutating func hello(_ hello: Hello) {
    varint(hello.versions.lowerBound)
    varint(hello.versions.upperBound)
    identifier(hello.household)
    identifier(hello.device)
    identifier(hello.replica)
    identifier(hello.bootNonce)
    heads(hello.membershipHeads)
    varint(hello.schemaVersion)
    signed(hello.wall.milliseconds)
    text(MessageCodec.bounded(hello.programVersion, bytes: Limits.nameBytes))
    let addresses = hello.addresses.prefix(Limits.addressesPerDevice)
    varint(addresses.count)
    for address in addresses { text(MessageCodec.bounded(address, bytes: Limits.addressBytes)) }
  }

  mutating func holdings(_ holdings: Holdings) {
    flags([holdings.digest != nil])
    dependencies(holdings.received)
    dependencies(holdings.base)
    if let digest = holdings.digest {
      vector(digest.applied)
      heads(digest.membershipHeads)
      data(digest.bytes)
    }
  }

  mutating func withheld(_ list: [Withheld]) {
    varint(list.count)
    for item in list {
      identifier(item.replica)
      varint(item.first)
      byte(item.reason.rawValue)
    }
  }

  mutating func subscription(_ subscription: Subscription) {
    let cursor: [UInt8]?
    let id: SnapshotID?
    switch subscription.snapshot {
    case .none, .fresh: (id, cursor) = (nil, nil)
    case .resume(let named, let last): (id, cursor) = (named, last)
    }
    flags([subscription.token != nil, subscription.snapshot != .none, id != nil])
    varint(subscription.number)
    if let token = subscription.token { data(token.bytes) }
    dependencies(subscription.received)
    if let id, let cursor {
      identifier(id)
      data(cursor)
    }
  }

  mutating func batch(_ batch: Batch) {
    flags([batch.more, batch.token != nil, batch.answers != nil])
    varint(batch.subscription)
    if let token = batch.token { data(token.bytes) }
    if let replica = batch.answers { identifier(replica) }
    varint(batch.changesets.count)
    for changeset in batch.changesets { data(changeset.bytes) }
  }

  mutating func snapshotPart(_ part: SnapshotPart) {
    flags([part.page.isLast, part.token != nil])
    varint(part.subscription)
    identifier(part.id)
    if let token = part.token { data(token.bytes) }
    data(part.page.cursor)
    data(part.page.content)
  }
}

extension ByteReader {
  mutating func withheld() throws(DecodingViolation) -> [Withheld] {
    var list: [Withheld] = []
    for _ in 0..<(try count(limit: Limits.vectorEntries)) {
      let replica: ReplicaID = try identifier128()
      let first = try sequence()
      guard let reason = Withheld.Reason(rawValue: try byte()) else { throw .malformed("an unknown reason") }
      list.append(Withheld(replica: replica, first: first, reason: reason))
    }
    return list
  }

  /// So many yes-or-no facts; bits beyond them must be zero.
  mutating func flags(_ count: Int) throws(DecodingViolation) -> [Bool] {
    let bits = try byte()
    guard bits >> UInt8(count) == 0 else { throw .malformed("unknown flags are set") }
    return (0..<count).map { bits >> UInt8($0) & 1 == 1 }
  }

  mutating func instant() throws(DecodingViolation) -> Instant { Instant(milliseconds: try signed()) }

  /// Hashes in ascending order, each once.
  mutating func hashes(limit: Int) throws(DecodingViolation) -> [EntryHash] {
    var hashes: [EntryHash] = []
    for _ in 0..<(try count(limit: limit)) {
      let hash: EntryHash = try identifier256()
      if let last = hashes.last, hash <= last { throw .notSorted }
      hashes.append(hash)
    }
    return hashes
  }

  /// A vector that fits into a control frame.
  mutating func vectorPart() throws(DecodingViolation) -> VersionVector {
    let part = try vector()
    guard part.entries.count <= Limits.vectorEntriesPerControlFrame else { throw .overLimit }
    return part
  }

  /// Dependencies that fit into a control frame.
  mutating func dependenciesPart() throws(DecodingViolation) -> [Dependency] {
    let part = try dependencies()
    guard part.count <= Limits.vectorEntriesPerControlFrame else { throw .overLimit }
    return part
  }

  private mutating func changeToken() throws(DecodingViolation) -> ChangeToken {
    ChangeToken(bytes: try data(limit: ChangeToken.byteLimit))
  }

  mutating func hello() throws(DecodingViolation) -> Hello {
    let least = try varint()
    let most = try varint()
    guard least <= most else { throw .malformed("the versions end before they begin") }
    var hello = Hello(
      versions: least...most, household: try identifier256(), device: try identifier256(),
      replica: try identifier128(), bootNonce: try identifier128(),
      membershipHeads: try hashes(limit: Limits.membershipHeads), schemaVersion: try varint(), wall: try instant(),
      programVersion: try text(limit: Limits.nameBytes), addresses: [])
    for _ in 0..<(try count(limit: Limits.addressesPerDevice)) {
      hello.addresses.append(try text(limit: Limits.addressBytes))
    }
    return hello
  }

  mutating func holdings() throws(DecodingViolation) -> Holdings {
    let hasDigest = try flags(1)[0]
    var holdings = Holdings(received: try dependencies(), base: try dependencies(), digest: nil)
    if hasDigest {
      holdings.digest = StoreDigest(
        applied: try vector(), membershipHeads: try hashes(limit: Limits.membershipHeads), bytes: try data(limit: 64))
    }
    return holdings
  }

  mutating func subscription() throws(DecodingViolation) -> Subscription {
    let flags = try self.flags(3)
    guard flags[1] || !flags[2] else { throw .malformed("a snapshot is named and not wanted") }
    let number = try varint()
    let token = flags[0] ? try changeToken() : nil
    let received = try dependencies()
    var wish: SnapshotWish = flags[1] ? .fresh : .none
    if flags[2] { wish = .resume(try identifier256(), cursor: try data(limit: Limits.cursorBytes)) }
    return Subscription(number: number, token: token, received: received, snapshot: wish)
  }

  mutating func batch() throws(DecodingViolation) -> Batch {
    let flags = try self.flags(3)
    var batch = Batch(
      subscription: try varint(), more: flags[0], token: nil, answers: nil, changesets: [])
    if flags[1] { batch.token = try changeToken() }
    if flags[2] { batch.answers = try identifier128() }
    for _ in 0..<(try count(limit: Limits.messageBytes)) {
      batch.changesets.append(PackedChangeset(bytes: try data(limit: Limits.changesetBytes + 1)))
    }
    return batch
  }

  mutating func snapshotPart() throws(DecodingViolation) -> SnapshotPart {
    let flags = try self.flags(2)
    let subscription = try varint()
    let id: SnapshotID = try identifier256()
    let token = flags[1] ? try changeToken() : nil
    let cursor = try data(limit: Limits.cursorBytes)
    let page = SnapshotPage(cursor: cursor, isLast: flags[0], content: try data(limit: Limits.messageBytes))
    return SnapshotPart(subscription: subscription, id: id, token: token, page: page)
  }
}
