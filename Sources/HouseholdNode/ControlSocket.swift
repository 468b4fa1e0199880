internal import FoundationEssentials
internal import Glibc
internal import HouseholdTransport

/// A unix socket address inside a directory: by way of `/proc/self/fd`, as a whole path may be too long for it.
enum UnixSocket {
  /// Calls `body` with the address of `name` in `folder`.
  static func withAddress<Result>(
    folder: String, name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) throws -> Result {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw NodeError(.dataDirectory, "\(folder) cannot be opened.", remedy: "Check its permissions.")
    }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array("/proc/self/fd/\(descriptor)/\(name)".utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
      precondition(path.count < place.count, "the path is short whatever the folder is")
      unsafe place.copyBytes(from: path)
    }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// Answers commands on this machine: `node.sock` in the data directory, for its owner only (0600).
///
/// On the replica's thread, so an answer is true of one moment.
final class ControlSocket: @unchecked Sendable {
  private let loop: EventLoop
  private let directory: DataDirectory
  private var descriptor: Int32 = -1
  /// The socket's file, to notice that it is gone.
  private var inode: ino_t = 0
  /// How many looks in a row it was gone.
  private var misses = 0
  private let answer: (ControlRequest) -> ControlResponse
  private var connections: [Int32: [UInt8]] = [:]
  private var isStopped = false

  /// The largest request and the most commands at one time: what they need, and little to attack.
  private static let requestBytes = 1 << 20
  private static let connectionLimit = 64

  /// Listens from now on; on the loop only.
  init(
    _ directory: DataDirectory, loop: EventLoop, answer: @escaping (ControlRequest) -> ControlResponse
  ) throws {
    self.loop = loop
    self.directory = directory
    self.answer = answer
    try makeSocket()
  }

  private func makeSocket() throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // A socket that an earlier node left when it was killed; the directory's lock says that none runs.
    unsafe unlink(directory.controlSocket)
    let mask = umask(0o177)
    let bound = try unsafe UnixSocket.withAddress(folder: directory.path, name: "node.sock") { [descriptor] in
      unsafe bind(descriptor, $0, $1)
    }
    umask(mask)
    guard descriptor >= 0, bound == 0, listen(descriptor, 16) == 0 else {
      let number = errno
      close(descriptor)
      descriptor = -1
      throw NodeError(
        .dataDirectory, "The control socket \(directory.controlSocket) cannot be made (errno \(number)).",
        remedy: "Put the data directory on a file system that has sockets.")
    }
    inode = present ?? 0
    try loop.watchReading(descriptor) { [weak self] in self?.accept() }
  }

  /// The file at the socket's place.
  private var present: ino_t? {
    var facts = stat()
    return unsafe lstat(directory.controlSocket, &facts) == 0 ? facts.st_ino : nil
  }

  /// Makes the socket anew once somebody has removed it; called about once a second, on the loop only.
  ///
  /// Not at the first look: whoever removes the whole directory would not get it empty.
  func look() throws {
    guard !isStopped, present != inode else {
      misses = 0
      return
    }
    misses += 1
    guard misses > 1 else { return }
    misses = 0
    if descriptor >= 0 {
      loop.unwatchReading(descriptor)
      close(descriptor)
    }
    try makeSocket()
  }

  private func accept() {
    while true {
      let connection = Glibc.accept(descriptor, nil, nil)
      guard connection >= 0 else { return }
      // Not inherited by a child, and never waited for.
      guard fcntl(connection, F_SETFD, FD_CLOEXEC) == 0, fcntl(connection, F_SETFL, O_NONBLOCK) == 0 else {
        close(connection)
        continue
      }
      guard connections.count < Self.connectionLimit else {
        close(connection)
        continue
      }
      connections[connection] = []
      do {
        try loop.watchReading(connection) { [weak self] in self?.read(connection) }
      } catch {
        connections[connection] = nil
        close(connection)
      }
    }
  }

  private func read(_ connection: Int32) {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while connections[connection] != nil {
      let count = unsafe Glibc.read(connection, &buffer, buffer.count)
      if count > 0 {
        connections[connection]?.append(contentsOf: buffer.prefix(count))
        take(connection)
      } else if count == 0 || errno != EAGAIN && errno != EINTR {
        return drop(connection)
      } else if errno == EAGAIN {
        return
      }
    }
  }

  /// Answers every whole request that has come.
  private func take(_ connection: Int32) {
    while let bytes = connections[connection], bytes.count >= 4 {
      let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard length <= Self.requestBytes else { return drop(connection) }
      guard bytes.count >= 4 + length else { return }
      connections[connection] = Array(bytes.dropFirst(4 + length))
      let response: ControlResponse
      do {
        response = answer(try JSONDecoder().decode(ControlRequest.self, from: Data(bytes[4..<4 + length])))
      } catch {
        response = .failed(
          code: "badRequest", message: "The node does not know this request.",
          remedy: "Use the same version of household for node and command.")
      }
      guard send(response, on: connection) else { return drop(connection) }
    }
  }

  /// Sends an answer; false if the command does not take it at once, as it then is gone or stuck.
  private func send(_ response: ControlResponse, on connection: Int32) -> Bool {
    let body: Data
    do {
      body = try JSONEncoder().encode(response)
    } catch {
      return false
    }
    let length = UInt32(body.count)
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) } + body
    var sent = 0
    var patience = 200
    while sent < bytes.count {
      let rest = Array(bytes[sent...])
      let count = unsafe Glibc.send(connection, rest, rest.count, Int32(MSG_NOSIGNAL))
      if count > 0 {
        sent += count
      } else {
        guard errno == EAGAIN || errno == EINTR, patience > 0 else { return false }
        patience -= 1
        usleep(1000)
      }
    }
    return true
  }

  private func drop(_ connection: Int32) {
    guard connections.removeValue(forKey: connection) != nil else { return }
    loop.unwatchReading(connection)
    close(connection)
  }

  /// Takes the socket away; on the loop only.
  func stop() {
    guard !isStopped else { return }
    isStopped = true
    for connection in connections.keys.sorted() { drop(connection) }
    guard descriptor >= 0 else { return }
    loop.unwatchReading(descriptor)
    close(descriptor)
    // Somebody else's, if the directory was moved away and another node is at its place.
    if present == inode { unsafe unlink(directory.controlSocket) }
  }
}
