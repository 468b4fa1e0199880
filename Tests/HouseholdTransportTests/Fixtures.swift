import Foundation
import HouseholdRecords
import HouseholdTransport
import HouseholdTrust

/// The certificates in `Certificates/`, which `Certificates/generate` makes.
enum Fixtures {
  static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Certificates")

  static func path(_ name: String) -> String { directory.appending(path: name).path }

  static func certificate(_ name: String) throws -> [UInt8] {
    try PEM.decoded(DurableFile(path: path(name)).read(), label: PEM.certificate)
  }

  /// What a node shows that has this certificate and this key.
  static func identity(_ certificate: String, key: String) throws -> TLSIdentity {
    TLSIdentity(
      certificate: try Self.certificate(certificate), privateKey: try KeyPair(contentsOf: path(key)).privateKey())
  }

  static func verification() throws -> ShareVerification {
    ShareVerification(sharePublicKey: try ShareCertificate(contentsOf: path("Household/share.pem")).publicKey)
  }

  /// A TLS context of the test household.
  static func context(
    _ certificate: String = "Household/anna.pem", key: String = "Household/anna.key",
    applications: Set<LinkApplication> = [.household, .pairing]
  ) throws -> TLSContext {
    try TLSContext(
      identity: identity(certificate, key: key), applications: applications, verification: verification())
  }

  static func bert() throws -> TLSContext { try context("Household/bert.pem", key: "Household/bert.key") }

  /// A context whose certificate is one of the hostile ones.
  static func hostile(_ name: String) throws -> TLSContext {
    try context("Hostile/\(name).pem", key: "Hostile/device.key")
  }
}

/// The verification that the node makes of `HouseholdTrust`.
struct ShareVerification: PeerVerification {
  let sharePublicKey: [UInt8]
  var acceptsHosts = true

  func device(of certificate: [UInt8]) throws(PeerRefusal) -> VerifiedDevice {
    do throws(TrustError) {
      let certificate = try DeviceCertificate(der: certificate, sharePublicKey: sharePublicKey)
      return VerifiedDevice(device: certificate.device, member: certificate.member)
    } catch {
      throw error == .signedByAnotherShare ? .otherHousehold : .malformed(error.description)
    }
  }

  func accepts(host certificate: [UInt8], publicKey: [UInt8]) -> Bool { acceptsHosts }
}

/// Runs blocking work where it holds up no test.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
  }
}
