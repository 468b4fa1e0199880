package import HouseholdRecords

/// What a peer gets of our log over one link: a snapshot if it needs one, then the log, then what is new.
///
/// Every changeset is sent at most once per link (R9) and each replica's without a gap, whatever the token says.
struct OutgoingStream {
  /// Where the stream stands.
  enum State: Hashable {
    /// The peer has not subscribed.
    case idle
    /// The peer's vector does not cover our base, and there is no snapshot to give or it did not ask for one; it was
    /// told so and will subscribe anew.
    case uncovered
    /// Pages of a snapshot go out.
    case snapshot(SnapshotServing)
    /// The log goes out, all of it that the peer lacks.
    case catchingUp
    /// Own changesets are pushed, others offered.
    case live
  }

  /// A message that is ready for its frame.
  struct Parcel {
    var kind: Message.Kind
    var payload: [UInt8]
    var changesets: Int
    /// What the peer learns from it that we have.
    var reaches: VersionVector
  }

  var state = State.idle
  /// The peer's subscription number.
  var subscription: UInt64 = 0
  /// Up to where the log was read for this peer, and in which numbering.
  var cursor = LogPosition.start
  var incarnation: Incarnation?
  /// What was sent on this link.
  var sent = VersionVector()
  /// What our last `have` named.
  var said = VersionVector()
  /// What our last `have` before the peer's subscription named: the stream brings all of it.
  var promised = VersionVector()
  /// Payload bytes of batches and pages that the peer has not acknowledged.
  var unacknowledgedBytes = 0
  /// What the peer asked for, one span per replica, in the order of asking.
  var requests: [ChangesetRequest] = []
  /// Whether the log may hold something after the cursor.
  var mayHaveMore = false
  /// Branches of which it is not known yet how far the peer has them: nothing of them goes out.
  var withheld: Set<ReplicaID> = []
  /// Names that mean another branch to the peer: what it asks for by them it cannot get.
  var ambiguous: Set<ReplicaID> = []

  /// Whether another batch may go out: one always may, then as many as the window holds.
  private var hasWindow: Bool {
    unacknowledgedBytes == 0 || unacknowledgedBytes + Limits.batchTargetBytes <= Limits.unacknowledgedBytes
  }

  /// Whether nothing is under way or waiting.
  var isIdle: Bool { state == .live && !mayHaveMore && unacknowledgedBytes == 0 && requests.isEmpty }

  /// Goes on in the log from a position in this numbering.
  mutating func begin(at position: LogPosition, in incarnation: Incarnation) {
    state = .catchingUp
    cursor = position
    self.incarnation = incarnation
    mayHaveMore = true
  }

  /// Reads the log again from its start, once it is known what of a forked replica the peer lacks.
  mutating func readAgain() {
    guard state == .catchingUp || state == .live else { return }
    state = .catchingUp
    cursor = .start
    mayHaveMore = true
  }

  /// Ends a subscription that can get neither a snapshot nor a log without gaps, so that the peer turns to others; it
  /// hears of it when that changes, and meanwhile this node can still read from it.
  mutating func nothingToGive() -> Parcel? {
    var parcels: [Parcel] = []
    add(Due(), more: false, token: nil, to: &parcels)
    return parcels.first
  }

  /// Remembers what the peer asked for; a later request for the same replica takes the place of an earlier one.
  mutating func add(_ request: ChangesetRequest) throws {
    requests.removeAll { $0.replica == request.replica }
    guard requests.count < Limits.vectorEntries else {
      throw Violation(.overLimit, "The peer asks for more replicas at a time than a vector has.")
    }
    requests.append(request)
  }

  /// Reads from the store what fits into the window, new edits first and bulk last.
  ///
  /// - Parameters:
  ///   - known: what the peer is known to have.
  ///   - received: our received vector.
  ///   - own: replicas under which this device seals or sealed in this run.
  mutating func parcels(
    known: VersionVector, received: VersionVector, own: Set<ReplicaID>, store: any RecordStore
  ) throws -> [Parcel] {
    restartIfRenumbered(store)
    var parcels: [Parcel] = []
    while hasWindow {
      if state == .live, mayHaveMore {
        try push(known: known, received: received, own: own, store: store, to: &parcels)
      } else if let request = requests.first {
        try answer(request, known: known, store: store, to: &parcels)
      } else if case .snapshot(let serving) = state {
        try page(serving, store: store, to: &parcels)
      } else if state == .catchingUp, mayHaveMore {
        try stream(known: known, own: own, store: store, to: &parcels)
      } else {
        break
      }
    }
    return parcels
  }

  /// A log that was numbered anew is read from its start; the vectors keep anything from going out twice.
  private mutating func restartIfRenumbered(_ store: any RecordStore) {
    guard state == .catchingUp || state == .live, incarnation != store.incarnation else { return }
    cursor = .start
    incarnation = store.incarnation
    mayHaveMore = true
  }

  /// Sends what was there when the peer was told what is here; what came from elsewhere since is offered instead, or
  /// two peers that both got it would send it to each other.
  private mutating func stream(
    known: VersionVector, own: Set<ReplicaID>, store: any RecordStore, to parcels: inout [Parcel]
  ) throws {
    var reached = known
    reached.merge(sent)
    let slice = try read(skipping: reached, store)
    let due = contiguous(
      slice.changesets.filter {
        (own.contains($0.name.replica) || promised.contains($0.name)) && !withheld.contains($0.name.replica)
      }, after: reached)
    if slice.reachedEnd { state = .live }
    if !due.items.isEmpty || slice.reachedEnd { add(due, more: !slice.reachedEnd, token: token(store), to: &parcels) }
    try add(gaps: due.gaps, store: store, to: &parcels)
  }

