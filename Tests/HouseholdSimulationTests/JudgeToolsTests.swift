import HouseholdSimulation
import Testing

/// What the judge counts with.
@Suite("Tools of the judge")
struct JudgeToolsTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a set of numbers says what a set says`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let (a, b) = (
      (0..<60).map { _ in random.below(300) }, (0..<60).map { _ in random.below(random.oneIn(2) ? 40 : 300) }
    )
    var (ours, others) = (NumberSet(), NumberSet())

    for number in a { ours.insert(number) }
    for number in b { others.insert(number) }

    let (set, other) = (Set(a), Set(b))
    var union = ours
    union.formUnion(others)
    #expect(Array(ours) == set.sorted() && ours.count == set.count)
    #expect((0..<320).allSatisfy { ours.contains($0) == set.contains($0) })
    #expect(Array(union) == set.union(other).sorted())
    #expect(Array(ours.subtracting(others)) == set.subtracting(other).sorted())
    #expect(Array(ours.intersection(others)) == set.intersection(other).sorted())
    // Equal sets are equal however they came about.
    #expect(union.subtracting(others) == ours.subtracting(others))
    #expect(union.intersection(ours) == ours)
    #expect(ours.subtracting(ours) == NumberSet() && ours.subtracting(ours).isEmpty)
    #expect(Array(NumberSet(below: 70)) == Array(0..<70))
  }
}
