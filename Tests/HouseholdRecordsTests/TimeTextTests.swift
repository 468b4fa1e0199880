import HouseholdRecords
import Testing

@Suite struct TimeTextTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_007, "2000-02-29T00:00:00.007Z"),
    (1_772_357_400_250, "2026-03-01T09:30:00.250Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
  ])
  func `an instant is written in UTC with milliseconds and read back`(milliseconds: Int64, text: String) {
    #expect(Instant(milliseconds: milliseconds).rfc3339 == text)
    #expect(Instant(rfc3339: text)?.milliseconds == milliseconds)
    #expect(Instant(ownSpelling: Array(text.utf8).span)?.milliseconds == milliseconds)
  }

  @Test(arguments: [
    "2026-03-01T09:30:00Z", "2026-02-29T00:00:00.000Z", "2026-03-01T24:00:00.000Z", "2026-03-01T09:30:00.000z",
    "2026-03-01T09:30:60.000Z", "2026-13-01T09:30:00.000Z", "2026-03-01 09:30:00.000Z", "2026-03-01T09:3/:00.000Z",
  ])
  func `only our own spelling is read the short way`(text: String) {
    #expect(Instant(ownSpelling: Array(text.utf8).span) == nil)
  }

  @Test func `an instant past four digits of a year is written as the end of the range`() {
    #expect(Instant(milliseconds: .max).rfc3339 == "9999-12-31T23:59:59.999Z")
    #expect(Instant(milliseconds: .min).rfc3339 == "0000-01-01T00:00:00.000Z")
  }

  @Test func `offsets, short and long fractions are understood`() {
    #expect(Instant(rfc3339: "2026-03-01T10:30:00+01:00")?.rfc3339 == "2026-03-01T09:30:00.000Z")
    #expect(Instant(rfc3339: "2026-02-28T20:30:00.5-05:30")?.rfc3339 == "2026-03-01T02:00:00.500Z")
    #expect(Instant(rfc3339: "2026-03-01T09:30:00.123456789z")?.rfc3339 == "2026-03-01T09:30:00.123Z")
  }

  @Test(arguments: [
    "", "2026-03-01", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T09:60:00Z",
    "2016-12-31T23:59:60Z", "2026-03-01T09:30:00", "2026-03-01T09:30:00.Z", "2026-03-01 09:30:00Z",
    "2026-03-01T09:30:00+0100", "2026-03-01T09:30:00Z ", "2026-03-01T+9:30:00Z", "２026-03-01T09:30:00Z",
  ])
  func `anything else is no time`(text: String) {
    #expect(Instant(rfc3339: text) == nil)
  }

  @Test func `a timestamp field takes UTC spelled with Z only`() {
    #expect(Instant.isUTCTimestamp("2026-03-01T09:30:00Z"))
    #expect(!Instant.isUTCTimestamp("2026-03-01T09:30:00+00:00"))
    #expect(!Instant.isUTCTimestamp("Z"))
  }

  @Test func `every day from 0001 to 9999 is written and read back`() {
    for number in Int64(-719_162)...2_932_896 where number % 13 == 0 || abs(number) < 1000 {
      guard let day = CalendarDay(dayNumber: number), CalendarDay(day.description) == day else {
        Issue.record("day \(number)")
        return
      }
    }
    #expect(CalendarDay("0001-01-01")?.dayNumber == -719_162)
    #expect(CalendarDay("9999-12-31")?.dayNumber == 2_932_896)
    #expect(CalendarDay(dayNumber: 2_932_897) == nil)
  }

  @Test(arguments: ["2026-02-30", "1900-02-29", "0000-01-01", "2026-00-01", "2026-1-1", "2026-04-31", "+026-01-01", ""])
  func `a day that the calendar lacks is refused`(text: String) {
    #expect(CalendarDay(text) == nil)
  }

  @Test func `leap days exist in leap years`() {
    #expect(CalendarDay("2024-02-29") != nil)
    #expect(CalendarDay("2000-02-29") != nil)
  }
}
