package import HouseholdRecords
internal import HouseholdTransport

/// Whether the node runs and can be reached, and whether the other devices answer at the addresses that are known.
package enum NetworkCheck {
  /// A device, and what is known of the ways to it.
  package struct Peer: Sendable {
    package var device: DeviceID
    /// For people.
    package var name: String
    package var addresses: [String]
    /// Whether there is a link already.
    package var isConnected: Bool
    /// The name of the device through which it is there.
    package var through: String?
    /// What went wrong last between it and the node that runs here.
    package var lastError: String?

    package init(
      device: DeviceID, name: String, addresses: [String], isConnected: Bool, through: String?, lastError: String? = nil
    ) {
      self.lastError = lastError
      self.device = device
      self.name = name
      self.addresses = addresses
      self.isConnected = isConnected
      self.through = through
    }
  }

  /// What the node says of itself.
  static func node(_ answer: NodeAnswer) -> DoctorCheck {
    let live: LiveFacts
    switch answer {
    case .notRunning:
      return .failed(
        .network, "nodeNotRunning", "No node is running here, so nothing is exchanged.",
        remedy: "Start it: household node")
    case .silent(let said):
      return .failed(
        .network, "nodeSilent", "A node is there and does not say how it is: \(said)",
        remedy: "Look at its log; if it stays like this, stop it and start it again.")
    case .facts(let facts): live = facts
    }
    if let error = live.listenError {
      return .failed(
        .network, "portInUse", "The node cannot be reached by others: \(error)",
        remedy: "Stop the other program, or start the node with another --listen.")
    }
    return .passed(.network, "nodeNotRunning", "The node listens at \(live.listening.joined(separator: ", ")).")
  }

  /// Tries every address of every peer, all at once.
  static func peers(_ peers: [Peer], probe: AddressProbe) async -> [DoctorCheck] {
    let tried = await withTaskGroup(of: (DeviceID, String, AddressProbe.Outcome).self) { group in
      for peer in peers {
        for text in peer.addresses.prefix(Limits.addressesPerDevice) {
          guard let address = parsed(text) else { continue }
          group.addTask { (peer.device, text, await probe.dial(address)) }
        }
      }
      var list: [DeviceID: [String: AddressProbe.Outcome]] = [:]
      for await (device, text, outcome) in group { list[device, default: [:]][text] = outcome }
      return list
    }
    return peers.flatMap { judge($0, tried[$0.device] ?? [:]) }
  }

  private static func parsed(_ text: String) -> SocketAddress? {
    do {
      return try SocketAddress(parsing: text)
    } catch {
      return nil
    }
  }

  /// The peer's verdict first, then each of its addresses.
  package static func judge(_ peer: Peer, _ tried: [String: AddressProbe.Outcome]) -> [DoctorCheck] {
    let addresses = peer.addresses.compactMap { text in tried[text].map { judge(text, $0, of: peer) } }
    let answers = addresses.contains { $0.state == .passed }
    let verdict: DoctorCheck
    if answers, !peer.isConnected, peer.through == nil, let error = peer.lastError {
      verdict = .failed(
        .network, "noSession", "\(peer.name) answers, and the node here has no session with it: \(error)",
        subject: peer.name, remedy: "Wait a minute for its next attempt; else look at the logs of both nodes.")
    } else if answers || peer.isConnected {
      verdict = .passed(.network, "peer", "\(peer.name) can be reached.", subject: peer.name)
    } else if let through = peer.through {
      verdict = .passed(.network, "peer", "\(peer.name) is there through \(through).", subject: peer.name)
    } else if addresses.isEmpty {
      verdict = .failed(
        .network, "noAddress", "No address of \(peer.name) is known.", subject: peer.name,
        remedy: "Start its node, and name it here once: household node --peer HOST:PORT")
    } else {
      let worst = worstFirst(tried)
      verdict = .failed(
        .network, worst.code, "\(peer.name) cannot be reached: \(worst.text)", subject: peer.name,
        remedy: worst.remedy)
    }
    // With the peer reached, an address that is out of date is no fault.
    return [verdict]
      + addresses.map { check in
        guard check.state == .failed, verdict.state == .passed || check.check == verdict.check else { return check }
        return .note(.network, check.check, check.summary, subject: check.subject)
      }
  }

  private static func judge(_ address: String, _ outcome: AddressProbe.Outcome, of peer: Peer) -> DoctorCheck {
    switch outcome {
    case .hello(let greeting) where greeting.device == peer.device && greeting.isUnderstood:
      return judge(address, greeting, of: peer)
    default:
      let trouble = Trouble(outcome)
      return .failed(
        .network, trouble.code, "\(address) of \(peer.name): \(trouble.text)", subject: address,
        remedy: trouble.remedy)
    }
  }

  /// What the peer says of itself.
  private static func judge(_ address: String, _ greeting: AddressProbe.Greeting, of peer: Peer) -> DoctorCheck {
    let skew =
      ClockCheck.isSkewed(greeting.clockOffset)
      ? ", with a clock \(ClockCheck.span(greeting.clockOffset)) \(greeting.clockOffset > 0 ? "ahead" : "behind")" : ""
    let members =
      greeting.knowsSameMembers ? "the same members" : "other members than here, as long as it has not synced"
    return .passed(
      .network, "address", "\(address) answers: \(peer.name), household \(greeting.program), knows \(members)\(skew).",
      subject: address)
  }

  /// Whether devices are looked for in the local network, and which were heard; what is wrong there is no fault as long
  /// as they are reached.
  static func beacons(_ live: LiveFacts, names: [String: String], now: Instant) -> DoctorCheck {
    guard let search = live.search else {
      return .note(.network, "beacon", "Devices are not looked for in the local network.", state: .skipped)
    }
    if let error = search.error {
      return .note(.network, "beacon", "Devices cannot be looked for in the local network: \(error)")
    }
    let heard = search.heard.sorted { $0.key < $1.key }.map { id, at in
      "\(names[id] ?? id) \(max(0, now.milliseconds - at) / 1000) s ago"
    }
    if heard.isEmpty {
      return .note(
        .network, "beacon",
        "No device that is missing was heard in the local network; a firewall must let UDP port 7411 in.")
    }
    return .passed(.network, "beacon", "Heard in the local network: \(heard.joined(separator: ", ")).")
  }

  /// Of several addresses the one that got furthest tells most.
  private static func worstFirst(_ tried: [String: AddressProbe.Outcome]) -> Trouble {
    tried.sorted { $0.key < $1.key }.map { Trouble($0.value) }.max { $0.rank < $1.rank }
      ?? Trouble(.failed(.other, "It was not tried."))
  }
}

