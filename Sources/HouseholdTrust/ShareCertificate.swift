import COpenSSL
package import HouseholdRecords

/// The household's authority as a certificate: self-signed, made at `init`, its key's hash is the household's id.
package struct ShareCertificate: Sendable, Hashable {
  /// X.509, DER.
  package let der: [UInt8]
  /// SubjectPublicKeyInfo, DER: what every node pins.
  package let publicKey: [UInt8]
  /// The household that it stands for.
  package let household: HouseholdID
  let handle: CertificateHandle

  /// Reads a share certificate; its dates are not judged (R6).
  package init(der: [UInt8]) throws(TrustError) {
    try self.init(handle: CertificateHandle(der: der), der: der)
  }

  /// Reads the share certificate in a PEM file.
  package init(contentsOf path: String) throws(TrustError) {
    try self.init(der: PEM.decoded(DurableFile(path: path).read(), label: PEM.certificate))
  }

  private init(handle: CertificateHandle, der: [UInt8]) throws(TrustError) {
    let key = try handle.key()
    let unreadable = UInt32(EXFLAG_INVALID | EXFLAG_CRITICAL)
    guard handle.extensionFlags & unreadable == 0, handle.extensionFlags & UInt32(EXFLAG_CA) != 0,
      handle.pathLength == 0, handle.keyUsage == UInt32(KU_KEY_CERT_SIGN), handle.isSigned(by: key)
    else { throw .notAShareCertificate }
    self.handle = handle
    self.der = der
    publicKey = try key.publicKey()
    household = OpenSSLCryptography().householdID(sharePublicKey: publicKey)
  }

  /// A new share certificate for the name, valid for a hundred years.
  package static func make(name: String, key: KeyPair, now: Instant) throws(TrustError) -> Self {
    let draft = CertificateDraft(
      commonName: name.isEmpty ? "household" : name, key: key.handle,
      notBefore: now.advanced(byMilliseconds: -Validity.day),
      notAfter: now.advanced(byMilliseconds: 100 * Validity.year),
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign"),
        (NID_subject_key_identifier, "hash"),
      ])
    return try Self(der: draft.signed(by: key.handle, issuer: nil).der())
  }

  /// Writes the certificate as PEM, durable when this returns.
  package func save(to path: String) throws(TrustError) {
    try DurableFile(path: path).write(PEM.encoded(der, label: PEM.certificate), mode: 0o644)
  }

  package static func == (a: Self, b: Self) -> Bool { a.der == b.der }

  package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

/// The share certificate with its key: what owners hold, and what admits devices.
package struct ShareAuthority: Sendable {
  /// The certificate that everybody knows.
  package let certificate: ShareCertificate
  /// The key that only owners have.
  package let key: KeyPair

  /// Joins a certificate and its key; refuses two that do not belong together.
  package init(certificate: ShareCertificate, key: KeyPair) throws(TrustError) {
    guard key.publicKey == certificate.publicKey else { throw .shareKeyDoesNotFit }
    self.certificate = certificate
    self.key = key
  }

  /// A new household's authority.
  package static func make(name: String, now: Instant) throws(TrustError) -> Self {
    let key = try KeyPair.generate()
    return try Self(certificate: .make(name: name, key: key, now: now), key: key)
  }
}
