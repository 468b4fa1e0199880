/// The known word that a mistyped one most probably meant; nil when none is near.
///
/// Near is at most a third of its letters wrong (but one may be), or being the beginning of exactly one known word. Of
/// several equally near ones the first in `known` is taken.
package func nearestWord(to word: String, among known: [String]) -> String? {
  let typed = word.lowercased()
  guard !typed.isEmpty, typed.utf8.count <= 64 else { return nil }
  var best: (word: String, distance: Int)?
  for candidate in known {
    let distance = editDistance(typed, candidate.lowercased())
    let longer = max(typed.count, candidate.count)
    let bound = longer == 1 ? 0 : max(1, longer / 3)
    if distance <= bound, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  if let best { return best.word }
  let begun = known.filter { $0.lowercased().hasPrefix(typed) }
  return begun.count == 1 ? begun[0] : nil
}

/// The letters to insert, delete, replace or swap with their neighbour to make one word the other.
///
/// Source: optimal string alignment, the restricted form of Damerau and Levenshtein's distance.
package func editDistance(_ a: String, _ b: String) -> Int {
  let (left, right) = (Array(a), Array(b))
  guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for i in 1...left.count {
    var current = [i]
    for j in 1...right.count {
      let replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1)
      var least = min(last[j] + 1, current[j - 1] + 1, replaced)
      if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
        least = min(least, beforeLast[j - 2] + 1)
      }
      current.append(least)
    }
    (beforeLast, last) = (last, current)
  }
  return last[right.count]
}
