import HouseholdNode
import HouseholdRecords
import Testing

/// When a device is called, by the clock of the test (P14).
struct CallPacingTests {
  private var now = Tick(milliseconds: 1_000_000)

  /// How long until the next call is due, in milliseconds, looking every half second; nil for more than ten minutes.
  private func wait(_ pacing: CallPacing) -> Int64? {
    (0...1_200).first { pacing.isDue(now.advanced(byMilliseconds: $0 * 500)) }.map { $0 * 500 }
  }

  @Test func `sessions that end before they are in use are called after spans that double, once for each (P14)`() {
    var pacing = CallPacing()

    let waits = (0..<10).map { _ in
      pacing.called(now, random: 0)
      pacing.ended(now, random: 0)
      return wait(pacing)
    }

    #expect(waits == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 150_000, 150_000])
  }

  @Test func `after a session in use the waits begin with the shortest (P14)`() {
    var pacing = CallPacing()
    for _ in 0..<8 { pacing.called(now, random: 0) }

    pacing.gotIntoUse(now)
    pacing.ended(now, random: 0)

    #expect(wait(pacing) == 1_000)
  }

  @Test func `what a goodbye asked for holds through edits, also when two addresses turn out to be one device's (P14)`()
  {
    var pacing = CallPacing()
    pacing.rest(now, milliseconds: 60_000)
    pacing.hurry(now)
    #expect(wait(pacing) == 60_000)

    var other = CallPacing()
    other.join(pacing)
    #expect(wait(other) == 60_000)
    pacing.join(CallPacing())
    #expect(wait(pacing) == 60_000)

    pacing.rest(now, milliseconds: .max)
    #expect(wait(pacing) == 300_000)
    pacing.endRest()
    #expect(wait(pacing) == 0)
  }
}
