internal import HouseholdRecords

/// Branches in a snapshot (D4): what the server calls them may not be what they are called here.
extension Replica {
  /// Makes a replica and its branches known, parents first.
  func adoptTree(_ branches: [SnapshotHeader.Replica]) throws {
    let branches = standingForRoot(branches)
    if try branches.allSatisfy({ try fits($0, among: branches) }) {
      for branch in branches {
        try addBranch(branch)
        for header in branch.recent + [branch.last] { _ = try know(header) }
      }
    } else {
      var theirs: [ChangesetName: ChangesetHash] = [:]
      for branch in branches { try graft(branch, &theirs) }
    }
  }

  /// The same branches, one of which has the replica's name if nothing that has it is in the snapshot, nor known here.
  ///
  /// Of two first changesets of a replica the server may have applied only the one that it calls otherwise; whoever knows
  /// of no other calls it by the replica's name.
  private func standingForRoot(_ branches: [SnapshotHeader.Replica]) -> [SnapshotHeader.Replica] {
    guard let root = branches.first?.root, replicas[root] == nil, !branches.contains(where: { $0.branch == nil }) else {
      return branches
    }
    let firsts = branches.compactMap { $0.branch?.fork == 0 ? $0.branch?.first : nil }
    guard let first = firsts.min(), var least = branches.first(where: { $0.branch?.first == first }) else {
      return branches
    }
    let name = least.last.name.replica
    grafts[name] = ChangesetName(replica: root, sequence: least.last.name.sequence)
    least.branch = nil
    least.last.name.replica = root
    for index in least.recent.indices { least.recent[index].name.replica = root }
    return [least]
      + branches.filter { $0.last.name.replica != name }.map { branch in
        var branch = branch
        if branch.branch?.parent == name { branch.branch?.parent = root }
        return branch
      }
  }

  /// Whether the branch is the same here as far as can be seen, and is called the same: the usual case.
  ///
  /// What the parent goes on with may be what the server has not applied, and not here; then the branch has its name.
  private func fits(_ branch: SnapshotHeader.Replica, among branches: [SnapshotHeader.Replica]) throws -> Bool {
    for header in branch.recent + [branch.last] {
      if let ours = try hash(of: header.name), ours != header.hash { return false }
    }
    guard let place = branch.branch else {
      // Branches that the server does not know may be in the way.
      return branch.last.name.replica == branch.root
        && (replicas[branch.root] == nil || !replicas.forked.contains(branch.root) || branch.last.name.sequence == 0)
    }
    let goesOn = branches.contains {
      $0.last.name.replica == place.parent && $0.last.name.sequence > place.fork
    }
    guard let parent = replicas[place.parent] else { return replicas[branch.root] == nil && goesOn }
    if let known = replicas[branch.last.name.replica] {
      return known.parent == parent.number && known.fork == place.fork
    }
    if parent.received <= place.fork { return goesOn }
    return try hash(of: ChangesetName(replica: parent.id, sequence: place.fork + 1)).map { $0 < place.first } ?? false
  }

  private func addBranch(_ branch: SnapshotHeader.Replica) throws {
    let id = branch.last.name.replica
    if replicas[id] != nil { return }
    guard let place = branch.branch else {
      guard id == branch.root else { throw Violation(.badSnapshot, "The snapshot gives a replica another name.") }
      _ = try replicas.add(id, origin: branch.origin, begun: branch.begun, on: connection)
      return
    }
    guard let parent = replicas[place.parent], parent.root == branch.root else {
      throw Violation(.badSnapshot, "The snapshot names a branch of a replica that it does not name.")
    }
    var entry = parent
    (entry.id, entry.parent, entry.fork, entry.first) = (id, parent.number, place.fork, place.first)
    (entry.received, entry.applied, entry.base) = (place.fork, place.fork, place.fork)
    if place.fork == 0 { entry.begun = branch.begun }
    _ = try replicas.insert(entry, on: connection)
  }

