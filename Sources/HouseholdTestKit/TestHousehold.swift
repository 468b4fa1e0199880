public import FoundationEssentials
public import HouseholdKit
internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
internal import HouseholdTrust

/// A whole household for an app's tests: several devices, a network and a clock that do what the test says.
///
/// Each device has the real engine and the real replica, in a temporary folder that goes with the household. There are
/// no sockets, no threads and nothing to wait for: records travel in ``settle()``, and whenever a store of one of its
/// devices is asked to fetch or to send. All methods throw `HouseholdStoreError`. It may be used from any thread.
/// Unchecked: everything that changes is behind the lock.
public final class TestHousehold: @unchecked Sendable {
  /// What a member may do.
  public enum Permission: Sendable {
    case readWrite
    case readOnly
    var role: Role { self == .readOnly ? .readOnly : .member }
  }

  let lock = ReentrantLock()
  let clock: TestClock
  var network = TestNetwork()
  private(set) var allDevices: [TestDevice] = []
  private let folder: URL
  private let records: [any HouseholdRecord.Type]

  /// Makes a household of one: the device of its founder, whose schema is made from these types.
  ///
  /// - Parameters:
  ///   - records: the types of which the schema is made.
  ///   - member: the name of the founder, who is an owner.
  ///   - device: the name of the founder's device.
  ///   - start: what the clock says at first.
  public init(
    records: [any HouseholdRecord.Type], member: String = "ana", device: String = "laptop",
    start: Date = Date(timeIntervalSince1970: 1_767_268_800)
  ) throws(HouseholdStoreError) {
    self.records = records
    clock = TestClock(Instant(milliseconds: Int64(start.timeIntervalSince1970 * 1000)))
    folder = FileManager.default.temporaryDirectory.appending(path: "household-test-\(UUID().uuidString)")
    try HouseholdStoreError.translating {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let directory = place(of: 0)
      _ = try Founding.found(
        Founding.Wishes(
          householdName: "Test household", memberName: member, deviceName: device,
          schema: try HouseholdStore.schema(of: records)), in: directory, now: clock.now)
      let replica = try Replica(
        path: directory.replica, cryptography: OpenSSLCryptography(), signer: try NodeKeys(directory).key)
      try add(replica, member: (member, replica.identity.member), name: device)
    }
  }

  deinit {
    for device in allDevices {
      device.store.close()
      device.replica.close()
    }
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      print("the test's household stays in \(folder.path): \(error)")
    }
  }

  /// The devices in the order in which they came; the first is the founder's.
  public var devices: [TestDevice] { lock.withLock { allDevices } }

  /// The founder's device.
  public var founder: TestDevice { devices[0] }

  private func place(of index: Int) -> DataDirectory {
    DataDirectory(folder.appending(path: "device-\(index)").path)
  }

  private func add(_ replica: Replica, member: (name: String, id: MemberID), name: String) throws {
    let deviceClock = DeviceClock(clock)
    let node = try TestNode(index: allDevices.count, clock: deviceClock)
    let device = try TestDevice(
      replica, member: member, name: name, index: allDevices.count, clock: deviceClock, node: node,
      in: place(of: allDevices.count), records: records)
    allDevices.append(device)
    node.household = self
  }

  // MARK: People

  /// A new member joins with a device, and gets the records at the next ``settle()``.
  @discardableResult
  public func join(
    _ member: String, device: String = "phone", permission: Permission = .readWrite
  ) throws(HouseholdStoreError) -> TestDevice {
    try locked {
      var random = SecureRandom()
      let key = try KeyPair.generate()
      let memberID = MemberID.random(from: &random)
      let owner = allDevices[0]
      let invite = try owner.replica.state(
        .invite(
          .init(
            invitation: .random(from: &random), member: memberID, memberName: member, role: permission.role,
            expiresAt: owner.clock.now.advanced(byMilliseconds: 600_000))), at: owner.clock.now)
      let description = MembershipEntry.DeviceDescription(name: device, publicKey: key.publicKey)
      _ = try owner.replica.state(.join(.init(invite: invite, device: description)), at: owner.clock.now)
      try handle(owner, .membershipChanged)
      let directory = place(of: allDevices.count)
      try directory.make()
      let identity = ReplicaIdentity(
        household: owner.replica.identity.household, member: memberID, device: key.device)
      let replica = try Replica.create(
        path: directory.replica, identity: identity, entries: try owner.replica.membershipEntries(except: []),
        nonce: .random(from: &random), incarnation: .random(from: &random), needsSnapshot: true,
        cryptography: OpenSSLCryptography(), signer: key)
      try add(replica, member: (member, memberID), name: device)
      return allDevices[allDevices.count - 1]
    }
  }

  /// The founder gives a member the right to write, or takes it; the others hear of it at the next ``settle()``.
  public func setPermission(_ permission: Permission, of device: TestDevice) throws(HouseholdStoreError) {
    try administer { administration, now in
      let name = device.memberID.description
      if permission == .readOnly {
        _ = try administration.demote(name, toReadOnly: true, now: now)
      } else {
        _ = try administration.promote(name, now: now)
      }
    }
  }

  /// The founder removes a device from the household; it and the others hear of it at the next ``settle()``.
  public func remove(_ device: TestDevice) throws(HouseholdStoreError) {
    try administer { try $0.remove(device.device.description, now: $1) }
  }

  private func administer(_ act: (Administration, Instant) throws -> Void) throws(HouseholdStoreError) {
    try locked {
      let owner = allDevices[0]
      try act(Administration(replica: owner.replica), owner.clock.now)
      try handle(owner, .membershipChanged)
    }
  }

  /// Runs the body alone, with errors turned into the kit's.
  func locked<Result>(_ body: () throws -> Result) throws(HouseholdStoreError) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try HouseholdStoreError.translating(body)
  }
}
