internal import FoundationEssentials
package import HouseholdRecords
package import HouseholdReplica

/// Judges sync health from what the file says and what the running node says; pure, so that it can be tested.
package struct StatusJudge {
  let facts: StatusFacts
  let node: NodeAnswer
  let live: LiveFacts?
  let now: Instant
  let disk: DiskFacts
  let ownFiles: [DoctorCheck]
  var findings: [StatusReport.Finding] = []

  /// How long a partner may be away before it needs attention, in milliseconds: three days.
  static let silenceMilliseconds: Int64 = 3 * 86_400_000
  /// How far clocks may differ before it needs attention, in milliseconds.
  static let skewMilliseconds: Int64 = 5 * 60_000

  /// The report of now.
  ///
  /// - Parameters:
  ///   - node: what the node says.
  ///   - ownFiles: what was found of keys, certificates and permissions.
  package static func report(
    _ facts: StatusFacts, node: NodeAnswer, disk: DiskFacts, ownFiles: [DoctorCheck], now: Instant
  ) -> StatusReport {
    var judge = StatusJudge(facts: facts, node: node, disk: disk, ownFiles: ownFiles, now: now)
    return judge.report()
  }

  private init(facts: StatusFacts, node: NodeAnswer, disk: DiskFacts, ownFiles: [DoctorCheck], now: Instant) {
    self.disk = disk
    self.ownFiles = ownFiles
    self.facts = facts
    self.node = node
    live = node.facts
    self.now = now
  }

  /// The devices that should have everything: all active ones but this one, in the order of their names.
  var others: [MembershipState.Device] {
    guard facts.membership.admits(facts.identity.device) else { return [] }
    return facts.membership.devices.values
      .filter { $0.id != facts.identity.device && $0.state == .active && facts.membership.admits($0.id) }
      .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }

  private mutating func report() -> StatusReport {
    let peers = others.map(peer)
    let unacknowledged = others.map { facts.missing(of: facts.own, at: $0.id) }.max() ?? 0
    // Of equally bad findings the first one is the reason: why nothing moves comes before what has not moved.
    judgeMembership()
    judgeDisk()
    judgeOwnFiles()
    judgeNode()
    for peer in peers { judge(peer) }
    judgeTables()
    judgeChanges(unacknowledged: unacknowledged)
    judgeHiddenTwins()
    judgeCopies()
    judgeCompaction()
    let worst = findings.filter { $0.severity != Self.information }.max { Self.rank($0) < Self.rank($1) }
    let verdict = worst.flatMap { StatusReport.Verdict(rawValue: $0.severity) } ?? .inSync
    let own = facts.membership.devices[facts.identity.device]
    let member = facts.membership.members[facts.identity.member]
    return StatusReport(
      verdict: verdict, reason: worst?.code ?? (facts.isOff ? "off" : "ok"),
      summary: worst?.summary ?? inSyncSentence(peers),
      remedy: worst?.remedy ?? "", asOf: now.rfc3339,
      household: StatusReport.Household(
        id: facts.identity.household.description, name: facts.membership.genesis?.householdName ?? "",
        mode: SharingMode(of: facts, now: now).rawValue,
        schema: .init(name: facts.membership.schema.name, version: facts.membership.schema.version)),
      device: StatusReport.Device(
        id: facts.identity.device.description, name: own?.name ?? "", member: member?.name ?? "",
        role: member?.role.rawValue ?? ""),
      node: StatusReport.Node(node),
      records: StatusReport.Records(
        total: facts.recordCounts.reduce(0) { $0 + $1.count },
        byType: Dictionary(uniqueKeysWithValues: facts.recordCounts.map { ($0.type, $0.count) })),
      changes: StatusReport.Changes(
        unsealed: facts.unsealed, unacknowledged: unacknowledged, parked: Int(facts.parked),
        held: Int(facts.held), quarantined: Int(facts.quarantined),
        rejected: Int(facts.rejectedOwn + facts.rejectedOthers), waiting: facts.waiting),
      conflicts: Int(facts.conflicts), attention: Int(facts.attention) + facts.hiddenTwins.count,
      digest: facts.digest.map { StatusReport.Digest(words: DigestWords.words($0), hex: hexadecimal($0)) },
      peers: peers, findings: findings)
  }

  private func inSyncSentence(_ peers: [StatusReport.Peer]) -> String {
    if facts.isOff { return "Sharing is off: these records are on this device alone, and nothing is exchanged." }
    if peers.isEmpty { return "All changes are sealed; there is no other device yet." }
    return "All changes are on every device, as of the last contact."
  }

  static let information = "information"

  private static func rank(_ finding: StatusReport.Finding) -> Int {
    [information, "pending", "degraded", "broken"].firstIndex(of: finding.severity) ?? 0
  }

  mutating func add(
    _ code: String, _ severity: StatusReport.Verdict, subject: String = "this device", _ summary: String,
    remedy: String
  ) {
    findings.append(
      StatusReport.Finding(
        code: code, severity: severity.rawValue, subject: subject, summary: summary, remedy: remedy))
  }

  /// Whether this device belongs at all: if not, nothing else matters.
  private mutating func judgeMembership() {
    guard facts.membership.excludes(facts.identity.device) else { return }
    guard let own = facts.membership.devices[facts.identity.device] else {
      add(
        "removed", .broken,
        "The invitation with which this device joined does not count: whoever let it in had lost the right to, without "
          + "having heard. It keeps what it has, and exchanges nothing.",
        remedy: "Ask an owner for a new invitation, and join from an empty data directory.")
      return
    }
    let member = facts.membership.members[own.member]
    let (code, what) =
      switch (own.state, member?.state) {
      case (.left, _), (_, .left): ("left", "This device has left the household")
      case (.retired, _): ("retired", "This device was retired")
      case _ where facts.ending?.reason == .dissolved: ("sharingEnded", "The sharing was ended")
      default: ("removed", "This device was removed from the household")
      }
    let by = facts.ending.map { " by \($0.by) on \($0.at.rfc3339)" } ?? ""
    if code == "left", !facts.peers.keys.contains(where: { contact(of: $0).knowsEnd == true }) {
      add(
        code, .broken, "\(what), and no partner has heard it yet. It keeps what it had.",
        remedy: "Leave the node running until a partner's node runs; nothing but this is told.")
      return
    }
    if code == "sharingEnded" {
      add(
        code, .broken, "\(what)\(by). This device keeps all that it had, also what had reached nobody.",
        remedy: "Use it on (household export), or join another household from an empty data directory.")
      return
    }
    add(
      code, .broken, "\(what)\(code == "left" ? "" : by). It keeps what it had, and exchanges nothing any more.",
      remedy: "Ask an owner for a new invitation, and join from an empty data directory.")
  }

  /// Records that were joined with a hidden one: people would look for them in vain.
  private mutating func judgeHiddenTwins() {
    for twin in facts.hiddenTwins {
      add(
        "attention", .degraded, subject: "\(twin.type) \(twin.id)",
        "A \(twin.type) that somebody sees was joined with one that is hidden: \(twin.id).",
        remedy: "Show it again (household put \(twin.type) \(twin.id) hidden=0), or hide it once more.")
    }
  }

  /// Tables that another program has changed: what is written there reaches nobody.
  private mutating func judgeTables() {
    for (type, condition) in facts.damagedTables.sorted(by: { $0.key < $1.key }) {
      if condition == .incomplete {
        add(
          "tableDamaged", .broken, subject: type,
          "The table \(type) is gone or lacks columns, so its records are not here as they are elsewhere.",
          remedy: "Give it back the columns of household schema show, or recover a backup (household recover).")
      } else {
        add(
          "tableDamaged", .broken, subject: type,
          "Another program has made the table \(type) anew, and what is written there is not captured.",
          remedy: live == nil
            ? "Start the node, which puts it right and takes in what was written: household node"
            : "Wait a moment; if this stays, a row has a value that its column cannot hold, or no id.")
      }
    }
  }

  private mutating func judgeChanges(unacknowledged: UInt64) {
    if facts.needsSnapshot, !facts.membership.excludes(facts.identity.device) {
      add(
        "firstSync", .pending, "The household's records are still to come from a partner.",
        remedy: "Leave the node running while a partner's node runs.")
    }
    if facts.unsealed > 0, !facts.isOff {
      add(
        "unsealed", .pending, "\(facts.unsealed) edits are not sealed yet.",
        remedy: live == nil ? "Start the node: household node" : "Wait a moment.")
    }
    if facts.conflicts > 0 {
      add(
        "conflicts", .degraded,
        facts.conflicts == 1
          ? "One edit lost against a concurrent one." : "\(facts.conflicts) edits lost against concurrent ones.",
        remedy: "Look at them (household conflicts) and decide (household resolve).")
    }
    judgeAttention()
    if facts.quarantined > 0 {
      add(
        "quarantined", .degraded, "\(facts.quarantined) records hold a value that their field cannot hold.",
        remedy: "Write the field anew, on any device.")
    }
    judgeRejected()
    if let version = facts.membership.unreadableSchema {
      add(
        "schemaBehind", .degraded, "The household uses version \(version) of a schema that needs a newer program.",
        remedy: "Update household on this device; what it cannot show yet is kept and passed on.")
    } else if facts.parked > 0 {
      add(
        "parked", .degraded, "\(facts.parked) records are of a type that this device does not know.",
        remedy: "Update household on this device.")
    }
    if facts.held > 0 {
      add(
        "held", .broken,
        facts.held == 1
          ? "A change that deletes many records of others waits for a decision, and what came after it waits too."
          : "\(facts.held) changes that delete many records of others wait for a decision.",
        remedy: "Look at it (household held) and decide: household approve ID, or household reject ID.")
    } else if facts.waiting > 0 {
      add(
        "waiting", .pending, "\(facts.waiting) changesets wait for others that they depend on.",
        remedy: "Leave the node running until a partner brings them.")
    }
    if unacknowledged > 0 {
      add(
        "unacknowledged", .pending, "\(unacknowledged) changesets of this device are not on every device yet.",
        remedy: "Leave the node running while the partner's node runs.")
    }
  }

  /// What a person should look at, each with the record named.
  private mutating func judgeAttention() {
    for item in facts.attentionItems {
      let record = "\(item.key.type) \(item.key.id)"
      let remedy =
        switch AttentionCode(rawValue: item.code) {
        case .sum: "Correct the record or its rows (household get \(record)); nothing is changed by itself."
        case .elsewhere: "Edit the row where it belongs, or delete it (household get \(record))."
        case nil: "Look at it: household get \(record)"
        }
      add("attention", .degraded, subject: record, "\(record): \(item.text)", remedy: remedy)
    }
    let others = facts.attention - Int64(facts.attentionItems.count)
    if others > 0 {
      add(
        "attention", .degraded, "\(others) more records need attention.",
        remedy: "Look at those that are named first; the others are named then.")
    }
  }

  private mutating func judgeRejected() {
    if facts.rejectedOwn > 0 {
      add(
        "rejected", .degraded,
        facts.rejectedOwn == 1
          ? "One changeset of this device was written without the right to."
          : "\(facts.rejectedOwn) changesets of this device were written without the right to.",
        remedy: "Look at them (household rejected), ask an owner to adopt them, and put them aside here "
          + "(household rejected dismiss ID).")
    }
    if facts.rejectedOthers > 0 {
      findings.append(
        StatusReport.Finding(
          code: "rejectedOthers", severity: "information", subject: "this device",
          summary: "\(facts.rejectedOthers) changesets came that their authors had no right to write.",
          remedy: "An owner can look at them and adopt them: household rejected"))
    }
  }

  // MARK: Peers

  func contact(of device: DeviceID) -> PeerContact {
    if let told = live?.peers[device.description] { return told.contact }
    guard let text = facts.peers[device]?.contact else { return PeerContact() }
    do {
      return try JSONDecoder().decode(PeerContact.self, from: Data(text.utf8))
    } catch {
      var unreadable = PeerContact()
      unreadable.lastError = "What was remembered of this device cannot be read."
      return unreadable
    }
  }

  private func contact(of peer: StatusReport.Peer) -> PeerContact {
    facts.membership.devices.values.first { $0.id.description == peer.deviceID }.map { contact(of: $0.id) }
      ?? PeerContact()
  }

  /// What the peer stored of ours and does not show: we may not call that in sync.
  private mutating func judgeWithheld(_ contact: PeerContact, _ who: String) {
    if contact.heldThere == true {
      add(
        "heldThere", .pending, subject: who,
        "\(who) holds back changes of this device that delete many records, until somebody there decides.",
        remedy: "Ask them to look at it: household held.")
    }
    if contact.storeFailedThere == true {
      add(
        "storeFailedThere", .pending, subject: who, "\(who) cannot store what it gets from here.",
        remedy: "Ask them to look at it: household status, on that device.")
    }
    // What is known to be rejected here too is told with its own next step, and was decided if it is put aside.
    if contact.rejectedThere == true, facts.rejectedOwn == 0, facts.dismissedOwn == 0 {
      add(
        "rejectedThere", .degraded, subject: who, "\(who) refuses changes of this device.",
        remedy: "Ask an owner which role this device has: household members.")
    }
  }

  private func peer(_ device: MembershipState.Device) -> StatusReport.Peer {
    let member = facts.membership.members[device.member]
    let known = facts.peers[device.id]
    let told = live?.peers[device.id.description]
    let contact = contact(of: device.id)
    let missingThere = facts.missing(of: facts.own, at: device.id)
    let missingHere = told?.missingHere ?? 0
    return StatusReport.Peer(
      member: member?.name ?? "", device: device.name, deviceID: device.id.description,
      role: member?.role.rawValue ?? "", connected: told?.connected ?? false, through: relay(of: told),
      address: told?.address,
      lastSeen: told?.connected == true || told?.through != nil ? now.rfc3339 : known?.lastSeen?.rfc3339,
      lastSync: known?.lastSync?.rfc3339,
      hasOurs: StatusReport.Holding(
        complete: missingThere == 0, missing: missingThere, through: known?.hasOursThrough?.rfc3339),
      weHaveTheirs: StatusReport.Holding(
        complete: missingHere == 0, missing: missingHere, through: known?.weHaveThrough?.rfc3339),
      clockOffsetMs: contact.clockOffsetMs, schemaVersion: contact.schemaVersion, bytesSent: contact.bytesSent,
      bytesReceived: contact.bytesReceived, changesSent: contact.changesSent,
      changesReceived: contact.changesReceived,
      addresses: contact.addresses.map {
        StatusReport.Address(
          address: $0.address, lastTried: $0.lastTried.map { Instant(milliseconds: $0).rfc3339 }, error: $0.error)
      }, lastError: contact.lastError)
  }

  /// Since when the peer has been silent: since it was here, or where it never was, since both belong.
  private func silentSince(_ peer: StatusReport.Peer) -> Instant? {
    guard let device = facts.membership.devices.values.first(where: { $0.id.description == peer.deviceID })?.id else {
      return nil
    }
    if let seen = facts.peers[device]?.lastSeen { return seen }
    return [facts.joinedAt[device], facts.joinedAt[facts.identity.device]].compactMap(\.self).max()
  }

  private mutating func judge(_ peer: StatusReport.Peer) {
    let who = "\(peer.device) of \(peer.member)"
    let told = live?.peers[peer.deviceID]
    if told?.diverged == true {
      add(
        "diverged", .broken, subject: who, "\(who) shows other records though it has the same changes.",
        remedy: "Keep both files, and report it with the output of household status --json of both.")
    }
    if let offset = peer.clockOffsetMs, ClockCheck.isSkewed(offset) {
      add(
        "clockSkew", .degraded, subject: who,
        "The clock of \(who) is \(ClockCheck.span(offset)) \(offset > 0 ? "ahead of" : "behind") ours.",
        remedy: "Set the clock of the device that is wrong.")
    }
    judgeWithheld(contact(of: peer), who)
    if !peer.weHaveTheirs.complete {
      add(
        "fetching", .pending, subject: who, "\(peer.weHaveTheirs.missing) changesets of \(who) are still to come.",
        remedy: "Wait a moment.")
    }
    // Whoever is there through another device has a way to us (contract 1.5).
    guard live != nil, !peer.connected, peer.through == nil else { return }
    let isLong = silentSince(peer).map { now.milliseconds(since: $0) > Self.silenceMilliseconds } ?? false
    add(
      "peerUnreachable", isLong ? .degraded : .pending, subject: who,
      peer.lastSeen.map { "\(who) is not connected; it was last here at \($0)." } ?? "\(who) was never here.",
      remedy: "Start its node, and check that both are on one network"
        + (peer.lastError.map { " (last error: \($0))" } ?? "") + ".")
  }
}