  /// Puts a branch in its place by the hashes of its newest changesets.
  ///
  /// - Parameter theirs: the hashes of the changesets that were put in place, by the server's names.
  private func graft(_ branch: SnapshotHeader.Replica, _ theirs: inout [ChangesetName: ChangesetHash]) throws {
    var before = branch.branch.flatMap { theirs[ChangesetName(replica: $0.parent, sequence: $0.fork)] }
    var name: ChangesetName?
    for header in branch.recent + [branch.last] {
      name = try graft(header, after: before, of: branch)
      before = header.hash
      theirs[header.name] = header.hash
    }
    if let name { grafts[branch.last.name.replica] = name }
  }

  /// Finds or stores one changeset of the server's chain; returns what it is called here.
  private func graft(
    _ header: ChangesetHeader, after before: ChangesetHash?, of replica: SnapshotHeader.Replica
  ) throws -> ChangesetName {
    let sequence = header.name.sequence
    let tree = replicas.tree(of: replica.root)
    for entry in tree where entry.holds(sequence) {
      let name = ChangesetName(replica: entry.id, sequence: sequence)
      if try hash(of: name) == header.hash { return name }
    }
    var place: Place?
    // Of a replica that is not known here the beginning may be older than what the snapshot tells one by one.
    if sequence == 1 || tree.isEmpty {
      let entry = try replicas.add(replica.root, origin: replica.origin, begun: replica.begun, on: connection)
      place = Place(entry: entry, isFork: entry.received > 0)
    }
    for entry in tree where entry.holds(sequence - 1) && before != nil {
      let name = ChangesetName(replica: entry.id, sequence: sequence - 1)
      guard let previous = try log.header(of: name, replicas: replicas), previous.hash == before else { continue }
      place = Place(entry: entry, previous: previous, isFork: entry.received >= sequence)
    }
    guard let place else {
      throw Violation(
        .otherBranch, "The snapshot knows other branches of the replica \(replica.root) than this device.")
    }
    let entry = place.isFork ? try branch(at: place, first: header.hash, heads: replica.begun) : place.entry
    var header = header
    header.name = ChangesetName(replica: entry.id, sequence: sequence)
    _ = try log.append(header, replica: entry.number, state: .applied, body: nil)
    try replicas.update(entry.id, on: connection) { entry in
      entry.received = sequence
      if sequence <= replica.applied { entry.applied = sequence }
      entry.base = sequence
    }
    return header.name
  }

  /// Merges a snapshot's record whose writes have other names here than at the server.
  func mergeRenamed(
    _ theirs: StoredRecord, shown: [FieldValue]?, of place: RecordPlace, table: TypeTable?
  ) throws {
    let ours = try StoredRecord.read(type: place.type, id: place.id, on: connection)
    let row = ours?.isAlive == true ? try table?.row(place.id, on: connection) : nil
    var state = try ours.map { try CellVersions.decode($0, row: row, table: table, names: self) } ?? RecordState()
    try merge(CellVersions.decode(theirs, row: shown, table: table, names: self), into: &state, of: place)
    if state.isContested || table?.hasParts(state) == true { contested.insert(place) }
    for cell in state.cells.keys { state.cells[cell]?.sort { ($0.name, $0.life) < ($1.name, $1.life) } }
    try store(state, of: place, table: table, shownBefore: row, earlierFlags: ours?.flags ?? 0)
  }

  /// What a changeset of a grafted branch is called here.
  func graftedName(of header: ChangesetHeader, on last: ChangesetName) throws -> ChangesetName {
    guard let root = replicas[last.replica]?.root else { return header.name }
    for entry in replicas.tree(of: root) where entry.holds(header.name.sequence) {
      let name = ChangesetName(replica: entry.id, sequence: header.name.sequence)
      if try hash(of: name) == header.hash { return name }
    }
    var branch = replicas[last.replica]
    while let entry = branch {
      if header.name.sequence > entry.fork {
        return ChangesetName(replica: entry.id, sequence: header.name.sequence)
      }
      branch = entry.parent.flatMap { replicas[number: $0] }
    }
    return header.name
  }
}
