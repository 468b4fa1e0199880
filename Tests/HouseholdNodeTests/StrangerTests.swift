import Foundation
import HouseholdRecords
import HouseholdTransport
import HouseholdTrust
import Testing

/// Whoever is not of the household and knocks all the same.
@Suite(.serialized, .ownThread) struct StrangerTests {
  /// Talks plainly to the port, and reads until the node hangs up; nil if it does not within the time.
  private static func plain(_ bytes: [UInt8], to address: String, seconds: Int = 8) throws -> Double? {
    let begun = Date()
    let descriptor = try connected(to: address, seconds: seconds)
    defer { close(descriptor) }
    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 || count < 0 && errno != EAGAIN { return Date().timeIntervalSince(begun) }
      if count < 0 { return nil }
    }
  }

  static func connected(to address: String, seconds: Int) throws -> Int32 {
    let port = try SocketAddress(parsing: address).port
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = port.bigEndian
    target.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    return descriptor
  }

  /// What `openssl s_client` says, and how long it took until the node hung up.
  private func client(_ address: String, _ words: String...) throws -> (text: String, seconds: Double) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = ["s_client", "-connect", address, "-alpn", "household/1"] + words
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    let begun = Date()
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    withExtendedLifetime(input) {}
    return (String(decoding: text, as: UTF8.self), Date().timeIntervalSince(begun))
  }

  @Test func `plain text, TLS 1.2, no certificate and another household's are closed, and nothing is told`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    let other = place.home("other")
    try #require(try other.run("init", "--member", "eve", "--device", "d").code == 0)

    #expect(try #require(try Self.plain(Array("GET / HTTP/1.1\r\n\r\n".utf8), to: ana.address)) < 5.5)
    let old = try client(ana.address, "-tls1_2")
    #expect(old.text.contains("alert protocol version") && old.seconds < 5.5, "\(old.text)")
    let nobody = try client(ana.address)
    #expect(nobody.seconds < 5.5, "\(nobody.seconds) s")
    let share = other.directory + "/share"
    let stranger = try client(ana.address, "-cert", share + "/device.pem", "-key", share + "/device.key")
    #expect(stranger.seconds < 2, "\(stranger.seconds) s")
    for told in [nobody, stranger] { #expect(!told.text.contains("ana-laptop") && !told.text.contains("7411")) }

    try ana.put("note", "n1", "title=still here")
    try eventually("the household still syncs") { try ben.records("note")["n1"] != nil }
  }
}
