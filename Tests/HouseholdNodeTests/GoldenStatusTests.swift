import Foundation
import Testing

/// The JSON of `status`, pinned: programs rely on every field of it.
///
/// `HOUSEHOLD_WRITE_GOLDEN=1` writes the files anew; the change is then to be looked at, and told in the changelog.
@Suite(.serialized, .ownThread) struct GoldenStatusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
  private static let isWriting = ProcessInfo.processInfo.environment["HOUSEHOLD_WRITE_GOLDEN"] == "1"

  @Test func `the reports of a household alone, of a pair in sync, and of one that is torn`() throws {
    let place = try Place()
    let ana = place.home("ana")
    try ana.json("init", "Our home", "--member", "ana", "--device", "ana-laptop")
    try compare(try ana.status().report, with: "alone-without-node")
    try ana.start()
    let ben = place.home("ben")
    try ben.join(try ana.invite("ben"))
    try ben.start(peers: [ana])
    try ana.put("note", "n1", "title=first")
    for home in [ana, ben] { try home.waitInSync() }
    try eventually("all is told") { try ana.peer("ben")["lastSync"] is String }
    try compare(try ana.status().report, with: "in-sync")

    try ben.stop()
    try ana.put("note", "n1", "title=ana's")
    try eventually("ana has sealed it") {
      let (code, report) = try ana.status()
      let unsealed = (report["changes"] as? [String: Any])?["unsealed"] as? Int
      return code == 1 && unsealed == 0 && report["reason"] as? String == "peerUnreachable"
    }
    try compare(try ana.status().report, with: "partner-away")
    try ben.put("note", "n1", "title=ben's")
    try ben.start(peers: [ana])
    try eventually("they disagree") { try ana.status().report["reason"] as? String == "conflicts" }
    try eventually("they are done") { (try ana.peer("ben")["hasOurs"] as? [String: Any])?["complete"] as? Bool == true }
    try compare(try ana.status().report, with: "conflict")

    try ana.stop()
    try FileManager.default.moveItem(
      atPath: ana.directory + "/replica.sqlite", toPath: ana.directory + "/away.sqlite")
    try compare(try ana.status().report, with: "replica-missing")
  }

  @Test func `every field of the reports is described in the documents`() throws {
    let documents = Self.folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let told = try String(contentsOf: documents.appending(path: "Docs/Operating.md"), encoding: .utf8)
    var fields: Set<String> = []
    for name in ["in-sync", "partner-away", "conflict"] {
      let golden = try JSONSerialization.jsonObject(with: try Data(contentsOf: file(name)))
      collect(golden, "", into: &fields)
    }

    #expect(fields.count > 60)
    for field in fields.sorted() where !told.contains("| `\(field)` |") {
      Issue.record("Docs/Operating.md does not describe `\(field)`")
    }
  }

  private func file(_ name: String) -> URL { Self.folder.appending(path: "status-\(name).json") }

  private func compare(_ report: [String: Any], with name: String) throws {
    let said = normal(report, at: "")
    let data = try JSONSerialization.data(withJSONObject: said, options: [.prettyPrinted, .sortedKeys])
    if Self.isWriting { return try (data + Data("\n".utf8)).write(to: file(name)) }
    let golden = try JSONSerialization.jsonObject(with: try Data(contentsOf: file(name)))
    if let difference = firstDifference(golden, try JSONSerialization.jsonObject(with: data), at: "") {
      Issue.record("status-\(name).json: \(difference)")
    }
  }

  /// What differs from run to run becomes a word for its kind; a field that is null stays null.
  private func normal(_ value: Any, at path: String) -> Any {
    let last = path.split(separator: ".").last.map(String.init) ?? ""
    switch value {
    case let object as [String: Any]:
      return Dictionary(uniqueKeysWithValues: object.map { ($0.key, normal($0.value, at: "\(path).\($0.key)")) })
    // How often which address was tried is a matter of the moment.
    case _ where ["lastTried", "error", "lastError"].contains(last): return "<text or null>"
    case let list as [Any]: return list.prefix(last == "addresses" ? 1 : .max).map { normal($0, at: path) }
    // Whether an edit came with the snapshot or after it is a matter of the moment, too.
    case is NSNumber
    where ["pid", "bytesSent", "bytesReceived", "changesSent", "changesReceived", "clockOffsetMs"].contains(last):
      return "<number>"
    case let text as String:
      if last == "words" { return "<words>" }
      if last == "version" { return "<version>" }
      return Self.patterns.reduce(text) { text, pattern in
        text.replacing(pattern.0, with: pattern.1)
      }
    default: return value
    }
  }

  private static var patterns: [(Regex<Substring>, String)] {
    [
      (/[0-9a-f]{64}/, "<id>"), (/\d{4}-\d\d-\d\dT[\d:.]+Z/, "<time>"), (/127\.0\.0\.1:\d+/, "<address>"),
      (/\/[^ ]*\/ana\//, "<directory>/"), (/\ \(last error: .*\)/, ""),
    ]
  }

  /// Where two documents differ first; nil if they are equal.
  private func firstDifference(_ a: Any, _ b: Any, at path: String) -> String? {
    if let a = a as? [String: Any], let b = b as? [String: Any] {
      for key in Set(a.keys).union(b.keys).sorted() {
        guard let left = a[key], let right = b[key] else { return "\(path).\(key) is on one side only" }
        if let found = firstDifference(left, right, at: "\(path).\(key)") { return found }
      }
      return nil
    }
    if let a = a as? [Any], let b = b as? [Any] {
      guard a.count == b.count else { return "\(path) has \(b.count) entries, not \(a.count): \(b)" }
      return zip(a, b).enumerated().compactMap { firstDifference($1.0, $1.1, at: "\(path)[\($0)]") }.first
    }
    return (a as? NSObject) == (b as? NSObject) ? nil : "\(path) is \(b), not \(a)"
  }

  /// The names of all fields, with `[]` for lists.
  private func collect(_ value: Any, _ path: String, into fields: inout Set<String>) {
    if let object = value as? [String: Any], path != "records.byType" {
      for (key, inner) in object { collect(inner, path.isEmpty ? key : "\(path).\(key)", into: &fields) }
    } else if let list = value as? [Any], list.first is [String: Any] {
      for inner in list { collect(inner, path + "[]", into: &fields) }
    } else {
      fields.insert(path)
    }
  }
}