/// Why an address does not work, and what to do about it.
private struct Trouble {
  /// A stable code.
  var code: String
  var text: String
  var remedy: String
  /// How far the dial got.
  var rank: Int

  init(_ outcome: AddressProbe.Outcome) {
    switch outcome {
    case .hello(let greeting) where !greeting.isUnderstood:
      (code, text, rank) = ("noCommonVersion", "It speaks another version (household \(greeting.program)).", 7)
      remedy = "Update the program that is older."
    case .hello(let greeting):
      (code, text, rank) = ("otherDevice", "Another device answers there (household \(greeting.program)).", 6)
      remedy = "Nothing, if its address has changed; else start its node."
    case .silent(let said):
      (code, text, rank) = ("noHello", said, 5)
      remedy = "Look at the log of its node; update both programs to one version."
    case .failed(let obstacle, let said):
      text = said
      switch obstacle {
      case .name:
        (code, rank) = ("nameUnknown", 0)
        remedy = "Check the spelling of the name and the name service, or use a numeric address."
      case .noRoute:
        (code, rank) = ("noRoute", 1)
        remedy = "Connect this device to the network (or VPN) of the other one."
      case .timedOut:
        (code, rank) = ("timedOut", 2)
        remedy = "Switch the other device on, and open the port of its node in its firewall."
      case .refused:
        (code, rank) = ("refused", 3)
        remedy = "Start its node there: household node"
      case .tls:
        (code, rank) = ("tls", 4)
        remedy = "Another program or another household is at this address; check the address, or pair again."
      case .other:
        (code, rank) = ("unreachable", 0)
        remedy = "Check the network of both devices."
      }
    }
  }
}
