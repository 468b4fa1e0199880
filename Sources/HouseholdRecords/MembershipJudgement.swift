/// One run over the log that accepts entries or leaves them without effect; see ``MembershipEvaluation``.
struct MembershipJudgement {
  /// An accepted entry, as far as a concurrent removal of its author can void it.
  struct Act {
    let entry: Int
    let device: DeviceID
    let member: MemberID
    let need: Need
    let seniority: MembershipSeniority
  }

  /// What an act takes for granted of its author.
  enum Need {
    /// That he belongs: acts about himself.
    case belonging
    /// That he is an owner.
    case ownership
  }

  /// An accepted act that took rights from someone.
  struct Loss {
    let by: Act
    let subject: MembershipEntry.Subject
    /// Whether nothing is left, or merely ownership is lost.
    let isTotal: Bool
  }

  /// An act that was accepted before a concurrent loss by a senior author was.
  struct Overtaking {
    let by: MembershipSeniority
    let act: Int
  }

  let graph: MembershipGraph
  /// Entries that an earlier run found to be overtaken.
  let overtaken: Set<Int>
  /// What this run found to be overtaken.
  var overtakings: [Overtaking] = []
  var genesis: MembershipEntry.Genesis?
  var members: [MemberID: MemberRegister] = [:]
  var devices: [DeviceID: DeviceRegister] = [:]
  /// Accepted invite entries by number.
  var invites: [Int: MembershipEntry.Invite] = [:]
  /// The join that used each invite.
  var uses: [Int: Int] = [:]
  var schema: Schema = .empty
  /// The newest version of a schema that needs a newer program.
  var unreadableSchema: UInt64?
  var acts: [Act] = []
  var losses: [Loss] = []
  /// What took the right to write from someone.
  var withdrawals: [Withdrawal] = []
  var dormancies: [AcceptedDormancy] = []
  var namesGiven = 0

  init(graph: MembershipGraph, overtaken: Set<Int>) {
    self.graph = graph
    self.overtaken = overtaken
  }

  /// Judges every entry once, each after those that it names.
  mutating func judgeAll() {
    var missing = graph.entries.map { $0.entry.parents.count }
    var ready: [(seniority: MembershipSeniority, entry: Int)] = []
    // Nothing that is judged later changes what the author had seen, so his rank is looked up once.
    for entry in graph.entries.indices where missing[entry] == 0 { ready.append((.none, entry)) }
    while let next = ready.indices.min(by: { isBefore(ready[$0], ready[$1]) }) {
      let entry = ready.remove(at: next).entry
      judge(entry)
      for child in graph.children[entry] {
        missing[child] -= 1
        if missing[child] == 0 { ready.append((seniority(ofAuthorOf: child), child)) }
      }
    }
  }

  private func isBefore(
    _ a: (seniority: MembershipSeniority, entry: Int), _ b: (seniority: MembershipSeniority, entry: Int)
  ) -> Bool {
    if a.seniority != b.seniority { return a.seniority < b.seniority }
    return graph.entries[a.entry].hash < graph.entries[b.entry].hash
  }

  private func seniority(ofAuthorOf entry: Int) -> MembershipSeniority {
    guard let device = devices[graph.entries[entry].entry.author] else { return .none }
    let standing = members[device.member]?.standing(at: entry, in: graph)
    return seniority(of: device, standing?.ownership ?? .none)
  }

  private func seniority(of device: DeviceRegister, _ ownership: MembershipAge) -> MembershipSeniority {
    MembershipSeniority(ownership: ownership, introduction: graph.age(of: device.introduction))
  }

  private mutating func judge(_ number: Int) {
    let known = graph.entries[number]
    if case .genesis(let genesis) = known.entry.statement {
      begin(genesis, number, known)
      return
    }
    guard !overtaken.contains(number), let author = author(of: number) else { return }
    guard let need = need(of: known.entry.statement, by: author, at: number) else { return }
    guard need == .belonging || author.standing.role == .owner else { return }
    let act = Act(
      entry: number, device: author.device.id, member: author.member, need: need,
      seniority: seniority(of: author.device, author.standing.ownership))
    guard !losses.contains(where: { voids($0, act) }) else { return }
    if apply(known.entry.statement, act) { acts.append(act) }
  }

