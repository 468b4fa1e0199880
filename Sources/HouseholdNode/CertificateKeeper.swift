internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
internal import HouseholdTransport
internal import HouseholdTrust

/// Sees to it that this device's certificate is renewed in time, and on an owner's device that the others' are.
///
/// On the replica's thread, like the driver. The key, and with it who the device is, never changes.
final class CertificateKeeper {
  private let directory: DataDirectory
  private let replica: Replica
  private let driver: SyncDriver
  private let desk: InvitationDesk
  private let links: LinkSet
  private let log: Log
  private var ticks = 0

  /// How often the dates are looked at, in ticks of a second: so that a clock that was set right is soon made good.
  private static let pauseTicks = 60

  init(_ directory: DataDirectory, driver: SyncDriver, desk: InvitationDesk, links: LinkSet, log: Log) {
    self.directory = directory
    self.driver = driver
    self.desk = desk
    self.links = links
    self.log = log
    replica = driver.replica
  }

  /// Lets it see that a second went by.
  func tick() {
    ticks += 1
    if ticks % Self.pauseTicks == 0 { look() }
  }

  /// Renews the certificate if it is time and the share's key is here, else has an owner's device asked.
  func look() {
    let own = replica.identity.device
    let isDue = replica.membershipNow.admits(own) && desk.keys.device.isDueForRenewal(SystemClock.now)
    driver.setWantsCertificate(isDue)
    guard isDue, let made = issue(for: own) else { return }
    keep(made.der)
  }

  /// Makes a certificate for a device as the membership log names it now; nil where it is not this device's to give.
  func issue(for device: DeviceID) -> DeviceCertificate? {
    let membership = replica.membershipNow
    guard let authority = desk.keys.authority, membership.isOwner(replica.identity.device), membership.admits(device),
      let known = membership.devices[device]
    else { return nil }
    do {
      return try authority.issue(publicKey: known.publicKey, member: known.member, now: SystemClock.now)
    } catch {
      log.problem("a certificate cannot be made", ["device": Self.short(device), "error": "\(error)"])
      return nil
    }
  }

  /// Answers a device that asks on a link.
  func give(to device: DeviceID, on link: LinkNumber) {
    guard let made = issue(for: device), made.device == device else { return }
    driver.give(certificate: made.der, on: link)
    log.note("a certificate was renewed", ["peer": Self.short(device), "until": made.notAfter.rfc3339])
  }

  /// Puts a certificate in the place of this device's, if it may take it; links from now on begin with it.
  func keep(_ der: [UInt8]) {
    do {
      let next = try desk.keys.device.successor(
        der, sharePublicKey: desk.keys.share.publicKey, now: SystemClock.now)
      try next.save(to: directory.deviceCertificate)
      desk.keys = try NodeKeys(directory)
      links.context = try desk.keys.context()
      driver.setWantsCertificate(false)
      log.note("this device's certificate was renewed", ["until": next.notAfter.rfc3339])
    } catch {
      log.problem("a certificate that came is not used", ["error": "\(error)"])
    }
  }

  private static func short(_ device: DeviceID) -> String { String(device.description.prefix(8)) }
}
