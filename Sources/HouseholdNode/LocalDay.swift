internal import Glibc
package import HouseholdRecords

extension SystemClock {
  /// The calendar day here now, in the time zone of this process: the day on which a payment is due.
  package static var today: CalendarDay? {
    var now = time(nil)
    var parts = unsafe tm()
    guard unsafe localtime_r(&now, &parts) != nil else { return nil }
    return unsafe CalendarDay(year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
  }
}
