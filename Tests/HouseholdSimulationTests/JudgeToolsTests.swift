import HouseholdSimulation
import Testing

/// What the judge counts with, and the memory that SQLite has where one thread alone uses it.
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

  /// One test alone uses this memory: SQLite itself does not have it here.
  @Test func `pieces of memory keep their bytes until they are given back`() throws {
    var random = SeededRandom(seed: 7)
    var pieces: [(address: UnsafeMutableRawPointer, count: Int, mark: UInt8)] = []

    for turn in 0..<20_000 {
      if pieces.count < 50 || random.oneIn(2) {
        let count = 1 + random.below(random.oneIn(20) ? 20_000 : 300)
        let piece = unsafe try #require(SingleThreadMemory.take(Int32(count)))
        let mark = UInt8(truncatingIfNeeded: turn)
        unsafe piece.initializeMemory(as: UInt8.self, repeating: mark, count: count)
        unsafe pieces.append((piece, count, mark))
      }
      let index = random.below(pieces.count)
      var piece = unsafe pieces[index]
      if random.oneIn(3) {
        let count = 1 + random.below(600)
        unsafe piece.address = try #require(SingleThreadMemory.resize(piece.address, to: Int32(count)))
        unsafe #expect(holds(piece.address, min(count, piece.count), piece.mark))
        unsafe piece.address.initializeMemory(as: UInt8.self, repeating: piece.mark, count: count)
        unsafe piece.count = count
        unsafe pieces[index] = piece
      } else if pieces.count > 20 {
        unsafe pieces.swapAt(index, pieces.count - 1)
        unsafe pieces.removeLast()
        unsafe #expect(holds(piece.address, piece.count, piece.mark))
        unsafe SingleThreadMemory.giveBack(piece.address)
      }
    }
    unsafe #expect(pieces.allSatisfy { unsafe holds($0.address, $0.count, $0.mark) })
    for piece in unsafe pieces { unsafe SingleThreadMemory.giveBack(piece.address) }
  }

  private func holds(_ piece: UnsafeMutableRawPointer, _ count: Int, _ mark: UInt8) -> Bool {
    unsafe UnsafeRawBufferPointer(start: piece, count: count).allSatisfy { $0 == mark }
  }
}
