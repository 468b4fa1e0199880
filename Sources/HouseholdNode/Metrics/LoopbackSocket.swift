internal import Glibc
internal import HouseholdTransport

/// A listening socket that only this machine reaches.
enum LoopbackSocket {
  /// Listens at a loopback address; nil if another program does.
  ///
  /// - Returns: the descriptor and the address, with the port that the system chose if 0 was asked for.
  static func listening(at wanted: SocketAddress) throws -> (descriptor: Int32, address: SocketAddress)? {
    var v4 = sockaddr_in()
    var v6 = sockaddr_in6()
    let host = wanted.host == "localhost" ? "127.0.0.1" : wanted.host
    let isV6 = unsafe inet_pton(AF_INET6, host, &v6.sin6_addr) == 1
    let isLoopback =
      isV6
      ? unsafe withUnsafeBytes(of: v6.sin6_addr) { unsafe $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
      : unsafe inet_pton(AF_INET, host, &v4.sin_addr) == 1 && UInt32(bigEndian: v4.sin_addr.s_addr) >> 24 == 127
    guard isLoopback else {
      throw NodeError(
        .badArgument, "The figures would be reached by other machines at \(wanted).",
        remedy: "Name an address of this machine alone: 127.0.0.1:PORT or [::1]:PORT.")
    }
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_port = wanted.port.bigEndian
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_port = wanted.port.bigEndian
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(isV6 ? AF_INET6 : AF_INET, kind, 0)
    var yes: Int32 = 1
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let isBound = isV6 ? bound(descriptor, &v6) : bound(descriptor, &v4)
    guard descriptor >= 0, isBound, listen(descriptor, 8) == 0 else {
      let number = errno
      if descriptor >= 0 { close(descriptor) }
      if number == EADDRINUSE { return nil }
      let said = unsafe String(cString: strerror(number))
      throw NodeError(
        .network, "The figures cannot be served at \(wanted): \(said).", remedy: "Choose another with --metrics.")
    }
    let port = isV6 ? name(descriptor, &v6).sin6_port : name(descriptor, &v4).sin_port
    return (descriptor, SocketAddress(host: host, port: UInt16(bigEndian: port)))
  }

  private static func bound<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
    unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
      }
    }
  }

  /// The address that the system gave it; the given one where it does not say.
  private static func name<Address>(_ descriptor: Int32, _ address: inout Address) -> Address {
    var length = socklen_t(MemoryLayout<Address>.size)
    unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = unsafe getsockname(descriptor, $0, &length)
      }
    }
    return address
  }
}
