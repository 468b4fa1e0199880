internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
internal import HouseholdTransport
internal import HouseholdTrust

/// Finds the household's other devices in the local network: calls out while one is missing, and tells where one was
/// heard.
///
/// On the replica's thread, like the driver. Unchecked for the same reason.
final class Discovery: @unchecked Sendable {
  private let driver: SyncDriver
  private let keeper: LinkKeeper
  private var socket: BeaconSocket?
  private var key: DiscoveryKey?
  /// Where this node listens.
  private var listening: SocketAddress?
  private var interfaces: [InterfaceAddress] = []
  /// How many seconds in a row a beacon goes out, after a start or a change of the network.
  private var burst = 0
  private var seconds = 0
  /// How many more beacons are looked at in this second.
  private var budget = Limits.beaconsPerSecond
  /// For doctor.
  private(set) var facts = LiveFacts.Search()

  /// After a change one beacon may be lost while the network settles, hardly three.
  private static let burstSeconds = 3
  /// How often a device that misses another calls, in seconds.
  private static let calmSeconds = 10

  init(driver: SyncDriver, keeper: LinkKeeper) {
    self.driver = driver
    self.keeper = keeper
    do {
      socket = try BeaconSocket(loop: driver.loop) { [weak self] datagram, host in self?.heard(datagram, from: host) }
    } catch {
      facts.error = error.description
      driver.log.problem("other devices cannot be looked for in the local network", ["error": error.description])
    }
  }

  /// Where this node listens from now on.
  func listens(at address: SocketAddress) {
    listening = address
    interfaces = []
  }

  func stop() {
    socket?.close()
    socket = nil
  }

  /// Calls out if it is time; called about once a second with the addresses of this machine.
  func tick(_ addresses: [InterfaceAddress]) {
    budget = Limits.beaconsPerSecond
    guard let socket, let listening else { return }
    let now = Self.reached(addresses, listening: listening.host)
    if now != interfaces {
      interfaces = now
      burst = Self.burstSeconds
      socket.join(now)
    }
    seconds += 1
    let isDue = burst > 0 || seconds % Self.calmSeconds == 0
    burst = max(0, burst - 1)
    guard isDue, !missing.isEmpty, let key = discoveryKey() else { return }
    socket.send(
      Beacon.bytes(
        of: driver.replica.identity.device, port: listening.port, salt: SecureRandom.bytes(Beacon.saltBytes), key: key,
        cryptography: OpenSSLCryptography()), over: now)
  }

  /// The devices that belong and have no link to this one.
  private var missing: [DeviceID] {
    let membership = driver.replica.membershipNow
    let own = driver.replica.identity.device
    guard membership.admits(own) else { return [] }
    return membership.devices.keys.sorted().filter {
      $0 != own && membership.admits($0) && !driver.isConnected($0)
    }
  }

  private func heard(_ datagram: [UInt8], from host: String) {
    guard budget > 0 else { return }
    budget -= 1
    guard let key = discoveryKey(),
      let found = Beacon.read(datagram, of: missing, key: key, cryptography: OpenSSLCryptography())
    else { return }
    facts.heard[found.device.description] = SystemClock.now.milliseconds
    keeper.found(found.device, at: SocketAddress(host: host, port: found.port))
  }

  private func discoveryKey() -> DiscoveryKey? {
    if let key { return key }
    do {
      guard let genesis = try driver.replica.membershipEntries(except: []).first else { return nil }
      key = DiscoveryKey(genesis: genesis, cryptography: OpenSSLCryptography())
    } catch {
      // It is tried again; what ails the store is told by whoever needs it.
      return nil
    }
    return key
  }

  /// The interfaces over which others may reach a listener at this host, one entry for each interface and family.
  static func reached(_ all: [InterfaceAddress], listening host: String) -> [InterfaceAddress] {
    var seen: Set<[UInt32]> = []
    return all.filter { address in
      let isMeant =
        switch host {
        case "::": !address.isLoopback
        case "0.0.0.0": !address.isLoopback && !address.isIPv6
        default: address.host == host.prefix { $0 != "%" }
        }
      // All addresses of IPv6 on an interface share the group; those of IPv4 have broadcasts of their own.
      return isMeant && (!address.isIPv6 || seen.insert([address.index]).inserted)
    }
  }
}
