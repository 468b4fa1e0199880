import Glibc
import HouseholdRecords

/// Calls out to all machines of the local network and hears their calls: multicast and broadcast of IPv4, link-local
/// multicast of IPv6.
///
/// Unchecked: everything is used on the loop's thread only.
package final class BeaconSocket: @unchecked Sendable {
  /// The UDP port of beacons, on every machine.
  package static let port: UInt16 = 7411
  /// The group of IPv4, of those for use inside one site (RFC 2365).
  private static let groupIPv4 = "239.255.74.11"
  /// The group of IPv6: transient, on one link.
  private static let groupIPv6 = "ff12::6868:6231"
  /// The most datagrams that are taken in at one time; the system drops what comes beyond.
  private static let datagramsPerTurn = 32

  private let loop: EventLoop
  private let heard: (_ datagram: [UInt8], _ host: String) -> Void
  private var sockets: [Int32: Int32] = [:]
  private var joined: Set<InterfaceAddress> = []

  /// Opens what can be opened: a machine may have one family only.
  ///
  /// - Parameter heard: called on the loop's thread with a datagram and the host that it came from.
  package init(loop: EventLoop, heard: @escaping (_ datagram: [UInt8], _ host: String) -> Void) throws(SocketFault) {
    self.loop = loop
    self.heard = heard
    var fault: SocketFault?
    for family in [AF_INET, AF_INET6] {
      do throws(SocketFault) { try open(family) } catch { fault = error }
    }
    if let fault, sockets.isEmpty { throw fault }
  }

  private func open(_ family: Int32) throws(SocketFault) {
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketFault(operation: "make a socket") }
    Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
    Self.set(descriptor, SOL_SOCKET, SO_BROADCAST, 1)
    if family == AF_INET6 {
      Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1)
      Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, 1)
    } else {
      Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, 1)
    }
    let host = family == AF_INET6 ? "::" : "0.0.0.0"
    guard let any = Self.numeric(host, Self.port),
      unsafe any.withSocketAddress({ unsafe bind(descriptor, $0, $1) }) == 0
    else {
      let fault = SocketFault(operation: "listen for beacons")
      Glibc.close(descriptor)
      throw fault
    }
    do throws(SocketFault) {
      try loop.watch(descriptor) { [weak self] readiness in
        if readiness.intersects(.reading) { self?.receive(descriptor) }
      }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    sockets[family] = descriptor
  }

  /// Closes the sockets; nothing is heard afterwards.
  package func close() {
    for descriptor in sockets.values {
      loop.unwatch(descriptor)
      Glibc.close(descriptor)
    }
    sockets = [:]
  }

  // MARK: Out

  /// Sends the datagram to all machines of the networks that these interfaces are in; what fails is tried the next time.
  package func send(_ datagram: [UInt8], over interfaces: [InterfaceAddress]) {
    join(interfaces)
    for interface in interfaces {
      guard let descriptor = sockets[interface.isIPv6 ? AF_INET6 : AF_INET] else { continue }
      if interface.isIPv6 {
        Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, Int32(interface.index))
        send(datagram, to: "\(Self.groupIPv6)%\(interface.name)", descriptor)
      } else {
        select(interface, descriptor)
        send(datagram, to: Self.groupIPv4, descriptor)
        if let broadcast = interface.broadcast { send(datagram, to: broadcast, descriptor) }
      }
    }
  }

  /// Hears what comes in over these interfaces from now on; one that is gone has taken its membership along.
  package func join(_ interfaces: [InterfaceAddress]) {
    joined.formIntersection(interfaces)
    for interface in interfaces where joined.insert(interface).inserted {
      guard let descriptor = sockets[interface.isIPv6 ? AF_INET6 : AF_INET] else { continue }
      if interface.isIPv6 {
        var request = ipv6_mreq()
        unsafe inet_pton(AF_INET6, Self.groupIPv6, &request.ipv6mr_multiaddr)
        request.ipv6mr_interface = interface.index
        unsafe setsockopt(
          descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, &request, socklen_t(MemoryLayout<ipv6_mreq>.size))
      } else {
        var request = Self.request(interface)
        unsafe setsockopt(
          descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, socklen_t(MemoryLayout<ip_mreqn>.size))
      }
    }
  }

  private func select(_ interface: InterfaceAddress, _ descriptor: Int32) {
    var request = Self.request(interface)
    // The sender's address is what others dial: it must be one of this interface.
    unsafe inet_pton(AF_INET, interface.host, &request.imr_address)
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &request, socklen_t(MemoryLayout<ip_mreqn>.size))
  }

  private static func request(_ interface: InterfaceAddress) -> ip_mreqn {
    var request = ip_mreqn()
    unsafe inet_pton(AF_INET, groupIPv4, &request.imr_multiaddr)
    request.imr_ifindex = Int32(interface.index)
    return request
  }

  private func send(_ datagram: [UInt8], to host: String, _ descriptor: Int32) {
    guard let target = Self.numeric(host, Self.port) else { return }
    _ = unsafe target.withSocketAddress { address, count in
      unsafe sendto(descriptor, datagram, datagram.count, Int32(MSG_NOSIGNAL), address, count)
    }
  }

  // MARK: In

  private func receive(_ descriptor: Int32) {
    for _ in 0..<Self.datagramsPerTurn {
      guard sockets.values.contains(descriptor) else { return }
      var buffer = [UInt8](repeating: 0, count: Limits.beaconBytes + 1)
      var sender = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let count = unsafe withUnsafeMutablePointer(to: &sender) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe recvfrom(descriptor, &buffer, buffer.count, 0, address, &length)
        }
      }
      if count < 0 {
        if errno == EINTR || errno == ECONNREFUSED { continue }
        return
      }
      guard count <= Limits.beaconBytes else { continue }
      let host = unsafe withUnsafePointer(to: &sender) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe NumericAddress(address, count: length).address.host
        }
      }
      heard(Array(buffer.prefix(count)), host)
    }
    // Edge-triggered: what is left is looked for once everybody else had a turn.
    loop.submit { self.receive(descriptor) }
  }

  private static func numeric(_ host: String, _ port: UInt16) -> NumericAddress? {
    switch AddressResolver.lookUp(SocketAddress(host: host, port: port), flags: AI_NUMERICHOST) {
    case .success(let found): found.first
    case .failure: nil
    }
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
