import HouseholdRecords
import Testing

@Suite("Stamps: hybrid time that no clock drags away for long (D11)")
struct StampTests {
  private let noon = Instant(milliseconds: 1_772_442_000_000)

  private func stamp(_ ahead: Int64) -> Stamp { Stamp(wall: noon.advanced(byMilliseconds: ahead)) }

  private func sealing(_ edited: Int64 = 0, last: Stamp = .least, overwritten: Stamp? = nil) -> Stamp {
    Stamp.sealing(
      edited: noon.advanced(byMilliseconds: edited), last: last, wall: noon, overwritten: overwritten)
  }

  @Test func `a stamp is greater than the edit's time, the last one and all that it writes over`() {
    #expect(sealing() == stamp(0).next)
    #expect(sealing(last: stamp(3000)) == stamp(3000).next)
    #expect(sealing(last: stamp(3000), overwritten: stamp(9000)) == stamp(9000).next)
    #expect(sealing(-60_000, last: stamp(-90_000)) == stamp(-60_000).next)
  }

  @Test func `a last stamp up to a day ahead of the clock counts, one beyond it does not`() {
    let day = Stamp.leadMilliseconds

    #expect(sealing(last: stamp(day)) == stamp(day).next)
    #expect(sealing(last: stamp(day + 1)) == stamp(0).next)
  }

  @Test func `what is written over counts however far ahead it is: who has seen it wins`() {
    let farAhead = stamp(70 * 365 * 86_400_000)

    #expect(sealing(overwritten: farAhead) == farAhead.next)
  }

  @Test func `the ends of the range hold`() {
    let end = Stamp(rawValue: .max)

    #expect(end.next == end)
    #expect(sealing(overwritten: end) == end)
    #expect(Stamp(wall: Instant(milliseconds: -5)) == .least)
    #expect(Stamp(wall: Instant(milliseconds: .max)).rawValue == (UInt64(1) << 48 - 1) << 16)
    #expect(stamp(0).wall == noon)
  }
}
