import Foundation
import Testing

/// A local network of several hosts on this machine: a network namespace for each, and one for the switch between them.
///
/// Needs root and `ip`; where that is missing there is none.
final class TestNetwork {
  private let prefix = "hh\(UUID().uuidString.prefix(6).lowercased())"
  let hosts: Int

  /// Builds it, hosts numbered from 1 at 10.77.0.N and fd77::N; nil where this machine does not allow it.
  static func build(hosts: Int) throws -> TestNetwork? {
    guard geteuid() == 0 else { return nil }
    let network = TestNetwork(hosts: hosts)
    return try network.build() ? network : nil
  }

  private init(hosts: Int) { self.hosts = hosts }

  deinit {
    for name in [switchName] + (1...hosts).map(name) {
      do { try Tool.run("ip", "netns", "del", name) } catch { print("left the namespace \(name): \(error)") }
    }
  }

  private var switchName: String { prefix + "-sw" }
  private func name(_ host: Int) -> String { "\(prefix)-\(host)" }

  private func build() throws -> Bool {
    guard try Tool.run("ip", "netns", "add", switchName) == 0,
      try Tool.run(
        "ip", "-n", switchName, "link", "add", "br0", "type", "bridge", "stp_state", "0", "forward_delay", "0")
        == 0
    else { return false }
    try Tool.must("ip", "-n", switchName, "link", "set", "br0", "up")
    for host in 1...hosts {
      try Tool.must("ip", "netns", "add", name(host))
      try Tool.must(
        "ip", "link", "add", "lan0", "netns", name(host), "type", "veth", "peer", "name", "port\(host)", "netns",
        switchName)
      try Tool.must("ip", "-n", switchName, "link", "set", "port\(host)", "master", "br0", "up")
      try Tool.must("ip", "-n", name(host), "link", "set", "lo", "up")
      try Tool.must("ip", "-n", name(host), "link", "set", "lan0", "up")
      try add("10.77.0.\(host)/24", to: host)
      try add("fd77::\(host)/64", to: host)
    }
    return true
  }

  /// The words by which a program runs at the host.
  func launcher(_ host: Int) -> [String] { ["ip", "netns", "exec", name(host)] }

  func add(_ address: String, to host: Int) throws {
    let isIPv6 = address.contains(":")
    if isIPv6 {
      try Tool.must("ip", "-n", name(host), "addr", "add", address, "dev", "lan0", "nodad")
    } else {
      try Tool.must("ip", "-n", name(host), "addr", "add", address, "brd", "+", "dev", "lan0")
    }
  }

  func remove(_ address: String, from host: Int) throws {
    try Tool.must("ip", "-n", name(host), "addr", "del", address, "dev", "lan0")
  }

  /// Takes IPv6 from a host, its link-local address with it.
  func removeIPv6(from host: Int) throws {
    try Tool.must(
      "ip", "netns", "exec", name(host), "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/lan0/disable_ipv6")
  }

  /// Pulls the cable of a host, or plugs it in again.
  func plug(_ host: Int, in isIn: Bool) throws {
    try Tool.must("ip", "-n", switchName, "link", "set", "port\(host)", isIn ? "up" : "down")
  }

  /// Lets nothing pass between hosts whose links are all up, or everything again.
  func drop(_ drops: Bool) throws {
    for host in 1...hosts {
      try Tool.must(
        "ip", "-n", switchName, "link", "set", "port\(host)", "type", "bridge_slave", "isolated", drops ? "on" : "off")
    }
  }

  /// Makes an address unreachable from a host, as where a VPN is missing; or reachable again.
  func route(_ address: String, from host: Int, exists: Bool) throws {
    try Tool.must("ip", "-n", name(host), "route", exists ? "del" : "add", "unreachable", address)
  }
}
