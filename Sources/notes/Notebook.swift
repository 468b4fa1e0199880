import Foundation
package import HouseholdKit

/// What can be done with the notes of a household.
package struct Notebook {
  package let store: HouseholdStore

  package init(store: HouseholdStore) { self.store = store }

  /// Why a wish cannot be met, for people.
  package struct Problem: Error, CustomStringConvertible {
    package let description: String
  }

  package func list() throws -> [Note] { try store.fetch(Note.self, sort: Self.order) }

  /// The notes whose title or text holds the word.
  package func search(_ word: String) throws -> [Note] {
    try store.fetch(Note.self, where: .contains(\.title, word) || .contains(\.text, word), sort: Self.order)
  }

  /// Favourites first, then by title.
  package static let order: [RecordSorting<Note>] = [.descending(\.isFavorite), .ascending(\.title)]

  package func add(_ title: String, _ text: String?) throws -> Note {
    let now = Date()
    let note = Note(title: title, text: text, isFavorite: false, createdAt: now, modifiedAt: now)
    try store.insert(note)
    return note
  }

  /// Only what `change` changes is written: what a partner does to the rest meanwhile stays.
  package func edit(_ prefix: String, _ change: (inout Note) -> Void) throws -> Note {
    let found = try store.update(Note.self, id: try note(prefix).id) { note in
      change(&note)
      note.modifiedAt = Date()
    }
    guard let found else { throw Problem(description: "The note is gone.") }
    return found
  }

  package func delete(_ prefix: String) throws { try store.delete(Note.self, id: try note(prefix).id) }

  /// The one note whose id begins so.
  package func note(_ prefix: String) throws -> Note {
    let found = try store.fetch(Note.self).filter { $0.id.hasPrefix(prefix) }
    guard let note = found.first, found.count == 1 else {
      throw Problem(description: found.isEmpty ? "No note begins with \(prefix)." : "\(prefix) names several notes.")
    }
    return note
  }

  /// Takes one side of the conflict that begins so.
  package func resolve(_ prefix: String, _ decision: ConflictDecision) throws {
    let found = try store.conflicts().filter { $0.id.hasPrefix(prefix) }
    guard let conflict = found.first, found.count == 1 else {
      throw Problem(description: "No single conflict begins with \(prefix).")
    }
    try store.resolve(conflict, taking: decision)
  }

  /// The sync indicator: one sign and one sentence.
  package func indicator() throws -> String {
    let status = try store.status()
    let sign =
      switch status.verdict {
      case .inSync: "✓"
      case .pending: "↻"
      case .degraded: "!"
      case .broken: "✗"
      }
    return [sign, status.summary, status.remedy].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The notes as a page: one line each, then the conflicts and the indicator.
  package func page(_ notes: [Note]) throws -> String {
    (notes.map(\.line) + (try conflictLines()) + [try indicator()]).joined(separator: "\n")
  }

  /// One line for each conflict.
  package func conflictLines() throws -> [String] {
    try store.conflicts().map { conflict in
      let sides = [conflict.kept, conflict.lost].map { "\($0.member ?? "?"): \($0.fields ?? "deleted")" }
      return "\(conflict.id)  \(conflict.record) \(conflict.field)  shows \(sides[0]), lost \(sides[1])"
    }
  }
}
