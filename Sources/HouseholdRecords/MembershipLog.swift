/// The set of signed membership entries that one replica holds of its household: what it takes in is whole and proven.
///
/// An entry is in the log only with everything it names, with a valid signature, and with an author who was introduced
/// by the genesis or a join before it. Whether it *counts* is another question: ``MembershipEvaluation`` answers it.
package struct MembershipLog: Sendable {
  /// An entry with what was found out about it.
  package struct Known: Hashable, Sendable {
    package let hash: EntryHash
    package let signed: SignedEntry
    package let entry: MembershipEntry
    /// The longest way to the genesis, which has 0.
    package let depth: Int
    /// The device that a genesis or join introduces.
    package let introduces: DeviceID?
  }

  /// The household whose log it is.
  package let household: HouseholdID
  private var known: [EntryHash: Known] = [:]
  private var headSet: Set<EntryHash> = []
  private var genesis: EntryHash?
  /// The keys of all introduced devices; an id is its key's hash, so there is one key for each.
  private var keys: [DeviceID: [UInt8]] = [:]

  /// An empty log of this household.
  package init(household: HouseholdID) { self.household = household }

  /// The number of entries.
  package var count: Int { known.count }

  /// The entries that no other names, ascending.
  package var heads: [EntryHash] { headSet.sorted() }

  /// The hashes of all entries, ascending.
  package var hashes: [EntryHash] { known.keys.sorted() }

  /// The entry of this hash, if it is here.
  package func entry(_ hash: EntryHash) -> Known? { known[hash] }

  /// The key of a device that a join or the genesis introduced, whether it counts or not.
  package func publicKey(of device: DeviceID) -> [UInt8]? { keys[device] }

  /// All entries, each after those that it names: by depth, then hash.
  package var ordered: [Known] {
    known.values.sorted { ($0.depth, $0.hash) < ($1.depth, $1.hash) }
  }

  /// The bytes of all entries but those named, each after those that it names.
  package func entries(except skipped: Set<EntryHash> = []) -> [[UInt8]] {
    ordered.filter { !skipped.contains($0.hash) }.map(\.signed.bytes)
  }

  /// Whether `descendant` had seen `ancestor`; an entry is not its own ancestor.
  package func isAncestor(_ ancestor: EntryHash, of descendant: EntryHash) -> Bool {
    guard let goal = known[ancestor], let start = known[descendant] else { return false }
    return reaches(from: start.entry.parents, above: goal.depth) { $0.hash == ancestor }
  }

  /// Takes in what a peer or the disk gives, in any order; those already here are skipped.
  ///
  /// - Returns: the hashes of the new entries, each after those that it names.
  /// - Throws: the first rule that any of them breaks; then nothing was added.
  package mutating func add(
    _ entries: [[UInt8]], cryptography: some Cryptography
  ) throws(Violation) -> [EntryHash] {
    var next = self
    let added = try next.addEach(entries, cryptography)
    self = next
    return added
  }

  private mutating func addEach(
    _ entries: [[UInt8]], _ cryptography: some Cryptography
  ) throws(Violation) -> [EntryHash] {
    let candidates = try unknown(among: entries, cryptography)
    var missing: [EntryHash: Int] = [:]
    var waiting: [EntryHash: [EntryHash]] = [:]
    var ready: [EntryHash] = []
    for (hash, candidate) in candidates {
      let absent = candidate.entry.parents.filter { known[$0] == nil }
      for parent in absent { waiting[parent, default: []].append(hash) }
      missing[hash] = absent.count
      if absent.isEmpty { ready.append(hash) }
    }
    ready.sort(by: >)
    var added: [EntryHash] = []
    while let hash = ready.popLast() {
      guard let candidate = candidates[hash] else { preconditionFailure("only candidates become ready") }
      try insert(candidate, hash, cryptography)
      added.append(hash)
      for child in (waiting[hash] ?? []).sorted(by: >) {
        missing[child, default: 0] -= 1
        if missing[child] == 0 { ready.append(child) }
      }
    }
    guard added.count == candidates.count else {
      throw Violation(.badMembership, "The peer sent a membership entry without the entries that it names.")
    }
    guard headSet.count <= Limits.membershipHeads else {
      throw Violation(.overLimit, "The membership log would have more than \(Limits.membershipHeads) heads.")
    }
    return added
  }

  private struct Candidate {
    var signed: SignedEntry
    var entry: MembershipEntry
  }

  private func unknown(
    among entries: [[UInt8]], _ cryptography: some Cryptography
  ) throws(Violation) -> [EntryHash: Candidate] {
    var candidates: [EntryHash: Candidate] = [:]
    for bytes in entries {
      guard bytes.count <= Limits.entryBytes else {
        throw Violation(.overLimit, "The peer sent a membership entry of more than \(Limits.entryBytes) bytes.")
      }
      let signed = SignedEntry(bytes: bytes)
      let hash = signed.hash(cryptography)
      guard known[hash] == nil, candidates[hash] == nil else { continue }
      do {
        candidates[hash] = Candidate(signed: signed, entry: try signed.decoded())
      } catch {
        throw Violation(error, in: "a membership entry")
      }
      guard known.count + candidates.count <= Limits.membershipEntries else {
        throw Violation(.overLimit, "The membership log would have more than \(Limits.membershipEntries) entries.")
      }
    }
    return candidates
  }

  /// Puts in one entry whose parents are all here.
  private mutating func insert(
    _ candidate: Candidate, _ hash: EntryHash, _ cryptography: some Cryptography
  ) throws(Violation) {
    let entry = candidate.entry
    var introduced: (device: DeviceID, key: [UInt8])?
    switch entry.statement {
    case .genesis(let statement):
      introduced = (try checkGenesis(statement, of: entry, cryptography), statement.device.publicKey)
      try check(candidate.signed, key: statement.sharePublicKey, cryptography)
      genesis = hash
    case .join(let join):
      introduced = (cryptography.deviceID(publicKey: join.device.publicKey), join.device.publicKey)
      try check(candidate.signed, key: try authorKey(of: entry), cryptography)
    case .invite, .rename, .schema, .role, .removal, .dormancy, .fold, .unknown:
      try check(candidate.signed, key: try authorKey(of: entry), cryptography)
    }
    let depth = entry.parents.reduce(0) { max($0, (known[$1]?.depth ?? 0) + 1) }
    known[hash] = Known(
      hash: hash, signed: candidate.signed, entry: entry, depth: depth, introduces: introduced?.device)
    if let introduced { keys[introduced.device] = introduced.key }
    headSet.subtract(entry.parents)
    headSet.insert(hash)
  }

  private func checkGenesis(
    _ statement: MembershipEntry.Genesis, of entry: MembershipEntry, _ cryptography: some Cryptography
  ) throws(Violation) -> DeviceID {
    guard genesis == nil else {
      throw Violation(.badMembership, "The peer sent a second beginning of the household.")
    }
    guard cryptography.householdID(sharePublicKey: statement.sharePublicKey) == household else {
      throw Violation(.badMembership, "The peer sent the membership of another household.")
    }
    let device = cryptography.deviceID(publicKey: statement.device.publicKey)
    guard device == entry.author else {
      throw Violation(.badMembership, "The beginning of the household names another device than its author.")
    }
    return device
  }

  private func check(
    _ signed: SignedEntry, key: [UInt8], _ cryptography: some Cryptography
  ) throws(Violation) {
    guard cryptography.isValid(signature: signed.signature, message: signed.message, publicKey: key) else {
      throw Violation(.badMembership, "A membership entry has a wrong signature.")
    }
  }

  /// The key of the author, who must be known from what the entry names.
  private func authorKey(of entry: MembershipEntry) throws(Violation) -> [UInt8] {
    // An earlier entry of the author proves as much as the introduction, as it was checked in the same way.
    let isKnown = reaches(from: entry.parents, above: 0) { ancestor in
      ancestor.introduces == entry.author || ancestor.entry.author == entry.author
    }
    guard isKnown, let key = keys[entry.author] else {
      throw Violation(.badMembership, "A membership entry is by a device that no join before it introduced.")
    }
    return key
  }

  /// Walks towards the genesis, down to this depth, until `isGoal` says that it was found.
  private func reaches(from start: [EntryHash], above depth: Int, isGoal: (Known) -> Bool) -> Bool {
    var seen = Set(start)
    var stack = start
    while let hash = stack.popLast() {
      guard let entry = known[hash], entry.depth >= depth else { continue }
      if isGoal(entry) { return true }
      for parent in entry.entry.parents where seen.insert(parent).inserted { stack.append(parent) }
    }
    return false
  }

  /// The log without all other entries.
  func restricted(to hashes: Set<EntryHash>) -> Self {
    var part = self
    part.known = known.filter { hashes.contains($0.key) }
    part.headSet = Set(part.known.keys).subtracting(part.known.values.flatMap(\.entry.parents))
    return part
  }

  /// The entry and all that its author had seen.
  func history(of hash: EntryHash) -> Set<EntryHash> {
    var seen: Set = [hash]
    var stack = [hash]
    while let next = stack.popLast() {
      for parent in known[next]?.entry.parents ?? [] where seen.insert(parent).inserted { stack.append(parent) }
    }
    return seen
  }
}
