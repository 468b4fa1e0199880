internal import HouseholdRecords

/// A Swift type whose values are records of a household.
///
/// Its stored properties are the fields; there is no mapping to write. `Date` is a `timestamp` (to the millisecond),
/// ``CalendarDate`` a `date`, ``Reference`` a `reference`, `Data` and `[UInt8]` are `bytes`, integers, `Double`, `Bool`
/// and `String` what they say, enumerations that are `CaseIterable` their raw value, and any other `Codable` type `json`.
/// A property `isFavorite` is the field `is_favorite`. Whatever another program may leave out is optional here.
public protocol HouseholdRecord: Codable, Identifiable, Sendable where ID == String {
  /// The name of the record type, which is the name of its table; the Swift type's name in snake case by itself.
  static var recordType: String { get }
  /// How concurrent edits are decided, when the schema is made from this type; by field by itself.
  static var conflictStrategy: ConflictStrategy { get }
  /// Any text up to 1 KiB; ``HouseholdStore/newID()`` makes one that is new.
  var id: String { get }
}

extension HouseholdRecord {
  /// The Swift type's name in snake case.
  public static var recordType: String { FieldName.snakeCase(String(describing: Self.self)) }
  /// By field.
  public static var conflictStrategy: ConflictStrategy { .merge }
}

/// Which of concurrent edits shows; the others are kept as conflicts.
public enum ConflictStrategy: String, Sendable, CaseIterable {
  /// By field: edits of different fields are both kept, of one field the later one shows.
  case merge
  /// The whole record of the later edit shows.
  case lastWriterWins
  /// An owner's edit goes before a member's.
  case ownerWins
  /// As `merge`, and status asks a person to decide.
  case ask
}

/// The id of a record of another type, which need not be here.
public struct Reference<Target: HouseholdRecord>: Codable, Hashable, Sendable {
  /// The id of the record that is meant.
  public var id: String

  /// The record of this id.
  public init(_ id: String) { self.id = id }
  /// This record.
  public init(_ target: Target) { id = target.id }

  /// Reads the id.
  public init(from decoder: any Decoder) throws { id = try decoder.singleValueContainer().decode(String.self) }

  /// Writes its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id)
  }
}

/// A day of the calendar, the same everywhere: no time and no zone.
public struct CalendarDate: Codable, Hashable, Comparable, Sendable, CustomStringConvertible {
  private let day: CalendarDay

  /// The day of this Gregorian date; nil if there is none.
  public init?(year: Int, month: Int, day: Int) {
    guard let day = CalendarDay(year: year, month: month, day: day) else { return nil }
    self.day = day
  }

  /// The day written `YYYY-MM-DD`; nil for any other text.
  public init?(_ text: String) {
    guard let day = CalendarDay(text) else { return nil }
    self.day = day
  }

  /// Reads the text; throws for what is no date.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let day = CalendarDay(text) else {
      throw HouseholdStoreError(.badValue, "'\(text)' is no date: write it YYYY-MM-DD.")
    }
    self.day = day
  }

  /// Writes its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// `YYYY-MM-DD`.
  public var description: String { day.description }

  /// Earlier before later.
  public static func < (a: Self, b: Self) -> Bool { a.day < b.day }
}

/// What the shape of a Swift type asks a reference: which type it points to.
protocol ReferenceTarget { static var target: String { get } }

extension Reference: ReferenceTarget { static var target: String { Target.recordType } }

/// Names of fields.
enum FieldName {
  /// `isFavorite` as `is_favorite`; what is in snake case already stays.
  static func snakeCase(_ name: String) -> String {
    var result = ""
    var previousIsLower = false
    for character in name {
      if character.isUppercase, previousIsLower { result.append("_") }
      previousIsLower = character.isLowercase || character.isNumber
      result.append(contentsOf: character.lowercased())
    }
    return result
  }
}
