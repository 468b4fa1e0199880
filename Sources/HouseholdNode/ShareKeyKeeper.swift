internal import Glibc
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// Keeps the share's key where it belongs: on the devices of owners, and on no other.
///
/// On the replica's thread, like the driver. A key that was taken away may have been copied before; without an owner's
/// entry in the membership log it lets nobody in.
final class ShareKeyKeeper {
  private let directory: DataDirectory
  private let replica: Replica
  private let driver: SyncDriver
  private let desk: InvitationDesk
  private let log: Log

  init(_ directory: DataDirectory, replica: Replica, driver: SyncDriver, desk: InvitationDesk, log: Log) {
    self.directory = directory
    self.replica = replica
    self.driver = driver
    self.desk = desk
    self.log = log
  }

  /// Brings the key in line with what the membership log says of this device.
  func look() {
    do {
      let isOwner = replica.membershipNow.isOwner(replica.identity.device)
      if isOwner { return try driver.setShareKey(desk.keys.authority?.key.privateKey()) }
      driver.setShareKey(nil)
      guard desk.keys.authority != nil else { return }
      guard unsafe unlink(directory.shareKey) == 0 || errno == ENOENT else {
        return log.problem("the share's key cannot be removed", ["file": directory.shareKey])
      }
      desk.keys = try NodeKeys(directory)
      log.note("the share's key was removed: this device is no owner's", [:])
    } catch {
      log.problem("the share's key cannot be used", ["error": "\(error)"])
    }
  }

  /// Keeps the key that another owner's device gave, if it is the share's.
  func keep(_ bytes: [UInt8]) {
    do {
      let authority = try ShareAuthority(certificate: desk.keys.share, key: KeyPair(privateKey: bytes))
      try authority.key.save(to: directory.shareKey)
      desk.keys = try NodeKeys(directory)
      look()
    } catch {
      log.problem("the share's key that came cannot be used", ["error": "\(error)"])
    }
  }
}
