import HouseholdSync
import Testing

/// The back-off of the dialler (P14).
struct RetryPolicyTests {
  @Test func `spans double from one second to five minutes (P14)`() {
    var policy = RetryPolicy()

    let spans = (0..<11).map { _ in policy.next(random: .max - 1) }

    #expect(spans.allSatisfy { $0 >= 500 && $0 <= RetryPolicy.longest })
    #expect(spans[0] <= 1_000 && spans[10] >= RetryPolicy.longest / 2)
  }

  @Test func `the random number moves a span between its half and its whole (P14)`() {
    var low = RetryPolicy()
    var high = RetryPolicy()

    #expect(low.next(random: 0) == 500)
    #expect(high.next(random: 500) == 1_000)
  }

  @Test func `a reset starts over (P14)`() {
    var policy = RetryPolicy()
    for _ in 0..<5 { _ = policy.next(random: 0) }

    policy.reset()

    #expect(policy.wait(random: 500) == 1_000)
    #expect(policy.next(random: 500) == 1_000)
    #expect(policy.wait(random: 0) == 1_000)
  }
}
