internal import HouseholdRecords

/// Sync health as figures, in the text format of Prometheus; no names of records and none of their values.
package struct MetricsText {
  /// The whole page.
  package private(set) var text = ""

  /// One figure, told apart from its like by labels.
  private struct Sample {
    var labels: KeyValuePairs<String, String> = [:]
    var value: Double
  }

  /// - Parameters:
  ///   - report: what `household status` would say.
  ///   - replicaBytes: the size of the file of records.
  ///   - walBytes: the size of what is not merged into it yet.
  package init(_ report: StatusReport, replicaBytes: Int64, walBytes: Int64) {
    addHealth(report)
    addPeers(report.peers)
    let changes = report.changes
    for (state, help, count) in [
      ("unsealed", "Edits that were captured and not sealed yet.", Double(changes.unsealed)),
      ("unacknowledged", "Changes of this device that some device has not confirmed.", Double(changes.unacknowledged)),
      ("waiting", "Changes that wait for what they depend on.", Double(changes.waiting)),
      ("held", "Changes that wait for somebody to approve them.", Double(changes.held)),
      ("parked", "Records of types that are not known here.", Double(changes.parked)),
      ("quarantined", "Records with a value that their field cannot hold.", Double(changes.quarantined)),
      ("rejected", "Changes that were written without the right to.", Double(changes.rejected)),
    ] { add("household_changes_\(state)", help, [Sample(value: count)]) }
    add("household_conflicts", "Open conflicts.", [Sample(value: Double(report.conflicts))])
    add("household_attention", "Records that need attention.", [Sample(value: Double(report.attention))])
    add(
      "household_records", "Records by type.",
      report.records.byType.sorted { $0.key < $1.key }.map { Sample(labels: ["type": $0.key], value: Double($0.value)) }
    )
    add("household_replica_bytes", "Size of the file of records.", [Sample(value: Double(replicaBytes))])
    add("household_wal_bytes", "Size of its write-ahead log.", [Sample(value: Double(walBytes))])
  }

  /// Where the records cannot be read, there is a verdict and no figure.
  package init(unreadable report: StatusReport) { addHealth(report) }

  private mutating func addHealth(_ report: StatusReport) {
    add("household_info", "The program.", [Sample(labels: ["version": report.node.version ?? ""], value: 1)])
    let start = report.node.startedAt.flatMap { Instant(rfc3339: $0) }.map { Double($0.milliseconds) / 1000 }
    add("household_start_time_seconds", "When the node was started.", start.map { [Sample(value: $0)] } ?? [])
    add(
      "household_verdict", "0 in sync, 1 pending, 2 degraded, 3 broken.",
      [Sample(value: Double(report.verdict.exitCode))])
    add(
      "household_verdict_info", "The verdict and its reason as words.",
      [Sample(labels: ["verdict": report.verdict.rawValue, "reason": report.reason], value: 1)])
    let findings = Dictionary(grouping: report.findings) { "\($0.severity) \($0.code)" }
    add(
      "household_findings", "What is the matter, by code.",
      findings.sorted { $0.key < $1.key }.map { _, alike in
        Sample(labels: ["code": alike[0].code, "severity": alike[0].severity], value: Double(alike.count))
      })
  }

  private mutating func addPeers(_ peers: [StatusReport.Peer]) {
    add("household_peers", "Other devices that should have everything.", [Sample(value: Double(peers.count))])
    let connected = peers.count { $0.connected }
    add("household_peers_connected", "Those that have a link to this one.", [Sample(value: Double(connected))])
    func each(_ value: (StatusReport.Peer) -> Double?) -> [Sample] {
      peers.compactMap { peer in
        value(peer).map { value in
          Sample(
            labels: ["member": peer.member, "device": peer.device, "id": String(peer.deviceID.prefix(8))],
            value: value)
        }
      }
    }
    add("household_peer_connected", "Whether the device has a link to this one.", each { $0.connected ? 1 : 0 })
    add(
      "household_peer_missing_here", "Changes that it has and this one not.", each { Double($0.weHaveTheirs.missing) })
    add("household_peer_missing_there", "Changes that it has not confirmed.", each { Double($0.hasOurs.missing) })
    add(
      "household_peer_clock_offset_seconds", "Its clock minus ours.",
      each { $0.clockOffsetMs.map { Double($0) / 1000 } })
    add(
      "household_peer_last_sync_seconds", "When a sync with it was completed last.",
      each { $0.lastSync.flatMap { Instant(rfc3339: $0) }.map { Double($0.milliseconds) / 1000 } })
    add("household_peer_sent_bytes_total", "Bytes that went to it.", each { Double($0.bytesSent) }, "counter")
    add("household_peer_received_bytes_total", "Bytes that came from it.", each { Double($0.bytesReceived) }, "counter")
    add("household_peer_sent_changes_total", "Changes that went to it.", each { Double($0.changesSent) }, "counter")
    add(
      "household_peer_received_changes_total", "Changes that came from it.", each { Double($0.changesReceived) },
      "counter")
  }

  /// Adds a figure with its help; one without samples is left out.
  private mutating func add(_ name: String, _ help: String, _ samples: [Sample], _ kind: String = "gauge") {
    guard !samples.isEmpty else { return }
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    for sample in samples {
      let labels = sample.labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
      text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(sample.value))\n"
    }
  }

  /// Whole numbers without a point.
  private static func number(_ value: Double) -> String {
    Int64(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
