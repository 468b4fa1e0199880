import Glibc

/// One address of one network interface of this machine.
package struct InterfaceAddress: Hashable, Sendable {
  package var name: String
  package var index: UInt32
  /// In numbers; a link-local one of IPv6 without its zone.
  package var host: String
  package var isIPv6: Bool
  package var isLoopback: Bool
  /// Where IPv4 reaches all machines of the network.
  package var broadcast: String?

  package init(
    name: String, index: UInt32, host: String, isIPv6: Bool, isLoopback: Bool, broadcast: String? = nil
  ) {
    self.name = name
    self.index = index
    self.host = host
    self.isIPv6 = isIPv6
    self.isLoopback = isLoopback
    self.broadcast = broadcast
  }
}

/// The network interfaces of this machine that are up.
package enum NetworkInterfaces {
  package static func addresses() -> [InterfaceAddress] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&first) == 0 else { return [] }
    defer { unsafe freeifaddrs(first) }
    var found: [InterfaceAddress] = []
    var next = unsafe first
    while let entry = unsafe next {
      defer { unsafe next = entry.pointee.ifa_next }
      let flags = unsafe entry.pointee.ifa_flags
      guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_RUNNING) != 0,
        let address = unsafe entry.pointee.ifa_addr, let host = unsafe text(address)
      else { continue }
      let name = unsafe String(cString: entry.pointee.ifa_name)
      let isIPv6 = unsafe Int32(address.pointee.sa_family) == AF_INET6
      let index = unsafe if_nametoindex(name)
      var broadcast: String?
      if !isIPv6, flags & UInt32(IFF_BROADCAST) != 0, let target = unsafe entry.pointee.ifa_ifu.ifu_broadaddr {
        broadcast = unsafe text(target)
      }
      found.append(
        InterfaceAddress(
          name: name, index: index, host: String(host.prefix { $0 != "%" }), isIPv6: isIPv6,
          isLoopback: flags & UInt32(IFF_LOOPBACK) != 0, broadcast: broadcast))
    }
    return found
  }

  private static func text(_ address: UnsafeMutablePointer<sockaddr>) -> String? {
    let family = unsafe Int32(address.pointee.sa_family)
    guard family == AF_INET || family == AF_INET6 else { return nil }
    let length = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard
      unsafe getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
    else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
