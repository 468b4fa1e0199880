import Foundation
import Testing

/// Devices in a local network of their own: hosts that move, partitions, cables, IPv6 only; with beacons (P16).
///
/// With `HOUSEHOLD_FAULTS=all`, as it takes root and most of a minute.
@Suite(.serialized, .ownThread) struct LocalNetworkTests {
  private static let isWhole = ProcessInfo.processInfo.environment["HOUSEHOLD_FAULTS"] == "all"

  /// Devices at hosts 1, 2 ... of one household; nobody is told an address after the pairing.
  private func household(_ names: [String], in network: TestNetwork, _ place: Place) throws -> [Home] {
    var homes: [Home] = []
    for (index, name) in names.enumerated() {
      let home = place.home(name)
      home.launcher = network.launcher(index + 1)
      home.commandLauncher = home.launcher
      if let first = homes.first {
        try home.join(try first.invite(name))
      } else {
        try home.json("init", "Our home", "--member", name, "--device", "\(name)-laptop")
      }
      try home.start(listen: "[::]:7411", discovers: true)
      homes.append(home)
    }
    for home in homes { try home.waitInSync() }
    return homes
  }

  /// Seconds until the peer is connected, from now on.
  private func reconnected(_ home: Home, to peer: String, _ what: String) throws -> Double {
    let begun = Date()
    try eventually("\(home.name) and \(peer) are connected: \(what)") {
      try home.peer(peer)["connected"] as? Bool == true
    }
    let took = Date().timeIntervalSince(begun)
    print(String(format: "%5.2f s  %@", took, what))
    return took
  }

  private func goesAcross(_ from: Home, _ to: Home, _ id: String) throws {
    let begun = Date()
    try from.put("note", id, "title=\(id)")
    try eventually("\(id) arrives at \(to.name)") { try to.records("note")[id] != nil }
    print(String(format: "%5.2f s  %@", Date().timeIntervalSince(begun), id))
  }

  private func noticesAbsence(_ home: Home, of peer: String) throws {
    try eventually("\(home.name) notices that \(peer) is away") { try home.peer(peer)["connected"] as? Bool == false }
  }

  @Test func `three hosts find each other, through a partition and wherever they move (P16)`() throws {
    guard Self.isWhole else { return }
    guard let network = try TestNetwork.build(hosts: 3) else {
      return print("left out: network namespaces are not allowed here")
    }
    let place = try Place()
    let homes = try household(["ana", "ben", "kim"], in: network, place)
    let (ana, ben, kim) = (homes[0], homes[1], homes[2])

    // A partition: the two that see each other go on.
    try network.plug(3, in: false)
    try goesAcross(ana, ben, "while-kim-is-away")
    try noticesAbsence(ana, of: "kim")
    #expect(try ana.status().code != 0, "kim lacks an edit")
    try kim.put("note", "of-kim", "title=alone")
    try network.plug(3, in: true)
    #expect(try reconnected(ana, to: "kim", "the cable is back after the link was given up") < 2)
    try eventually("kim's edit arrives") { try ben.records("note")["of-kim"] != nil }
    for home in homes { try home.waitInSync() }

    // Another address in the same network.
    try network.remove("10.77.0.2/24", from: 2)
    try network.add("10.77.0.52/24", to: 2)
    try goesAcross(ben, ana, "from-another-address")

    // Another subnet, where only IPv6's link-local beacon is heard.
    try network.remove("10.77.0.52/24", from: 2)
    try network.remove("fd77::2/64", from: 2)
    try network.add("10.88.0.2/24", to: 2)
    try goesAcross(ben, ana, "from-another-subnet")

    for host in [1, 3] {
      try network.remove("10.77.0.\(host)/24", from: host)
    }
    try network.remove("10.88.0.2/24", from: 2)
    try goesAcross(ana, ben, "over-ipv6-only")
    for home in homes { try home.waitInSync() }
  }

  @Test(arguments: [true, false])
  func `a node that starts without a network tells its addresses once there is one (P14)`(discovers: Bool) throws {
    guard Self.isWhole else { return }
    guard let network = try TestNetwork.build(hosts: 2) else {
      return print("left out: network namespaces are not allowed here")
    }
    let place = try Place()
    let homes = try household(["ana", "ben"], in: network, place)
    let (ana, ben) = (homes[0], homes[1])
    try ana.stop()
    try network.remove("10.77.0.1/24", from: 1)
    try network.removeIPv6(from: 1)
    try ana.start(listen: "[::]:7411", discovers: discovers)
    try noticesAbsence(ana, of: "ben")

    try network.add("10.77.0.51/24", to: 1)

    try eventually("ben is told the address") {
      let known = try ben.peer("ana")["addresses"] as? [[String: Any]] ?? []
      return known.contains { $0["address"] as? String == "10.77.0.51:7411" }
    }
  }

  @Test func `a short cut of the cable does not keep an edit for longer than two seconds after its end`() throws {
    guard Self.isWhole else { return }
    guard let network = try TestNetwork.build(hosts: 2) else {
      return print("left out: network namespaces are not allowed here")
    }
    let place = try Place()
    let homes = try household(["ana", "ben"], in: network, place)
    let (ana, ben) = (homes[0], homes[1])

    for seconds: UInt32 in [1, 4, 8] {
      try network.plug(1, in: false)
      let id = "cut-\(seconds)"
      try ana.put("note", id, "title=x")
      // What is tested is the length of the cut.
      sleep(seconds)
      try network.plug(1, in: true)
      let begun = Date()
      try eventually("the edit arrives") { try ben.records("note")[id] != nil }
      let took = Date().timeIntervalSince(begun)
      print(String(format: "%5.2f s  after a cut of %d s", took, seconds))
      #expect(took < 2)
      for home in homes { try home.waitInSync() }
    }
  }
}
