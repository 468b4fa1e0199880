internal import FoundationEssentials
internal import Glibc
internal import HouseholdReplica

/// Asks the node that runs on a data directory.
package struct ControlClient {
  private let descriptor: Int32

  /// How long an answer may take, in seconds.
  private static let patienceSeconds = 10

  /// Connects; nil if no node runs.
  package static func connect(_ directory: DataDirectory) throws -> ControlClient? {
    guard DataDirectory.exists(directory.controlSocket) else { return nil }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var patience = timeval(tv_sec: patienceSeconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      unsafe setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    let result = try unsafe UnixSocket.withAddress(folder: directory.path, name: "node.sock") {
      unsafe Glibc.connect(descriptor, $0, $1)
    }
    guard result == 0 else {
      // A node that takes no more connections is there, and stuck.
      let isStuck = errno == EAGAIN
      close(descriptor)
      if isStuck { throw silence }
      return nil
    }
    return ControlClient(descriptor: descriptor)
  }

  /// Connects, or throws that the node is needed.
  package static func require(_ directory: DataDirectory) throws -> ControlClient {
    guard let client = try connect(directory) else {
      if directory.hasHousehold {
        try NodeError.guarding { try SharingMode.requireOn(Replica.isOff(path: directory.replica)) }
      }
      throw NodeError(
        .nodeNotRunning, "No node runs on \(directory.path).", remedy: "Start it in another terminal: household node")
    }
    return client
  }

  /// Closes the connection.
  package func hangUp() { close(descriptor) }

  /// Asks and waits for the answer; a refusal is thrown.
  package func ask(_ request: ControlRequest) throws -> ControlResponse {
    let body = try JSONEncoder().encode(request)
    let length = UInt32(body.count)
    try send((0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) } + body)
    let count = try receive(4).reduce(0) { $0 << 8 | Int($1) }
    let response = try JSONDecoder().decode(ControlResponse.self, from: Data(try receive(count)))
    if case .failed(let code, let message, let remedy) = response {
      throw NodeError(NodeError.Code(rawValue: code) ?? .store, message, remedy: remedy)
    }
    return response
  }

  private func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let rest = Array(bytes[sent...])
      let count = unsafe Glibc.send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
      guard count > 0 else { throw Self.silence }
      sent += count
    }
  }

  private func receive(_ count: Int) throws -> [UInt8] {
    guard count <= 64 << 20 else { throw Self.silence }
    var bytes = [UInt8](repeating: 0, count: count)
    var got = 0
    while got < count {
      let part = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress! + got, count - got) }
      guard part > 0 else { throw Self.silence }
      got += part
    }
    return bytes
  }

  private static var silence: NodeError {
    NodeError(
      .nodeNotRunning, "The node does not answer.", remedy: "Look at its log; stop it and start it again.")
  }
}
