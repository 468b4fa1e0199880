import COpenSSL
package import HouseholdRecords

/// What a device shows in TLS before any share has signed for it: self-signed, says nothing but "I hold this key".
package enum GuestCertificate {
  /// The certificate as X.509 in DER.
  package static func make(for keyPair: KeyPair, now: Instant) throws(TrustError) -> [UInt8] {
    let draft = CertificateDraft(
      commonName: "household guest \(keyPair.device.description.prefix(16))", key: keyPair.handle,
      notBefore: now.advanced(byMilliseconds: -Validity.day), notAfter: now.advanced(byMilliseconds: Validity.year),
      extensions: [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "serverAuth,clientAuth"),
      ])
    return try draft.signed(by: keyPair.handle, issuer: nil).der()
  }

  /// The public key (SubjectPublicKeyInfo, DER) in any Ed25519 certificate, whoever signed it.
  package static func publicKey(of certificate: [UInt8]) throws(TrustError) -> [UInt8] {
    try CertificateHandle(der: certificate).key().publicKey()
  }
}
