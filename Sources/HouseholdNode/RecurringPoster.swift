internal import HouseholdBudget
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// Posts what is due of the series that say so: at the start, once a day, and soon after a series changes.
///
/// On the replica's thread. It writes like any program beside the node, so what it posts is captured, sealed and sent
/// the usual way; the writes are weak, and an id that was ever here is never written again. A device that may not write
/// posts nothing.
final class RecurringPoster {
  private let directory: DataDirectory
  private let replica: Replica
  private let log: Log
  private var access: RecordAccess?
  private var ticks = 0
  /// What was looked at last; nothing is due as long as both stay.
  private var seen: (day: CalendarDay, version: Int64)?
  /// The series that were looked through last, and on which day: only a change of these makes anything due.
  private var planned: (day: CalendarDay, series: [ShownRecord])?

  /// Whether the log has said that a restore is waited out.
  private var saidThatItWaits = false

  /// How often a look is taken, in ticks of a second; a change shows within the 20 s of the contract.
  private static let pauseTicks = 5

  init(_ directory: DataDirectory, replica: Replica, log: Log) {
    self.directory = directory
    self.replica = replica
    self.log = log
  }

  /// Lets it see that a second went by.
  func tick() {
    ticks += 1
    guard ticks % Self.pauseTicks == 1, mayWrite, let today = SystemClock.today else { return }
    do {
      guard try !mustCatchUp() else {
        if !saidThatItWaits { log.problem("recurring payments wait for the first sync after a restore", [:]) }
        saidThatItWaits = true
        return
      }
      saidThatItWaits = false
      try post(today)
    } catch {
      // Another program may hold the file, or the disk be full: status says so, and the next look tries again.
      (seen, planned) = (nil, nil)
      stop()
    }
  }

  /// Closes its connection.
  func stop() {
    access?.close()
    access = nil
  }

  private var mayWrite: Bool {
    let membership = replica.membershipNow
    return membership.devices[replica.identity.device]?.state == .active
      && membership.members[replica.identity.member]?.role != .readOnly
  }

  /// After a restore the file does not know what was posted or deleted since: if there are others, they are heard first.
  private func mustCatchUp() throws -> Bool {
    guard try replica.awaitsCatchUp else { return false }
    let membership = replica.membershipNow
    return membership.devices.keys.contains { $0 != replica.identity.device && membership.admits($0) }
  }

  private func post(_ today: CalendarDay) throws {
    let access = try access ?? open()
    self.access = access
    let version = try access.dataVersion()
    if let seen, seen == (today, version) { return }
    guard let series = access.schema.type("recurring"), access.schema.type("transaction") != nil else {
      seen = (today, version)
      return
    }
    var shown: [ShownRecord] = []
    try access.forEach(series, where: [("auto_post", .integer(1))]) { shown.append($0) }
    if !shown.isEmpty, planned?.day != today || planned?.series != shown {
      let names = series.fields.map(\.name)
      try post(shown.map { ($0.key.id, Dictionary(uniqueKeysWithValues: zip(names, $0.values))) }, today, access)
      planned = (today, shown)
    }
    seen = (today, version)
  }

  private func post(
    _ series: [(id: String, fields: [String: FieldValue])], _ today: CalendarDay, _ access: RecordAccess
  ) throws {
    guard let type = access.schema.type("transaction") else { return }
    let cryptography = OpenSSLCryptography()
    // Most looks find nothing due; the write lock is taken only when something is.
    guard try !plan(series, today, access, cryptography).due.isEmpty else { return }
    let count = try access.generating {
      let plan = try plan(series, today, access, cryptography)
      let generation = RecordGeneration(access)
      let due = plan.due.flatMap(\.records)
      for record in due {
        let fields = record.fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        try generation.insert(type, record.id, fields)
      }
      return due.count
    }
    log.note("recurring payments posted", ["count": "\(count)"])
  }

  private func plan(
    _ series: [(id: String, fields: [String: FieldValue])], _ today: CalendarDay, _ access: RecordAccess,
    _ cryptography: OpenSSLCryptography
  ) throws -> RecurringPlan {
    func posted(_ series: String) throws -> [(id: String, day: CalendarDay)] {
      var posted: [(id: String, day: CalendarDay)] = []
      guard let type = access.schema.type("transaction"),
        let date = type.fields.firstIndex(where: { $0.name == "date" })
      else { return posted }
      try access.forEach(type, where: [("recurring", .text(series))]) { shown in
        if let day = shown.values[date].text.flatMap({ CalendarDay($0) }) { posted.append((shown.key.id, day)) }
      }
      return posted
    }
    let generation = RecordGeneration(access)
    return try RecurringPlan(
      series: series, posted: posted, through: today, automatically: true,
      isAbsent: { key in
        guard let type = access.schema.type(key.type) else { return false }
        return try generation.presence(type, key.id) == .absent
      }, sha256: { cryptography.sha256($0) })
  }

  private func open() throws -> RecordAccess {
    try RecordAccess(path: directory.replica, readOnly: false, cryptography: OpenSSLCryptography())
  }
}
