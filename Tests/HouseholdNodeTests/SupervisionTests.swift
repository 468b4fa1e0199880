import Foundation
import HouseholdNode
import HouseholdTransport
import Testing

/// What a service manager is told of a node.
@Suite(.ownThread) struct SupervisionTests {
  @Test func `a node tells that it is ready, that it lives and that it stops`() throws {
    let place = try Place()
    let ear = try NotifySocket(place.path("notify"))
    let ana = try place.founder()
    try ana.stop()

    try ana.start(environment: ["NOTIFY_SOCKET": ear.path, "WATCHDOG_USEC": "200000"])

    let heard = try ear.hear { $0.contains("READY=1") && $0.contains("WATCHDOG=1") }
    #expect(heard.contains("STATUS=listening on \(ana.address), 0 devices connected"))
    #expect(!heard.contains("STOPPING=1"))
    #expect(try ana.stop() == 0)
    #expect(try ear.hear { $0.contains("STOPPING=1") }.contains("STOPPING=1"))
  }

  @Test func `a node that cannot listen yet is not ready, and says why`() throws {
    let place = try Place()
    let ear = try NotifySocket(place.path("notify"))
    let (ana, ben) = (try place.founder(), place.home("ben"))
    #expect(try ben.run("init", "--member", "ben").code == 0)

    // Its port is ana's, so it never prints where it listens.
    let process = try Program.start(
      ["node", "--data-dir", ben.directory, "--listen", ana.address, "--no-discovery"], folder: place.folder,
      name: "ben", environment: ["NOTIFY_SOCKET": ear.path])
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    let heard = try ear.hear { $0.contains { $0.hasPrefix("STATUS=The port") } }
    #expect(!heard.contains("READY=1"))
    try ana.stop()

    #expect(try ear.hear { $0.contains("READY=1") }.contains("READY=1"))
  }

  @Test func `nothing says that the node lives while the thread of the replica or of the links is stuck`() throws {
    let place = try Place()
    let ear = try NotifySocket(place.path("notify"))
    let supervisor = try #require(
      Supervisor(environment: ["NOTIFY_SOCKET": ear.path, "WATCHDOG_USEC": "40000"]))
    let (work, links) = (try EventLoop(), try EventLoop())
    let supervision = Supervision(supervisor, work: work, links: links)
    work.submit { supervision.begin() }
    try ear.hear { $0.contains("WATCHDOG=1") }

    for stuck in [work, links] {
      let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      stuck.submit {
        begun.signal()
        gate.wait()
      }
      begun.wait()
      // What was on its way comes; then several times the pause goes by in silence.
      while try ear.next(milliseconds: 15) != nil {}

      #expect(try ear.next(milliseconds: 200) == nil)

      gate.signal()
      try ear.hear { $0.contains("WATCHDOG=1") }
    }
    work.submit { supervision.stop() }
    work.stop()
    links.stop()
  }

  @Test func `only what was meant for this process counts`() {
    #expect(Supervisor(environment: [:]) == nil)
    #expect(Supervisor(environment: ["NOTIFY_SOCKET": "relative"]) == nil)
    #expect(Supervisor(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]) == nil)
    let ours = ["NOTIFY_SOCKET": "@household", "WATCHDOG_USEC": "5"]
    #expect(Supervisor(environment: ours)?.patienceMicroseconds == 5)
    #expect(Supervisor(environment: ours.merging(["WATCHDOG_PID": "1"]) { $1 })?.patienceMicroseconds == nil)
    #expect(Supervisor(environment: ours.merging(["WATCHDOG_USEC": "no"]) { $1 })?.patienceMicroseconds == nil)
  }
}

/// The socket of a service manager.
private final class NotifySocket {
  let path: String
  private let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
  }

  deinit { close(descriptor) }

  /// The lines of the next datagram, if one comes in time.
  func next(milliseconds: Int32) throws -> [String]? {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, milliseconds) > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    try #require(count > 0)
    return String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Listens until the lines so far are what is awaited; at most ten seconds.
  @discardableResult
  func hear(_ isEnough: ([String]) -> Bool) throws -> [String] {
    var lines: [String] = []
    let end = Date(timeIntervalSinceNow: 20)
    while !isEnough(lines) {
      try #require(Date() < end, "in vain; heard \(lines)")
      lines += try #require(try next(milliseconds: 10_000), "in vain; heard \(lines)")
    }
    return lines
  }
}
