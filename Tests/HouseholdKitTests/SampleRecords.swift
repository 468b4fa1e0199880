import Foundation
import HouseholdKit

/// A note of the built-in schema, as an app would write it.
struct Note: HouseholdRecord, Equatable {
  var id = HouseholdStore.newID()
  var title: String
  var text: String?
  var isFavorite: Bool?
  var createdAt: Date?
}

/// A record with every kind of property.
struct Errand: HouseholdRecord, Equatable {
  enum Urgency: String, Codable, CaseIterable { case low, high }
  struct Place: Codable, Equatable {
    var street: String
    var tags: [String]
  }

  static let conflictStrategy = ConflictStrategy.lastWriterWins

  let id: String
  var title: String
  var count: Int
  var weight: Double
  var isDone: Bool
  var due: CalendarDate
  var madeAt: Date
  var picture: Data?
  var urgency: Urgency
  var place: Place
  var parent: Reference<Errand>?
  var small: Int16?
}

extension Errand {
  /// An errand of this id in which everything else has some value.
  static func sample(_ id: String, title: String = "Milk", count: Int = 1, isDone: Bool = false) throws -> Errand {
    guard let due = CalendarDate(year: 2026, month: 2, day: 28) else { throw CocoaError(.coderInvalidValue) }
    return Errand(
      id: id, title: title, count: count, weight: 0.5, isDone: isDone, due: due,
      madeAt: Date(timeIntervalSince1970: 1_700_000_000.125), picture: Data([0, 255]), urgency: .high,
      place: Place(street: "Ährenweg \"3\"", tags: ["a", "b"]), parent: Reference("other"), small: -7)
  }
}
