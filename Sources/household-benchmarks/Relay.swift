import Foundation
import Glibc
import Synchronization

/// A place between two nodes where their connection can be cut, and where it shows when it begins and what goes over it.
///
/// It hands bytes on in a thread of its own, for one connection at a time. Unchecked: what changes is behind a mutex, and
/// the sockets of the connection are used in that thread only, but for being shut down.
final class Relay: @unchecked Sendable {
  /// What is known of the connection that is there, or was last.
  private struct Connection {
    var accepted: ContinuousClock.Instant?
    var lastBytes: ContinuousClock.Instant?
    var byteCount = 0
    var target: UInt16 = 0
    var near: Int32 = -1
    var far: Int32 = -1
  }

  private let listener: Int32
  private let state = Mutex(Connection())
  /// Where nodes dial it.
  let address: String

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var place = Self.loopback(port: 0)
    guard listener >= 0, unsafe Self.call(bind, listener, &place) == 0, listen(listener, 4) == 0 else {
      throw BenchmarkError(description: "no port can be listened on")
    }
    var count = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = unsafe withUnsafeMutablePointer(to: &place) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(listener, $0, &count) }
    }
    address = "127.0.0.1:\(UInt16(bigEndian: place.sin_port))"
    let thread = Thread { [self] in run() }
    thread.name = "relay"
    thread.start()
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = port.bigEndian
    place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return place
  }

  private static func call(
    _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32, _ place: inout sockaddr_in
  ) -> Int32 {
    unsafe withUnsafePointer(to: &place) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// The port on this machine that it connects to; nobody gets through before it is set.
  var target: UInt16 {
    get { state.withLock { $0.target } }
    set { state.withLock { $0.target = newValue } }
  }

  /// Cuts the connection that is there and forgets it.
  func cut() {
    state.withLock { state in
      for descriptor in [state.near, state.far] where descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
      state.accepted = nil
      state.lastBytes = nil
      state.byteCount = 0
    }
  }

  /// When the connection was made that is there.
  var accepted: ContinuousClock.Instant? { state.withLock { $0.accepted } }

  /// How long it took from the connection's beginning to the last byte, in milliseconds, and how many bytes went; nil as
  /// long as something was said within the last moments.
  func conversation(quietMilliseconds: Int) -> (milliseconds: Double, bytes: Double)? {
    state.withLock { state in
      guard let accepted = state.accepted, let last = state.lastBytes,
        ContinuousClock.now - last > .milliseconds(quietMilliseconds)
      else { return nil }
      return (Stopwatch.milliseconds(last - accepted), Double(state.byteCount))
    }
  }

  private func run() {
    while true {
      let near = accept(listener, nil, nil)
      guard near >= 0 else { return }
      let now = ContinuousClock.now
      let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var place = Self.loopback(port: target)
      if unsafe Self.call(connect, far, &place) == 0 {
        for descriptor in [near, far] {
          var one: Int32 = 1
          unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        }
        state.withLock { $0 = Connection(accepted: now, target: $0.target, near: near, far: far) }
        handOn(near, far)
      }
      state.withLock { ($0.near, $0.far) = (-1, -1) }
      close(near)
      close(far)
    }
  }

  /// Hands bytes on in both directions until one end has no more.
  private func handOn(_ near: Int32, _ far: Int32) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      var waits = [
        pollfd(fd: near, events: Int16(POLLIN), revents: 0), pollfd(fd: far, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&waits, 2, -1) > 0 else { continue }
      for (wait, other) in zip(waits, [far, near]) where wait.revents != 0 {
        let count = unsafe recv(wait.fd, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        var sent = 0
        while sent < count {
          let part = unsafe buffer.withUnsafeBytes {
            unsafe send(other, $0.baseAddress.map { unsafe $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
          }
          guard part > 0 else { return }
          sent += part
        }
        state.withLock { state in
          state.lastBytes = ContinuousClock.now
          state.byteCount += count
        }
      }
    }
  }
}
