import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdReplica
import HouseholdSync

/// A piece of work whose cost a person feels because it is done for each record, each edit or each contact.
///
/// It is measured by the instructions that it takes in this process, which is the same on a busy machine as on a quiet
/// one. What the kernel does for it, and the waiting for the disk, is not in them.
enum HotPath: String, CaseIterable {
  case capture
  case sealRecords = "seal-records"
  case serveSnapshot = "serve-snapshot"
  case adoptSnapshot = "adopt-snapshot"
  case sealEdits = "seal-edits"
  case receiveEdits = "receive-edits"
  case mergeContested = "merge-contested"
  case findDuplicates = "find-duplicates"
  case contact
  case open

  /// How many edits are sealed and received.
  private static let edits = 1000
  /// How many records are changed on both sides.
  private static let contested = 500
  private static let contacts = 20

  /// What one of its pieces is.
  var name: String {
    switch self {
    case .capture: "a record inserted by SQL and captured"
    case .sealRecords: "a new record sealed"
    case .serveSnapshot: "a record read for a snapshot"
    case .adoptSnapshot: "a record of a snapshot put in place"
    case .sealEdits: "an edit sealed, of \(Self.edits)"
    case .receiveEdits: "an edit received, of \(Self.edits)"
    case .mergeContested: "an edit that another one contests received, of \(Self.contested)"
    case .findDuplicates: "a new record sealed and found to be a duplicate, of \(Self.edits)"
    case .contact: "a contact without news, both engines"
    case .open: "a replica opened"
    }
  }

  /// How many pieces are done where there are so many records.
  func count(records: Int) -> Int {
    switch self {
    case .capture, .sealRecords, .serveSnapshot, .adoptSnapshot: records
    case .sealEdits, .receiveEdits, .findDuplicates: Self.edits
    case .mergeContested: Self.contested
    case .contact: Self.contacts
    case .open: 1
    }
  }

  /// Makes a household in an empty folder that is ready for the work.
  func prepare(in folder: URL, rows: [TransactionData.Row]) throws {
    let household = try HotHousehold.make(in: folder)
    defer { household.close() }
    if self == .capture { return }
    let file = try household.file(of: household.ana)
    if self == .findDuplicates { return try insertDoubles(into: file) }
    try file.insert(rows)
    if self == .sealRecords { return }
    try household.ana.seal(now: SystemClock.now)
    if [.serveSnapshot, .adoptSnapshot, .open].contains(self) { return }
    try household.syncFirst()
    switch self {
    case .sealEdits, .receiveEdits: try edit(rows.prefix(Self.edits), as: "Ana's", in: file)
    case .mergeContested:
      try edit(rows.prefix(Self.contested), as: "Ben's", in: try household.file(of: household.ben))
      try household.ben.seal(now: SystemClock.now)
      try edit(rows.prefix(Self.contested), as: "Ana's", in: file)
    default: try household.meet()
    }
    if self != .sealEdits { try household.ana.seal(now: SystemClock.now) }
  }

  private func edit(_ rows: ArraySlice<TransactionData.Row>, as author: String, in file: PlainFile) throws {
    try file.transaction {
      for (number, row) in rows.enumerated() { try file.setPayee("\(author) \(number)", of: row.id) }
    }
  }

  /// Categories of which each two have one name.
  private func insertDoubles(into file: PlainFile) throws {
    try file.transaction {
      for number in 0..<Self.edits {
        try file.run(
          "INSERT INTO category(id, name) VALUES (?, ?)",
          [.text("category-\(number * 7919 % Self.edits)"), .text("Category \(number / 2)")])
      }
    }
  }

  /// Does the work with a household that was made ready; what is counted goes through ``measuredPart(_:)``.
  func run(in folder: URL, rows: [TransactionData.Row]) throws {
    if self == .open {
      try measuredPart { try HotHousehold.openAna(in: folder).close() }
      return
    }
    let household = try HotHousehold(in: folder)
    defer { household.close() }
    switch self {
    case .capture:
      let file = try household.file(of: household.ana)
      try measuredPart { try file.insert(rows) }
    case .sealRecords, .sealEdits, .findDuplicates:
      try measuredPart { try household.ana.seal(now: SystemClock.now) }
    case .serveSnapshot: try measuredPart { _ = try household.serve { _, _ in } }
    case .adoptSnapshot:
      var pages: [SnapshotPage] = []
      let offer = try household.serve { page, _ in pages.append(page) }
      try measuredPart { try household.adopt(offer, pages) }
    case .receiveEdits, .mergeContested:
      let news = try household.news()
      try measuredPart { try household.receive(news) }
    case .contact:
      try household.meet()
      try measuredPart { for _ in 0..<Self.contacts { try household.meet() } }
    case .open: break
    }
  }
}

/// How often something was measured.
nonisolated(unsafe) private var partsMeasured = 0

/// Does the work; valgrind counts from the beginning of this function to its end, and finds it by its name.
@inline(never)
private func measuredPart(_ work: () throws -> Void) throws {
  try work()
  unsafe partsMeasured += 1
}
