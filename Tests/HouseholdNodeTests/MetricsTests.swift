import Foundation
import HouseholdNode
import Testing

/// Figures for Prometheus.
@Suite(.ownThread) struct MetricsTests {
  /// What comes back for these bytes, until the other end closes.
  private func ask(_ text: String, port: UInt16) throws -> String {
    let descriptor = try connect(port)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
      let count = send(descriptor, Array(bytes[sent...]), bytes.count - sent, Int32(MSG_NOSIGNAL))
      if count <= 0 { break }
      sent += count
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
      answer += buffer.prefix(count)
    }
  }

  private func connect(_ port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0)
    return descriptor
  }

  /// The port that a node logged.
  private func port(of home: Home) throws -> UInt16 {
    var found: UInt16?
    try eventually("\(home.name) serves figures") {
      found = try home.log().split(separator: "at=http://127.0.0.1:").last.flatMap { UInt16($0.prefix { $0 != "/" }) }
      return found != nil
    }
    return try #require(found)
  }

  private static let question = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9\r\nAccept: */*\r\n\r\n"

  @Test func `the figures are those of status, and name no record`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.put("note", "n1", "title=Secret title", "text=")
    try ana.waitInSync()
    try ana.stop()
    try ana.start(peers: [ben], words: ["--metrics", "127.0.0.1:0"])
    try ana.waitInSync()

    let answer = try ask(Self.question, port: try port(of: ana))

    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"))
    let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
    let page = String(parts[1])
    #expect(answer.contains("Content-Length: \(page.utf8.count)\r\n"))
    let sample = try Regex(#"[a-z_]+(\{([a-z]+="[^"]*",?)+\})? -?[0-9.e+]+"#)
    for line in page.split(separator: "\n") where !line.hasPrefix("#") {
      #expect(try sample.wholeMatch(in: line) != nil, "\(line)")
    }
    for line in [
      "household_verdict 0", "household_verdict_info{verdict=\"inSync\",reason=\"ok\"} 1", "household_peers 1",
      "household_peers_connected 1", "household_records{type=\"note\"} 1", "household_conflicts 0",
      "household_changes_unsealed 0",
    ] { #expect(page.contains("\n\(line)\n"), "\(line) is not in \(page)") }
    let id = try #require(try ana.peer("ben")["deviceID"] as? String).prefix(8)
    #expect(
      page.contains("household_peer_connected{member=\"ben\",device=\"ben-laptop\",id=\"\(id)\"} 1\n"), "\(page)")
    #expect(page.contains("household_peer_missing_there{") && page.contains("household_wal_bytes "))
    #expect(!page.contains("Secret") && !page.contains("n1"))
  }

  @Test func `nothing else is answered, and a slow asker holds nobody up`() throws {
    let place = try Place()
    let ana = try place.founder()
    try ana.stop()
    try ana.start(words: ["--metrics", "127.0.0.1:0"])
    let port = try port(of: ana)
    let slow = try connect(port)
    defer { close(slow) }

    for (request, status) in [
      ("POST /metrics HTTP/1.1\r\n\r\n", "405"), ("GET / HTTP/1.1\r\n\r\n", "404"), ("hello\r\n\r\n", "400"),
      ("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
      ("GET /" + String(repeating: "x", count: 9000), "431"), (Self.question, "200"),
    ] {
      let answer = try ask(request, port: port)
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request.prefix(40)): \(answer.prefix(40))")
    }
    // A port that is taken is no reason not to sync.
    let ben = place.home("ben")
    #expect(try ben.run("init", "--member", "ben").code == 0)
    try ben.start(words: ["--metrics", "127.0.0.1:\(port)"])
    // It is tried after the node has said where it listens.
    try eventually("it is told") { try ben.log().contains("the port for figures is taken") }
    #expect(try ana.stop() == 0)
  }

  @Test(arguments: ["0.0.0.0:9100", "[::]:9100", "192.168.1.2:9100", "example.org:80", "127.0.0.1.example.org:80"])
  func `figures are for this machine only`(address: String) throws {
    let place = try Place()
    let home = place.home("ana")

    let answer = try home.run("node", "--metrics", address)

    #expect(answer.code == 64)
    #expect(answer.errors.contains("can be reached by other machines"), "\(answer.errors)")
  }

  @Test func `a request is read whatever its pieces are`() {
    let bytes = Array(Self.question.utf8)

    for end in bytes.indices { #expect(MetricsRequest(Array(bytes[..<end])) == .incomplete) }
    #expect(MetricsRequest(bytes) == .figures)
    #expect(MetricsRequest(Array("GET /metrics HTTP/1.0\n\n".utf8)) == .figures)
    #expect(MetricsRequest(Array("GET /metrics HTTP/1.1\r\nHost: [::1]:9\r\n\r\n".utf8)) == .figures)
    #expect(MetricsRequest(Array("GET /metrics HTTP/1.1\r\nhost:localhost\r\n\r\n".utf8)) == .figures)
    for host in ["127.0.0.1.evil.org", "127.evil", "evil:127.0.0.1", ""] {
      let request = MetricsRequest(Array("GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8))
      #expect(request == .refused(403, "Only this machine may ask, by a loopback address."), "\(host)")
    }
  }
}
