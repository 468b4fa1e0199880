package import Foundation
import HouseholdKit

/// A note of the household; the properties are all there is to say.
package struct Note: HouseholdRecord, Hashable {
  package var id = HouseholdStore.newID()
  package var title: String?
  package var text: String?
  package var isFavorite: Bool?
  package var createdAt: Date?
  package var modifiedAt: Date?
}

extension Note {
  /// One line for people; what could move the cursor is left out.
  package var line: String {
    let star = isFavorite == true ? "★" : " "
    let words = [title, text].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
    let plain = words.map { $0.isNewline ? " " : $0 }
      .filter { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
    return "\(star) \(id.prefix(8))  \(String(plain))"
  }
}
