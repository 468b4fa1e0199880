internal import HouseholdSync
internal import HouseholdTrust

/// Gives the pairing the cryptography of `HouseholdTrust`: siblings do not import one another.
struct PairingTrust: PairingCryptography {
  func pairingKey(code: [UInt8], salt: [UInt8]) -> [UInt8] {
    do {
      return try PairingSecret(code: code, salt: salt).key
    } catch {
      preconditionFailure("scrypt needs 32 MiB of memory and OpenSSL 3: \(error)")
    }
  }

  func authenticationCode(key: [UInt8], message: [UInt8]) -> [UInt8] {
    messageAuthenticationCode(key: key, message: message)
  }

  func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool { areEqualInConstantTime(a, b) }
}