  private struct Author {
    let device: DeviceRegister
    let standing: MemberRegister.Standing

    var member: MemberID { device.member }
  }

  /// Who wrote the entry, if by all that he had seen he belonged.
  private func author(of number: Int) -> Author? {
    guard let device = devices[graph.entries[number].entry.author],
      device.standing(at: number, in: graph)?.belongs == true,
      let standing = members[device.member]?.standing(at: number, in: graph), standing.state == .active
    else { return nil }
    return Author(device: device, standing: standing)
  }

  /// What the statement takes for granted; nil if nobody in the author's place may say it.
  private func need(of statement: MembershipEntry.Statement, by author: Author, at number: Int) -> Need? {
    switch statement {
    case .genesis, .unknown, .fold: return nil
    case .invite(let invite): return invite.member == author.member ? .belonging : .ownership
    case .join(let join):
      guard let index = graph.index[join.invite], let invite = invites[index], graph.saw(number, index),
        graph.entries[index].entry.author == author.device.id
      else { return nil }
      return invite.member == author.member ? .belonging : .ownership
    case .rename(let rename): return isOwn(rename.subject, author) ? .belonging : .ownership
    case .schema, .role: return .ownership
    case .removal(let removal):
      if isOwn(removal.subject, author) { return .belonging }
      return removal.reason == .left ? nil : .ownership
    case .dormancy(let dormancy):
      return !dormancy.isDormant && isOwn(.device(dormancy.device), author) ? .belonging : .ownership
    }
  }

  private func isOwn(_ subject: MembershipEntry.Subject, _ author: Author) -> Bool {
    switch subject {
    case .member(let member): member == author.member
    case .device(let device): devices[device]?.member == author.member
    }
  }

  /// Whether the loss, concurrent with the act and by a senior author, takes the ground from it.
  ///
  /// Seniority is a strict order, also among the devices of one member, so no two losses void each other.
  func voids(_ loss: Loss, _ act: Act) -> Bool {
    let concerns =
      switch loss.subject {
      case .member(let member): member == act.member
      case .device(let device): device == act.device
      }
    return concerns && loss.by.seniority < act.seniority && (loss.isTotal || act.need == .ownership)
      && !graph.saw(act.entry, loss.by.entry) && !graph.saw(loss.by.entry, act.entry)
  }

  /// Remembers the loss; says whether it overtakes acts that were accepted before.
  mutating func record(_ loss: Loss) -> Bool {
    losses.append(loss)
    let hit = acts.filter { voids(loss, $0) }
    overtakings += hit.map { Overtaking(by: loss.by.seniority, act: $0.entry) }
    return !hit.isEmpty
  }

  /// The result, after all were judged.
  func state(heads: [EntryHash]) -> MembershipState {
    var state = MembershipState(genesis: genesis, schema: schema, heads: heads)
    state.unreadableSchema = unreadableSchema
    for (number, invite) in invites { state.invites[graph.entries[number].hash] = invite }
    for (invite, join) in uses { state.joins[graph.entries[invite].hash] = graph.entries[join].hash }
    // Those who belong keep their names before those who do not.
    var memberNames = NameRegistry()
    let byName = members.values.sorted {
      (($0.current.state == .active ? 0 : 1), $0.name.order) < (($1.current.state == .active ? 0 : 1), $1.name.order)
    }
    for member in byName {
      state.members[member.id] = MembershipState.Member(
        id: member.id, name: memberNames.distinct(member.name.text), role: member.current.role,
        state: member.current.state)
    }
    var deviceNames: [MemberID: NameRegistry] = [:]
    let devicesByName = devices.values.sorted {
      (($0.current.belongs ? 0 : 1), $0.name.order) < (($1.current.belongs ? 0 : 1), $1.name.order)
    }
    for device in devicesByName {
      state.devices[device.id] = MembershipState.Device(
        id: device.id, member: device.member,
        name: deviceNames[device.member, default: NameRegistry()].distinct(device.name.text),
        publicKey: device.publicKey, state: device.current.state)
    }
    return state
  }
}
