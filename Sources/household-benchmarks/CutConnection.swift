import HouseholdNode

/// Two nodes that run lose their connection and find each other again: nothing changed, or a thousand edits wait.
///
/// The nodes know each other by the address of a relay only, where the connection is cut and where the time begins: with
/// the connection that the partner's node makes. It ends with the last byte that is said, or when the partner's file shows
/// the last edit. The relay itself adds two hand-overs to each way.
final class CutConnection {
  private let ana: Device
  private let partner: Device
  private let relay: Relay
  private let rows: [TransactionData.Row]

  /// How long nobody has said anything when all is said, in milliseconds.
  private static let quiet = 60

  init(_ stage: Stage) throws {
    relay = try Relay()
    ana = try stage.newHousehold()
    let file = try ana.file()
    try file.insert(stage.rows)
    try ana.startNode()
    try Patience.wait(for: "Ana's node to seal", microseconds: 20_000) {
      try file.run("SELECT 1 FROM sync_outbox LIMIT 1") == nil
    }
    partner = try stage.newGuest(of: ana)
    // On another port, so that the partner knows the way through the relay only; and nobody answers at the partner's.
    ana.stopNode()
    try ana.startNode(advertise: relay.address)
    guard let port = ana.address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw BenchmarkError(description: "\(ana.address) has no port")
    }
    relay.target = port
    try partner.startNode(peerAddress: relay.address, advertise: "127.0.0.1:9")
    try stage.settle(partner, with: ana)
    rows = Array(stage.rows.prefix(Reconnection.edits))
  }

  /// Stops both nodes.
  func stop() {
    partner.stopNode()
    ana.stopNode()
  }

  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let connection = try CutConnection(stage)
    defer { connection.stop() }
    var nothing: [(milliseconds: Double, bytes: Double)] = []
    var edits: [Double] = []
    for _ in 0..<stage.options.rounds {
      nothing.append(try connection.nothing())
      edits.append(try connection.edited())
    }
    return [
      BenchmarkRow("cut connection, nothing changed", unit: "ms", nothing.map(\.milliseconds)),
      BenchmarkRow("cut connection, nothing changed, on the wire", unit: "bytes", nothing.map(\.bytes)),
      BenchmarkRow("cut connection, \(connection.rows.count) edits of one field", unit: "ms", edits),
    ]
  }

  /// One contact without news, from the connection to the last byte.
  func nothing() throws -> (milliseconds: Double, bytes: Double) {
    relay.cut()
    var found: (milliseconds: Double, bytes: Double)?
    try Patience.wait(for: "the nodes to have said everything", microseconds: 5000) {
      found = relay.conversation(quietMilliseconds: Self.quiet)
      return found != nil
    }
    return found ?? (0, 0)
  }

  /// One contact with a thousand edits, from the connection until the partner's file shows the last.
  func edited() throws -> Double {
    let (file, other) = (try ana.file(), try partner.file())
    let mark = "\(UInt32.random(in: 0...UInt32.max))"
    let commits = try CommitWait(partner.directory.replica)
    relay.cut()
    try file.transaction { for row in rows { try file.setPayee("\(row.payee) \(mark)", of: row.id) } }
    try Patience.wait(for: "Ana's node to seal", microseconds: 2000) {
      try file.run("SELECT 1 FROM sync_outbox LIMIT 1") == nil
    }
    guard relay.accepted == nil, let last = rows.last else {
      throw BenchmarkError(description: "the nodes were connected again before everything was sealed")
    }
    try commits.wait(for: "the partner to have the edits") {
      try other.payee(of: last.id) == .text("\(last.payee) \(mark)")
    }
    let end = ContinuousClock.now
    guard let begin = relay.accepted else { throw BenchmarkError(description: "the edits came another way") }
    try nothingMore()
    return Stopwatch.milliseconds(end - begin)
  }

  private func nothingMore() throws {
    try Patience.wait(for: "the nodes to have said everything", microseconds: 5000) {
      relay.conversation(quietMilliseconds: Self.quiet) != nil
    }
  }
}
