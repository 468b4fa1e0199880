internal import HouseholdRecords
internal import HouseholdReplica

/// What a node does now and then, so that a household does not grow with its years (D9): confirm what it has applied, forget
/// what everyone has confirmed to be replaced, write down which devices sleep, and that it is awake itself.
///
/// On the replica's thread. Nothing here is urgent, so whatever fails is told by status and tried again the next time.
final class DailyRounds {
  private let replica: Replica
  private let driver: SyncDriver
  private let log: Log
  private var ticks = 0

  /// When the first round is made, in ticks of a second after the start: once peers have had their say.
  private static let firstTick = 300
  /// How often one is made.
  private static let pauseTicks = 3600
  /// How often it looks whether the others take this device for asleep.
  private static let wakingTicks = 10
  /// How far this clock may differ from another device's for this one to say that a third sleeps: a day.
  private static let clockMilliseconds: UInt64 = 86_400_000

  init(replica: Replica, driver: SyncDriver, log: Log) {
    self.replica = replica
    self.driver = driver
    self.log = log
  }

  /// Lets it see that a second went by.
  func tick() {
    ticks += 1
    do {
      if ticks % Self.wakingTicks == 1, try replica.wake(now: SystemClock.now) {
        log.note("this device is awake again", [:])
        driver.membershipChanged()
      }
      guard ticks >= Self.firstTick, (ticks - Self.firstTick) % Self.pauseTicks == 0 else { return }
      try declareSleepers()
      if try replica.confirm(now: SystemClock.now) { driver.logChanged() }
      try replica.forgetDisplaced()
    } catch {
      log.problem("a daily round failed", ["error": "\(error)"])
    }
  }

  /// An owner's node writes down which devices sleep, if another device's clock bears out its own.
  func declareSleepers() throws {
    guard replica.membershipNow.isOwner(replica.identity.device) else { return }
    let now = SystemClock.now
    for device in try replica.silentDevices(now: now) where !driver.isThere(device) {
      let isBorneOut = driver.clockOffsets(except: device).contains { $0.magnitude < Self.clockMilliseconds }
      guard isBorneOut else { continue }
      try replica.declareDormant(device, now: now)
      log.note("a device sleeps", ["device": String(device.description.prefix(8))])
      driver.membershipChanged()
    }
  }
}