  /// Sends what this device sealed.
  private mutating func push(
    known: VersionVector, received: VersionVector, own: Set<ReplicaID>, store: any RecordStore,
    to parcels: inout [Parcel]
  ) throws {
    var reached = known
    reached.merge(sent)
    var skip = received
    for replica in own { skip[replica] = reached[replica] }
    let slice = try read(skipping: skip, store)
    let due = contiguous(
      slice.changesets.filter { own.contains($0.name.replica) && !withheld.contains($0.name.replica) }, after: reached)
    if !due.items.isEmpty { add(due, more: false, token: token(store), to: &parcels) }
    try add(gaps: due.gaps, store: store, to: &parcels)
  }

  private mutating func read(
    skipping skip: VersionVector, _ store: any RecordStore
  ) throws -> LogSlice {
    let slice = try store.log(after: cursor, skipping: skip, limitBytes: Limits.batchTargetBytes)
    cursor = slice.next
    mayHaveMore = !slice.reachedEnd
    return slice
  }

  private func token(_ store: any RecordStore) -> ChangeToken {
    ChangeToken(incarnation: store.incarnation, position: cursor)
  }

  /// Changesets that may go out, and what cannot because something before it is missing.
  private struct Due {
    var items: [PackedChangeset] = []
    var reaches = VersionVector()
    var gaps = VersionVector()
  }

  /// Takes the changesets that follow without a gap on what the peer has, and names the others.
  private mutating func contiguous(_ changesets: [LoggedChangeset], after reached: VersionVector) -> Due {
    var reached = reached
    var due = Due()
    for changeset in changesets where !reached.contains(changeset.name) {
      let name = changeset.name
      if name.sequence == reached[name.replica] + 1 || changeset.beginsBranch {
        reached[name.replica] = name.sequence
        sent[name.replica] = name.sequence
        due.reaches[name.replica] = name.sequence
        due.items.append(changeset.packed)
      } else {
        due.gaps[name.replica] = max(due.gaps[name.replica], name.sequence)
      }
    }
    return due
  }

  private mutating func answer(
    _ request: ChangesetRequest, known: VersionVector, store: any RecordStore, to parcels: inout [Parcel]
  ) throws {
    let replica = request.replica
    let first = max(request.first, max(sent[replica], known[replica]) + 1)
    var found: [LoggedChangeset] = []
    if first <= request.last, !ambiguous.contains(replica) {
      found = try store.changesets(
        of: replica, from: first, through: request.last, limitBytes: Limits.batchTargetBytes)
    }
    let due = contiguous(found, after: VersionVector([replica: max(first, found.first?.name.sequence ?? 0) - 1]))
    let isDone = due.items.isEmpty || sent[replica] >= request.last
    if isDone { requests.removeFirst() }
    add(due, more: !isDone, token: nil, answers: replica, to: &parcels)
  }

  private mutating func page(
    _ serving: SnapshotServing, store: any RecordStore, to parcels: inout [Parcel]
  ) throws {
    var serving = serving
    let page = try store.snapshotPage(serving.id, after: serving.cursor)
    add(
      .snapshotPage(
        SnapshotPart(
          subscription: subscription, id: serving.id, token: serving.isFirst ? serving.token : nil, page: page)),
      count: 0, reaches: VersionVector(), to: &parcels)
    serving.cursor = page.cursor
    serving.isFirst = false
    state = .snapshot(serving)
    if page.isLast {
      store.closeSnapshot(serving.id)
      sent.merge(serving.held)
      begin(at: serving.token.position(in: store.incarnation) ?? .start, in: store.incarnation)
    }
  }

  private mutating func add(
    _ due: Due, more: Bool, token: ChangeToken?, answers replica: ReplicaID? = nil, to parcels: inout [Parcel]
  ) {
    let batch = Batch(
      subscription: subscription, more: more, token: token, answers: replica, changesets: due.items)
    add(.batch(batch), count: due.items.count, reaches: due.reaches, to: &parcels)
  }

  private mutating func add(
    _ message: Message, count: Int, reaches: VersionVector, to parcels: inout [Parcel]
  ) {
    let payload = MessageCodec.encode(message)
    unacknowledgedBytes += payload.count
    parcels.append(Parcel(kind: message.kind, payload: payload, changesets: count, reaches: reaches))
  }

  /// What the token jumped over is offered, so that the peer can ask for it from where its vector ends.
  private func add(gaps: VersionVector, store: any RecordStore, to parcels: inout [Parcel]) throws {
    for part in gaps.parts {
      let offer = MessageCodec.encode(.offer(try store.dependencies(on: part)))
      parcels.append(Parcel(kind: .offer, payload: offer, changesets: 0, reaches: part))
    }
  }
}

/// A snapshot that goes out page by page.
struct SnapshotServing: Hashable {
  var id: SnapshotID
  /// The cursor of the page that went out last; empty before the first.
  var cursor: [UInt8]
  /// Where the log goes on afterwards.
  var token: ChangeToken
  /// What the peer has once it has all pages.
  var held: VersionVector
  /// Whether no page went out in this session.
  var isFirst = true
}

extension VersionVector {
  /// The same entries in vectors that fit into a control frame each.
  package var parts: [VersionVector] {
    let entries = sorted
    return stride(from: 0, to: entries.count, by: Limits.vectorEntriesPerControlFrame).map { start in
      var part = VersionVector()
      for entry in entries[start..<min(start + Limits.vectorEntriesPerControlFrame, entries.count)] {
        part[entry.replica] = entry.sequence
      }
      return part
    }
  }
}
