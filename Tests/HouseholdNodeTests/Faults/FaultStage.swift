import Foundation
import Testing

/// A running pair on which faults happen, one after the other.
final class FaultStage {
  let place: Place
  let ana: Home
  let ben: Home
  /// A third member where a row needs one that is lost afterwards.
  var kim: Home?
  /// A file system of its own for ben's directory; nil where mounting is not allowed.
  let disk: SmallDisk?
  /// A network between the two; nil where they share this machine's.
  let network: TestNetwork?
  private var edits = 0

  /// How long status may take to say what is wrong, in seconds.
  private static let patience = 15.0

  /// - Parameters:
  ///   - clocks: whether the devices have clocks that can be set.
  ///   - network: the network of two hosts on which they are; nil for this machine's own.
  init(clocks: Bool = false, network: TestNetwork? = nil) throws {
    self.network = network
    place = try Place()
    disk = try SmallDisk.mount(at: place.path("disk"), mebibytes: 24)
    ana = place.home("ana")
    ben = place.home(disk == nil ? "ben" : "disk/ben")
    if clocks {
      for home in [ana, ben] {
        let launcher = try SettableClock.launcher(in: place, for: home)
        home.launcher = launcher
        home.commandLauncher = launcher
      }
    }
    if let network {
      for (index, home) in [ana, ben].enumerated() {
        home.launcher = network.launcher(index + 1)
        home.commandLauncher = home.launcher
      }
    }
    let made = try ana.run("init", "Our home", "--member", "ana", "--device", "ana-laptop")
    try #require(made.code == 0, "\(made.errors)")
    try ana.start(listen: network == nil ? "127.0.0.1:0" : "10.77.0.1:7411")
    try ben.joinAs("ben-laptop", try ana.invite("ben"))
    try ben.start(peers: [ana], listen: network == nil ? "127.0.0.1:0" : "10.77.0.2:7411")
  }

  deinit {
    for home in [ana, ben, kim].compactMap(\.self) { home.kill() }
    disk?.unmount()
  }

  /// A third member's device, whose node runs.
  func addKim() throws -> Home {
    let home = place.home("kim-\(edits)")
    try home.joinAs("kim-laptop", try ana.invite("kim"))
    try home.start(peers: [ana])
    kim = home
    try home.waitInSync()
    return home
  }

  /// Kim's node is gone, and nobody waits for it.
  func loseKim() throws {
    guard let home = kim else { return }
    home.kill()
    if try ana.run("members").output.contains("kim") { try ana.json("remove", "kim", "--yes") }
    kim = nil
  }

  /// Lets what cannot be undone happen, and watches what status says until it does.
  func playToTheEnd(_ fault: Fault) throws {
    try waitUntilWell("before \(fault.name)")
    let end = try fault.happen(self)
    try watch(fault, edit: nil)
    try end()
  }

  /// Lets it happen, watches what status says until it is over, and waits until all is well again.
  func play(_ fault: Fault) throws {
    try waitUntilWell("before \(fault.name)")
    let end = try fault.happen(self)
    do {
      let edit = try writeEdit(fault)
      try watch(fault, edit: edit)
      try end()
    } catch {
      // The next row finds the stage as it should be.
      try end()
      throw error
    }
    try waitUntilWell("after \(fault.name)")
    guard fault.edit != .none else { return }
    try #require(try ben.records("note")["edit-\(edits)"] != nil, "\(fault.name): the edit has not come")
  }

  private func waitUntilWell(_ when: String) throws {
    for home in [ana, ben] {
      var last: [String: Any] = [:]
      do {
        try eventually("\(home.name) is in sync \(when)") {
          let (code, report) = try home.status()
          last = report
          return code == 0
        }
      } catch {
        print("\(when): \(last["findings"] ?? last)\n\(try home.log().suffix(1500))")
        throw error
      }
    }
  }

  private func writeEdit(_ fault: Fault) throws -> String? {
    edits += 1
    guard fault.edit != .none else { return nil }
    let id = "edit-\(edits)"
    try ana.put("note", id, "title=\(fault.name)")
    return id
  }

  /// Asks until status says what it should, and a little longer; none of the answers may say what is not true.
  private func watch(_ fault: Fault, edit: String?) throws {
    let home = fault.told == "ana" ? ana : fault.told == "ben" ? ben : try #require(kim)
    let begun = Date()
    var saidAt: Date?
    var answers: [String] = []
    while saidAt.map({ Date().timeIntervalSince($0) < 0.7 }) ?? true {
      if fault.edit == .held, fault.told != "ana" {
        #expect(try ana.status().code != 0, "\(fault.name): ana says inSync while ben lacks an edit")
      }
      let said = try Judgement(home)
      answers.append("\(said.verdict) \(said.reason): \(said.remedy)")
      if said.isLike(fault) {
        saidAt = saidAt ?? Date()
      } else if saidAt != nil || fault.edit == .held && fault.told == "ana" {
        #expect(said.verdict != "inSync", "\(fault.name): \(fault.told) says inSync meanwhile")
      }
      guard saidAt != nil || Date().timeIntervalSince(begun) < Self.patience else {
        Issue.record("\(fault.name): \(fault.told) never says it: \(Set(answers).sorted()); last: \(said.text)")
        return
      }
      usleep(100_000)
    }
    guard let edit, fault.edit == .arrives else { return }
    try eventually("\(fault.name): the edit arrives") { try ben.records("note")[edit] != nil }
  }
}

/// What one call of status said.
struct Judgement {
  var verdict: String
  var reason: String
  var remedy: String
  var text: String

  init(_ home: Home) throws {
    let answer = try home.run("status", "--json")
    let document = try answer.document()
    text = answer.output.isEmpty ? answer.errors : answer.output
    if let error = document["error"] as? [String: Any] {
      verdict = "error"
      reason = error["code"] as? String ?? ""
      remedy = error["remedy"] as? String ?? ""
      return
    }
    verdict = document["verdict"] as? String ?? ""
    reason = document["reason"] as? String ?? ""
    remedy = document["remedy"] as? String ?? ""
    let number = ["inSync", "pending", "degraded", "broken"].firstIndex(of: verdict)
    #expect(number.map(Int32.init) == answer.code, "\(verdict) exits with \(answer.code)")
    #expect(remedy.isEmpty == (verdict == "inSync"), "\(reason) without a next step")
  }

  func isLike(_ fault: Fault) -> Bool {
    verdict == fault.verdict && reason == fault.reason && remedy.hasPrefix(fault.remedy)
      && (fault.mentions.isEmpty || text.contains(fault.mentions))
  }
}
