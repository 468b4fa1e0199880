import HouseholdRecords
import HouseholdSync
import Testing

/// What nodes call out in the local network (P16).
struct BeaconTests {
  /// Names, not strength: what is proved here is what goes into the tag.
  private struct Hashing: Cryptography {
    func sha256(_ bytes: [UInt8]) -> [UInt8] {
      let hash: EntryHash = testHash(bytes)
      return hash.bytes
    }

    func isValid(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool { false }
    func isDeviceCertificate(_ certificate: [UInt8], publicKey: [UInt8], sharePublicKey: [UInt8]) -> Bool { false }
  }

  private let key = DiscoveryKey(genesis: [1, 2, 3], cryptography: Hashing())
  private let devices = (0..<3).map(SimulatedNetwork.device)

  private func beacon(of index: Int, salt: UInt8 = 5) -> [UInt8] {
    Beacon.bytes(
      of: devices[index], port: 7411, salt: [UInt8](repeating: salt, count: Beacon.saltBytes), key: key,
      cryptography: Hashing())
  }

  private func read(_ bytes: [UInt8], key: DiscoveryKey? = nil, of known: [DeviceID]? = nil) -> DeviceID? {
    Beacon.read(bytes, of: known ?? devices, key: key ?? self.key, cryptography: Hashing())?.device
  }

  @Test func `members know whose beacon it is, and the port (P16)`() {
    let found = Beacon.read(beacon(of: 1), of: devices, key: key, cryptography: Hashing())

    #expect(found?.device == devices[1] && found?.port == 7411)
    #expect(read(beacon(of: 1), of: [devices[0], devices[2]]) == nil)
  }

  @Test func `another household's members know nothing (P16)`() {
    #expect(read(beacon(of: 1), key: DiscoveryKey(genesis: [1, 2, 4], cryptography: Hashing())) == nil)
  }

  @Test func `a beacon that was changed in any byte, cut or lengthened is none (P16, R8)`() {
    let whole = beacon(of: 0)
    for index in whole.indices {
      var changed = whole
      changed[index] ^= 1
      #expect(read(changed) == nil, "byte \(index)")
      #expect(read(Array(whole.prefix(index))) == nil)
    }
    #expect(read(whole + [0]) == nil)
    #expect(whole.count == Beacon.byteCount && whole.count <= Limits.beaconBytes)
  }

  @Test func `two beacons of one device share nothing but what all have (P16)`() {
    let (first, second) = (beacon(of: 0, salt: 5), beacon(of: 0, salt: 6))
    let open = Beacon.byteCount - 16

    #expect(first.prefix(6) == second.prefix(6))
    #expect(first.suffix(from: open) != second.suffix(from: open))
    #expect(!first.suffix(from: open).contains(devices[0].bytes))
  }
}
