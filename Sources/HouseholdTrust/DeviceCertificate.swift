import COpenSSL
package import HouseholdRecords

/// A device's certificate: says, signed by the share, which member's which device holds a key.
package struct DeviceCertificate: Sendable, Hashable {
  /// X.509, DER.
  package let der: [UInt8]
  /// SubjectPublicKeyInfo of the device, DER.
  package let publicKey: [UInt8]
  /// The household that signed it.
  package let household: HouseholdID
  /// The person whose device it is.
  package let member: MemberID
  /// The hash of the public key.
  package let device: DeviceID
  /// The start of validity: for warnings, never for a refusal (R6).
  package let notBefore: Instant
  /// The end of validity: for warnings, never for a refusal (R6).
  package let notAfter: Instant

  /// Reads a certificate and checks everything about it but its dates.
  ///
  /// - Parameter sharePublicKey: SubjectPublicKeyInfo of the share that must have signed it, DER.
  package init(der: [UInt8], sharePublicKey: [UInt8]) throws(TrustError) {
    guard der.count <= Limits.certificateBytes else { throw .certificateTooLarge }
    let share = try KeyHandle(publicKey: sharePublicKey)
    let certificate = try CertificateHandle(der: der)
    let key = try certificate.key()
    guard certificate.isSigned(by: share) else { throw .signedByAnotherShare }
    try Self.checkUse(of: certificate)
    guard let texts = certificate.alternativeURIs, texts.count == 1, let identity = DeviceIdentity(uri: texts[0]) else {
      throw .noSingleIdentity
    }
    let publicKey = try key.publicKey()
    let cryptography = OpenSSLCryptography()
    guard identity.device == cryptography.deviceID(publicKey: publicKey) else { throw .identityOfAnotherKey }
    guard identity.household == cryptography.householdID(sharePublicKey: sharePublicKey) else {
      throw .identityOfAnotherHousehold
    }
    self.der = der
    self.publicKey = publicKey
    household = identity.household
    member = identity.member
    device = identity.device
    notBefore = certificate.notBefore
    notAfter = certificate.notAfter
  }

  /// Reads the certificate in a PEM file.
  package init(contentsOf path: String, sharePublicKey: [UInt8]) throws(TrustError) {
    try self.init(
      der: PEM.decoded(DurableFile(path: path).read(), label: PEM.certificate), sharePublicKey: sharePublicKey)
  }

  /// Writes the certificate as PEM, durable when this returns.
  package func save(to path: String) throws(TrustError) {
    try DurableFile(path: path).write(PEM.encoded(der, label: PEM.certificate), mode: 0o644)
  }

  private static func checkUse(of certificate: CertificateHandle) throws(TrustError) {
    let flags = certificate.extensionFlags
    guard flags & UInt32(EXFLAG_CA) == 0 else { throw .isAnAuthority }
    guard flags & UInt32(EXFLAG_INVALID | EXFLAG_CRITICAL) == 0 else { throw .notACertificate }
    let both = UInt32(XKU_SSL_SERVER | XKU_SSL_CLIENT)
    guard flags & UInt32(EXFLAG_BCONS) != 0, certificate.keyUsage == UInt32(KU_DIGITAL_SIGNATURE),
      certificate.extendedKeyUsage == both
    else { throw .wrongKeyUsage }
  }
}

extension ShareAuthority {
  /// A certificate for the device with this key, valid from a day before now to five years after.
  ///
  /// - Parameter publicKey: SubjectPublicKeyInfo of the device, DER; its owner must have proved to hold the key.
  package func issue(publicKey: [UInt8], member: MemberID, now: Instant) throws(TrustError) -> DeviceCertificate {
    let device = OpenSSLCryptography().deviceID(publicKey: publicKey)
    let identity = DeviceIdentity(household: certificate.household, member: member, device: device)
    let draft = CertificateDraft(
      commonName: "household device \(device.description.prefix(16))", key: try KeyHandle(publicKey: publicKey),
      notBefore: now.advanced(byMilliseconds: -Validity.day),
      notAfter: now.advanced(byMilliseconds: 5 * Validity.year),
      extensions: [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "serverAuth,clientAuth"), (NID_subject_key_identifier, "hash"),
        (NID_authority_key_identifier, "keyid:always"), (NID_subject_alt_name, "URI:" + identity.uri),
      ])
    let signed = try draft.signed(by: key.handle, issuer: certificate.handle)
    return try DeviceCertificate(der: signed.der(), sharePublicKey: certificate.publicKey)
  }

  /// A certificate for whoever made the signing request.
  package func issue(
    for request: SigningRequest, member: MemberID, now: Instant
  ) throws(TrustError) -> DeviceCertificate {
    try issue(publicKey: request.publicKey, member: member, now: now)
  }
}

/// The name in a device certificate: `urn:household:<household>:<member>:<device>`, in lower-case hexadecimal.
struct DeviceIdentity: Hashable, Sendable {
  var household: HouseholdID
  var member: MemberID
  var device: DeviceID

  init(household: HouseholdID, member: MemberID, device: DeviceID) {
    self.household = household
    self.member = member
    self.device = device
  }

  /// Reads the one form that `uri` writes.
  init?(uri: String) {
    let parts = uri.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == "urn", parts[1] == "household", let household = HouseholdID(hex: parts[2]),
      let member = MemberID(hex: parts[3]), let device = DeviceID(hex: parts[4])
    else { return nil }
    self.init(household: household, member: member, device: device)
    guard self.uri.utf8.elementsEqual(uri.utf8) else { return nil }
  }

  var uri: String { "urn:household:\(household):\(member):\(device)" }
}
