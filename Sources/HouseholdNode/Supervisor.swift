internal import Glibc

/// The service manager that started this process, if one did: it wants to be told how the node is.
///
/// The protocol is that of sd_notify: lines `NAME=VALUE` in one datagram to the socket that `$NOTIFY_SOCKET` names.
/// Nothing is ever waited for, and what cannot be told is not: the node runs all the same.
package struct Supervisor: Sendable {
  /// The socket's address: a path, or a name without a file, which begins with a NUL.
  private let name: [UInt8]
  /// After how long a silence it takes the node for stuck, in microseconds; nil if it does not watch.
  package let patienceMicroseconds: Int64?

  /// What the environment says; nil if nobody wants to be told.
  package init?(environment: [String: String]) {
    guard let socket = environment["NOTIFY_SOCKET"], let first = socket.utf8.first else { return nil }
    let text = Array(socket.utf8)
    switch first {
    case UInt8(ascii: "/"): name = text
    case UInt8(ascii: "@"): name = [0] + text.dropFirst()
    default: return nil
    }
    guard name.count > 1, name.count < Self.nameBytes else { return nil }
    // The watch may be meant for another process that handed its environment down.
    let isForUs = environment["WATCHDOG_PID"].map { Int32($0) == getpid() } ?? true
    let patience = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
    patienceMicroseconds = isForUs && patience > 0 ? patience : nil
  }

  /// The room for a name in an address.
  private static var nameBytes: Int { MemoryLayout.size(ofValue: sockaddr_un().sun_path) }

  /// Tells these facts; false if nobody took them.
  @discardableResult
  func tell(_ facts: [(name: String, value: String)]) -> Bool {
    let text = facts.map { "\($0.name)=\(Self.line($0.value))" }.joined(separator: "\n")
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count)
    let bytes = Array(text.utf8)
    let sent = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
      }
    }
    return sent == bytes.count
  }

  /// A value as it stands in a line of its own.
  private static func line(_ text: String) -> String {
    String(decoding: text.utf8.prefix(500).map { $0 < UInt8(ascii: " ") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
  }
}
