import Foundation
import HouseholdKit

/// A note of the household; the properties are all there is to say.
struct Note: HouseholdRecord, Hashable {
  var id = HouseholdStore.newID()
  var title: String?
  var text: String?
  var isFavorite: Bool?
  var createdAt: Date?
  var modifiedAt: Date?
}

extension Note {
  /// One line for people; what could move the cursor is left out.
  var line: String {
    let star = isFavorite == true ? "★" : " "
    let words = [title, text].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
    let plain = words.map { $0.isNewline ? " " : $0 }
      .filter { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
    return "\(star) \(id.prefix(8))  \(String(plain))"
  }
}
