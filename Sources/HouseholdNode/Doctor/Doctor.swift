package import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTransport
internal import HouseholdTrust

/// Looks at everything that sync rests on, from the disk up to the network; works with the node down.
///
/// Each room beside this one knows one kind of check; here is only their order. It changes nothing.
package struct Doctor: Sendable {
  private let directory: DataDirectory
  private let isThorough: Bool

  /// - Parameter isThorough: whether every changeset is read, and every check made although one has failed.
  package init(_ directory: DataDirectory, isThorough: Bool) {
    self.directory = directory
    self.isThorough = isThorough
  }

  /// Makes the checks in order; unless it is thorough, no area is looked at after one in which something failed.
  ///
  /// - Parameters:
  ///   - peer: the member or device whose addresses are tried; nil for all.
  ///   - digest: the digest of the records as they are now, if it can be computed.
  package func examine(peer: String?, digest: [UInt8]?, now: Instant) async throws -> DoctorReport {
    try directory.requireHousehold()
    var checks = DiskCheck.run(directory)
    func hasEnded() -> Bool { !isThorough && checks.contains { $0.state == .failed } }
    if hasEnded() { return DoctorReport(checks) }
    let facts = readFacts()
    checks += CertificateCheck.run(directory, facts, now: now)
    if hasEnded() { return DoctorReport(checks) }
    checks += RecordsCheck.run(directory, isThorough: isThorough)
    // Without the facts there is a fault of the replica, and nothing to go on from.
    guard let facts, !hasEnded() else { return DoctorReport(checks) }
    let node = NodeAnswer.ask(directory)
    let live = node.facts
    let peers = try PeerFinder(facts: facts, live: live).peers(named: peer)
    checks += digestChecks(facts, live: live, computed: digest)
    if hasEnded() { return DoctorReport(checks) }
    checks.append(BelongingCheck.membership(facts))
    if hasEnded() { return DoctorReport(checks) }
    checks.append(BelongingCheck.schema(facts))
    if hasEnded() { return DoctorReport(checks) }
    checks += ClockCheck.run(
      now: now,
      offsets: peers.compactMap { peer in peer.clockOffset.map { (peer: peer.network.name, milliseconds: $0) } })
    if hasEnded() { return DoctorReport(checks) }
    // No node is to run then, and nobody is to be reached.
    if facts.isOff {
      return DoctorReport(
        checks + [.note(.network, "off", "Sharing is off: no node runs, and nothing is exchanged.", state: .skipped)])
    }
    checks.append(NetworkCheck.node(node))
    if hasEnded() { return DoctorReport(checks) }
    checks += try await network(peers.map(\.network), heads: facts.membership.heads)
    if let live, !peers.isEmpty {
      let names = facts.membership.devices.values.map { ($0.id.description, $0.name) }
      checks.append(NetworkCheck.beacons(live, names: Dictionary(uniqueKeysWithValues: names), now: now))
    }
    return DoctorReport(checks)
  }

  private func readFacts() -> StatusFacts? {
    do {
      return try StatusFacts.read(path: directory.replica, cryptography: OpenSSLCryptography())
    } catch {
      // The check of the replica says what is the matter.
      return nil
    }
  }

  /// The digest against the one that was kept, and against those of the peers that the node has compared it with.
  private func digestChecks(_ facts: StatusFacts, live: LiveFacts?, computed: [UInt8]?) -> [DoctorCheck] {
    var checks: [DoctorCheck] = []
    for (id, peer) in (live?.peers ?? [:]).sorted(by: { $0.key < $1.key }) where peer.diverged {
      let name = facts.membership.devices.values.first { $0.id.description == id }?.name ?? id
      checks.append(
        .failed(
          .replica, "diverged", "\(name) shows other records though it has the same changes.", subject: name,
          remedy: "Keep both files, and report it with the output of household status --json of both."))
    }
    guard isThorough, let computed, let kept = facts.digest else { return checks }
    if computed == kept {
      checks.append(.passed(.replica, "digest", "The records are those of the digest: \(DigestWords.words(kept))."))
    } else {
      checks.append(
        .failed(
          .replica, "digest", "The records are not those that the node computed its digest of.",
          remedy: "Another program wrote past the triggers, or the file is damaged: restore a copy, or pair again."))
    }
    return checks
  }

  private func network(_ peers: [NetworkCheck.Peer], heads: [EntryHash]) async throws -> [DoctorCheck] {
    guard !peers.isEmpty else { return [.note(.network, "peer", "There is no other device yet.")] }
    let loop = try EventLoop()
    let links = LinkSet(loop: loop, context: try NodeKeys(directory).context())
    let checks = await NetworkCheck.peers(peers, probe: AddressProbe(links: links, heads: heads))
    await links.closeAll("household doctor is done")
    loop.stop()
    return checks
  }
}
