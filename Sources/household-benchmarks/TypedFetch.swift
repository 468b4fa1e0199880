import CSQLite
import Foundation
import Glibc
import HouseholdKit
import Synchronization

/// Notes of an app, read through HouseholdKit, beside a loop over SQLite that was written by hand for this one type.
enum TypedFetch {
  /// The note of the usual tutorial.
  struct Note: HouseholdRecord {
    var id: String
    var title: String
    var content: String?
    var isFavorite: Bool?
    var createdAt: Date
    var modifiedAt: Date?
  }

  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let place = try stage.newFolder().appending(path: "home")
    let store = try HouseholdStore.create(
      in: place, household: "Measured", member: "ana", device: "laptop", records: [Note.self],
      node: .embedded(NodeSettings(listen: "127.0.0.1:0", discovers: false)))
    defer { store.close() }
    try fill(store, count: stage.options.rows)
    try Patience.wait(for: "the node to seal", microseconds: 50_000) { try store.pendingChanges().unsealed.isEmpty }
    let loop = try HandWrittenLoop(place.appending(path: "replica.sqlite").path)
    var fetches: [(measured: Double, twin: Double)] = []
    for round in 0..<stage.options.rounds {
      try Interruption.check()
      // By turns, so that neither always finds what the other has warmed.
      let first = round.isMultiple(of: 2) ? nil : try time(stage.options.rows) { try loop.notes() }
      let kit = try time(stage.options.rows) { try store.fetch(Note.self) }
      fetches.append((kit, try first ?? time(stage.options.rows) { try loop.notes() }))
    }
    let changes = try liveChanges(store, stage)
    return [
      BenchmarkRow("typed fetch of all", unit: "ms", pairs: fetches).mustKeep("ratio at most 2") {
        ($0.ratio?.median ?? 0) <= 2
      },
      BenchmarkRow(
        "live results of all, one record changes", unit: "ms", pairs: zip(changes, fetches).map { ($0, $1.twin) }),
    ]
  }

  private static func fill(_ store: HouseholdStore, count: Int) throws {
    for start in stride(from: 0, to: count, by: 10_000) {
      try store.transaction {
        for number in start..<min(count, start + 10_000) {
          let date = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
          try store.insert(
            Note(
              id: HouseholdStore.newID(), title: "Note number \(number)",
              content: number.isMultiple(of: 4) ? nil : "What is to be remembered of number \(number), in a sentence.",
              isFavorite: number.isMultiple(of: 10), createdAt: date,
              modifiedAt: number.isMultiple(of: 3) ? date : nil))
        }
      }
    }
  }

  private static func time(_ count: Int, _ body: () throws -> [Note]) throws -> Double {
    var found = 0
    let time = try Stopwatch.time { found = try body().count }
    guard found == count else { throw BenchmarkError(description: "found \(found) notes instead of \(count)") }
    return time
  }

  /// How often live results were told, and why no longer.
  private final class Turns: Sendable {
    let count = Atomic(0)
    let failure = Mutex<String?>(nil)
  }

  /// From before the commit of a change until live results tell it, for each round.
  private static func liveChanges(_ store: HouseholdStore, _ stage: Stage) throws -> [Double] {
    let turns = Turns()
    let following = Task.detached {
      do {
        for try await _ in try store.live(Note.self, sort: [.ascending(\.title)]) {
          turns.count.add(1, ordering: .releasing)
        }
      } catch {
        turns.failure.withLock { $0 = "\(error)" }
      }
    }
    defer { following.cancel() }
    func wait(_ count: Int) throws {
      try Patience.wait(for: "live results", microseconds: 50) {
        if let failure = turns.failure.withLock({ $0 }) { throw BenchmarkError(description: failure) }
        return turns.count.load(ordering: .acquiring) >= count
      }
    }
    try wait(1)
    let ids = try store.fetch(Note.self, limit: stage.options.rounds).map(\.id)
    return try ids.enumerated().map { round, id in
      usleep(200_000)
      let watch = Stopwatch()
      try store.update(Note.self, id: id) { $0.title = "Changed in round \(round)" }
      try wait(round + 2)
      return watch.milliseconds
    }
  }
}

/// What a programmer writes who reads this one table without a library.
@safe private final class HandWrittenLoop {
  private let handle: OpaquePointer
  private let statement: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    var prepared: OpaquePointer?
    guard unsafe sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      let opened = unsafe opened,
      unsafe sqlite3_prepare_v2(
        opened, "SELECT id, title, content, is_favorite, created_at, modified_at FROM note ORDER BY id", -1, &prepared,
        nil) == SQLITE_OK, let prepared = unsafe prepared
    else { throw BenchmarkError(description: "SQLite cannot read \(path)") }
    unsafe handle = unsafe opened
    unsafe statement = unsafe prepared
  }

  deinit {
    unsafe sqlite3_finalize(statement)
    unsafe sqlite3_close_v2(handle)
  }

  func notes() throws -> [TypedFetch.Note] {
    var notes: [TypedFetch.Note] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      notes.append(
        TypedFetch.Note(
          id: text(0), title: text(1), content: isNull(2) ? nil : text(2),
          isFavorite: isNull(3) ? nil : unsafe sqlite3_column_int64(statement, 3) != 0, createdAt: date(4),
          modifiedAt: isNull(5) ? nil : date(5)))
    }
    guard unsafe sqlite3_reset(statement) == SQLITE_OK else { throw BenchmarkError(description: "SQLite cannot read") }
    return notes
  }

  private func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(statement, column) == SQLITE_NULL }

  private func text(_ column: Int32) -> String {
    unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) } ?? ""
  }

  /// The moment written `YYYY-MM-DDThh:mm:ss.mmmZ`.
  private func date(_ column: Int32) -> Date {
    guard let text = unsafe sqlite3_column_text(statement, column) else { return Date(timeIntervalSince1970: 0) }
    func number(_ places: Range<Int>) -> Int32 {
      var value: Int32 = 0
      for place in places { value = value * 10 + Int32(unsafe text[place]) - 48 }
      return value
    }
    var parts = unsafe tm()
    unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (number(0..<4) - 1900, number(5..<7) - 1, number(8..<10))
    unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (number(11..<13), number(14..<16), number(17..<19))
    return Date(timeIntervalSince1970: Double(unsafe timegm(&parts)) + Double(number(20..<23)) / 1000)
  }
}
