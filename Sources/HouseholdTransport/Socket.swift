import Glibc

/// A call to the system about a socket that failed.
package struct SocketFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was tried, such as "connect".
  package let operation: String
  /// The system's error number.
  package let errno: Int32

  init(operation: String, errno number: Int32 = Glibc.errno) {
    self.operation = operation
    errno = number
  }

  /// One sentence.
  package var description: String { "Cannot \(operation): \(systemMessage(errno))." }
}

/// A numeric address that a socket can be bound or connected to.
struct NumericAddress: Hashable, Sendable, CustomStringConvertible {
  /// The bytes of a `sockaddr`.
  let bytes: [UInt8]
  let family: Int32

  init(_ address: UnsafePointer<sockaddr>, count: socklen_t) {
    bytes = unsafe Array(UnsafeRawBufferPointer(start: address, count: Int(count)))
    family = unsafe Int32(address.pointee.sa_family)
  }

  /// What stands in a call's `sockaddr` argument.
  func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe body(buffer.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
    }
  }

  /// `HOST:PORT`; an IPv4 address that came in on an IPv6 socket is shown as IPv4.
  var description: String { address.description }

  /// The host in numbers, and the port.
  var address: SocketAddress {
    var host = [CChar](repeating: 0, count: 128)
    var port = [CChar](repeating: 0, count: 16)
    let result = unsafe withSocketAddress { address, count in
      unsafe getnameinfo(
        address, count, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
    }
    guard result == 0 else { return SocketAddress(host: "unknown", port: 0) }
    var text = string(host)
    if text.hasPrefix("::ffff:"), text.contains(".") { text.removeFirst(7) }
    return SocketAddress(host: text, port: UInt16(string(port)) ?? 0)
  }

  private func string(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// One TCP socket that never blocks; whoever holds it must close it once.
struct Socket: Sendable {
  let descriptor: Int32

  /// What became of a read or a write.
  enum Transfer: Equatable {
    /// This many bytes moved.
    case bytes(Int)
    /// Nothing can move now.
    case blocked
    /// The peer will send no more.
    case ended
    case failed(Int32)
  }

  /// A new socket of the address's family.
  init(family: Int32) throws(SocketFault) {
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketFault(operation: "make a socket") }
  }

  /// A socket that `accept` gave.
  init(accepted descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    tune()
  }

  /// Sends small messages at once, and lets the system notice a peer that is gone for good.
  func tune() {
    set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    set(SOL_SOCKET, SO_KEEPALIVE, 1)
  }

  func set(_ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// The error that the system noted for the socket, 0 for none.
  var pendingError: Int32 {
    var value: Int32 = 0
    var count = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &count) == 0 ? value : errno
  }

  func read(into buffer: inout [UInt8]) -> Transfer {
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .ended }
      if errno == EAGAIN { return .blocked }
      if errno != EINTR { return .failed(errno) }
    }
  }

  /// Writes from this place of the bytes on; never raises SIGPIPE.
  func write(_ bytes: [UInt8], from start: Int) -> Transfer {
    while true {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe send(
          descriptor, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 { return .bytes(count) }
      if errno == EAGAIN { return .blocked }
      if errno != EINTR { return .failed(errno) }
    }
  }

  /// Tells the peer that nothing more will come.
  func shutDownWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  func close() { _ = Glibc.close(descriptor) }

  /// The address at this end or, for `getpeername`, at the other.
  func address(
    _ call: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) -> NumericAddress? {
    var storage = sockaddr_storage()
    var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe call(descriptor, address, &count) == 0 ? unsafe NumericAddress(address, count: count) : nil
      }
    }
  }
}

/// What the system says about an error number.
func systemMessage(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
