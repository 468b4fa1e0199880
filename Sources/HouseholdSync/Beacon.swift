package import HouseholdRecords

/// What a node calls out in the local network: that some device of some household listens here at a port.
///
/// Only members can tell whose it is, and no two beacons of a device have anything in common but the port: the tag is
/// an HMAC under the discovery key over fresh salt. It names no time, so that no clock keeps devices apart (R6); one
/// that is played again only makes a node dial an address in vain.
package enum Beacon {
  /// The first bytes of a datagram.
  private static let magic: [UInt8] = [0x68, 0x68, 0x62, 0x31]
  /// Fresh for each beacon.
  package static let saltBytes = 12
  private static let tagBytes = 16
  /// The length of a beacon: magic, port, salt, tag.
  package static let byteCount = 4 + 2 + saltBytes + tagBytes

  /// A datagram that says where this device listens.
  package static func bytes(
    of device: DeviceID, port: UInt16, salt: [UInt8], key: DiscoveryKey, cryptography: any Cryptography
  ) -> [UInt8] {
    precondition(salt.count == saltBytes, "a beacon has salt of one length")
    let open = magic + [UInt8(port >> 8), UInt8(port & 255)] + salt
    return open + key.authenticate(open + device.bytes, cryptography).prefix(tagBytes)
  }

  /// Whose beacon a datagram is, of these devices, and the port; nil if it is none of theirs.
  package static func read(
    _ bytes: [UInt8], of devices: some Sequence<DeviceID>, key: DiscoveryKey, cryptography: any Cryptography
  ) -> (device: DeviceID, port: UInt16)? {
    guard bytes.count == byteCount, Array(bytes.prefix(4)) == magic else { return nil }
    let open = Array(bytes.dropLast(tagBytes))
    let port = UInt16(bytes[4]) << 8 | UInt16(bytes[5])
    guard port > 0 else { return nil }
    for device in devices
    where key.authenticate(open + device.bytes, cryptography).prefix(tagBytes).elementsEqual(bytes.suffix(tagBytes)) {
      return (device, port)
    }
    return nil
  }
}

/// What the members of a household recognise each other's beacons by.
package struct DiscoveryKey: Hashable, Sendable {
  private let bytes: [UInt8]

  /// Derives it from the bytes of the first membership entry, with its signature: only members ever get them.
  package init(genesis: [UInt8], cryptography: any Cryptography) {
    bytes = cryptography.sha256(Array("household discovery 1".utf8) + genesis)
  }

  /// HMAC-SHA-256 (RFC 2104).
  func authenticate(_ message: [UInt8], _ cryptography: any Cryptography) -> [UInt8] {
    let key = bytes + [UInt8](repeating: 0, count: 64 - bytes.count)
    let inner = cryptography.sha256(key.map { $0 ^ 0x36 } + message)
    return cryptography.sha256(key.map { $0 ^ 0x5C } + inner)
  }
}
