import Testing

/// What goes wrong between two hosts: each device has a network of its own.
enum FaultsOfNetworks {
  static let rows: [Fault] = [
    Fault(
      name: "the network cable is pulled", verdict: "pending", reason: "unacknowledged",
      remedy: "Leave the node running",
      edit: .held, isQuick: true
    ) { stage in
      let network = try #require(stage.network)
      try network.plug(1, in: false)
      return { try network.plug(1, in: true) }
    },
    Fault(
      name: "a firewall drops everything between two devices", verdict: "pending", reason: "unacknowledged",
      remedy: "Leave the node running", edit: .held
    ) { stage in
      let network = try #require(stage.network)
      try network.drop(true)
      return { try network.drop(false) }
    },
    Fault(
      name: "the partner's address does not answer", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held, mentions: "did not answer"
    ) { stage in
      let network = try #require(stage.network)
      try stage.ben.stop()
      try network.drop(true)
      try stage.ben.start(peers: [stage.ana], listen: "10.77.0.2:7411")
      return { try network.drop(false) }
    },
    Fault(
      name: "there is no route to the partner, as without its VPN", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held, mentions: "No route to host"
    ) { stage in
      let network = try #require(stage.network)
      try stage.ben.stop()
      try network.route("10.77.0.2", from: 1, exists: false)
      try stage.ben.start(peers: [stage.ana], listen: "10.77.0.2:7411")
      return { try network.route("10.77.0.2", from: 1, exists: true) }
    },
    Fault(
      name: "only IPv6 is left here, and the partner has IPv4 only", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held, mentions: "unreachable"
    ) { stage in
      let network = try #require(stage.network)
      try network.remove("10.77.0.1/24", from: 1)
      try stage.ben.stop()
      try stage.ben.start(peers: [stage.ana], listen: "10.77.0.2:7411")
      return { try network.add("10.77.0.1/24", to: 1) }
    },
    Fault(
      name: "there is IPv6 only", verdict: "inSync", reason: "ok", edit: .arrives
    ) { stage in
      let network = try #require(stage.network)
      try stage.ben.stop()
      try stage.ana.stop()
      for host in 1...2 { try network.remove("10.77.0.\(host)/24", from: host) }
      try stage.ana.start(listen: "[fd77::1]:7411")
      try stage.ben.start(peers: [stage.ana], listen: "[fd77::2]:7411")
      for home in [stage.ana, stage.ben] { try home.waitInSync() }
      return {
        for host in 1...2 { try network.add("10.77.0.\(host)/24", to: host) }
      }
    },
  ]
}

/// What cannot be undone within the time of a test, so that each has a household of its own.
enum FaultsOfCopies {
  static let rows: [Fault] = [
    Fault(
      name: "a copy of the partner's directory runs beside it", verdict: "broken", reason: "cloned",
      remedy: "Stop one of the two", isQuick: true
    ) { stage in
      let copy = stage.place.home("copy-of-ben")
      try Tool.must("cp", "-a", stage.ben.directory, copy.directory)
      try copy.start(peers: [stage.ana])
      return { copy.kill() }
    },
    Fault(
      name: "the schema needs a newer program", verdict: "degraded", reason: "schemaBehind",
      remedy: "Update household on this device", clears: "by an update"
    ) { stage in
      try stage.ana.stop()
      try stage.ana.stateSchema(strategy: "vote")
      try stage.ana.start()
      return {}
    },
  ]
}
