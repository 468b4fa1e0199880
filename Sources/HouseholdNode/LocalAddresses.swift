internal import Glibc
internal import HouseholdTransport

/// The addresses under which other machines may reach a listener here.
enum LocalAddresses {
  /// The listener's own address, or for one that listens everywhere those of all interfaces.
  static func reachable(_ listening: SocketAddress) -> [SocketAddress] {
    guard listening.host == "::" || listening.host == "0.0.0.0" else { return [listening] }
    return interfaces(withIPv6: listening.host == "::").map { SocketAddress(host: $0, port: listening.port) }
  }

  private static func interfaces(withIPv6: Bool) -> [String] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&first) == 0 else { return [] }
    defer { unsafe freeifaddrs(first) }
    var hosts: [String] = []
    var next = unsafe first
    while let entry = unsafe next {
      defer { unsafe next = entry.pointee.ifa_next }
      let flags = unsafe entry.pointee.ifa_flags
      guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0,
        let address = unsafe entry.pointee.ifa_addr
      else { continue }
      let family = unsafe Int32(address.pointee.sa_family)
      guard family == AF_INET || family == AF_INET6 && withIPv6 else { continue }
      let length = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      guard
        unsafe getnameinfo(
          address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
      else { continue }
      let host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // A link-local address means nothing on another machine without its own interface's name.
      if !host.contains("%") { hosts.append(host) }
    }
    return hosts
  }
}
