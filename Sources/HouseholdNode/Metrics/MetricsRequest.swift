/// What somebody asks the metrics port for: one short request of HTTP/1, of which only `GET /metrics` is answered.
package enum MetricsRequest: Hashable, Sendable {
  /// More is to come.
  case incomplete
  /// The figures are wanted.
  case figures
  /// Refused, with a status and a sentence.
  case refused(Int, String)

  /// The longest request that is read.
  static let limitBytes = 8 << 10

  /// What the bytes so far ask for.
  package init(_ bytes: [UInt8]) {
    guard let head = Self.head(of: bytes) else {
      self = bytes.count < Self.limitBytes ? .incomplete : .refused(431, "The request is too long.")
      return
    }
    let lines = head.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
      self = .refused(400, "This is no request of HTTP/1.")
      return
    }
    let hosts = lines.dropFirst().filter { $0.lowercased().hasPrefix("host:") }
    // A page of the web could have its own name lead here; it is not told anything.
    if !hosts.allSatisfy(Self.isOurs) {
      self = .refused(403, "Only this machine may ask, by a loopback address.")
    } else if words[0] != "GET" {
      self = .refused(405, "Only GET is answered.")
    } else if words[1] != "/metrics" {
      self = .refused(404, "Only /metrics is here.")
    } else {
      self = .figures
    }
  }

  /// The lines up to the empty one; nil if that has not come.
  private static func head(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
    var start = 0
    for (index, byte) in bytes.prefix(limitBytes).enumerated() where byte == UInt8(ascii: "\n") {
      let line = bytes[start..<index]
      if start > 0, line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) { return bytes[..<(start - 1)] }
      start = index + 1
    }
    return nil
  }

  private static func isOurs(_ line: String) -> Bool {
    var host = line.dropFirst("host:".count)[...]
    while host.first == " " || host.first == "\t" { host.removeFirst() }
    while host.last == " " || host.last == "\t" { host.removeLast() }
    if host.hasPrefix("[::1]") { return true }
    let name = host.prefix { $0 != ":" }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return name == "localhost" || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
