import COpenSSL
import HouseholdRecords

/// What a new certificate is to say; `signed` makes it.
struct CertificateDraft {
  /// Whose it is, for people; cut to the 64 characters that X.509 allows.
  var commonName: String
  /// The key it is about.
  var key: KeyHandle
  /// The first moment of validity.
  var notBefore: Instant
  /// The last moment of validity.
  var notAfter: Instant
  /// Extensions in the notation of openssl.cnf, in order.
  var extensions: [(nid: Int32, value: String)]

  /// The certificate, signed by `signer` in the name of `issuer`; without one it is self-signed.
  func signed(by signer: KeyHandle, issuer: CertificateHandle?) throws(TrustError) -> CertificateHandle {
    guard let pointer = unsafe X509_new() else { throw .openSSL(call: "X509_new") }
    let draft = unsafe CertificateHandle(pointer)
    guard unsafe X509_set_version(pointer, 2) == 1, unsafe X509_set_pubkey(pointer, key.pointer) == 1 else {
      throw .openSSL(call: "X509_set_pubkey")
    }
    try setSerial(of: draft)
    try setName(of: draft, issuer: issuer)
    try setDates(of: draft)
    for (nid, value) in extensions {
      guard unsafe household_add_extension(pointer, issuer?.pointer ?? pointer, nid, value) == 1 else {
        throw .openSSL(call: "X509V3_EXT_conf_nid")
      }
    }
    guard unsafe X509_sign(pointer, signer.pointer, nil) > 0 else { throw .openSSL(call: "X509_sign") }
    // Read back, so that nothing OpenSSL remembered from the making can differ from what the bytes say.
    return try CertificateHandle(der: draft.der())
  }

  private func setSerial(of draft: CertificateHandle) throws(TrustError) {
    var bytes = SecureRandom.bytes(16)
    bytes[0] = bytes[0] & 0x7f | 0x40
    guard let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) else { throw .openSSL(call: "BN_bin2bn") }
    defer { unsafe BN_free(number) }
    guard unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(draft.pointer)) != nil else {
      throw .openSSL(call: "BN_to_ASN1_INTEGER")
    }
  }

  private func setName(of draft: CertificateHandle, issuer: CertificateHandle?) throws(TrustError) {
    let text = Array(String(commonName.unicodeScalars.prefix(64).map(Character.init)).utf8)
    guard let subject = unsafe X509_get_subject_name(draft.pointer),
      unsafe household_add_common_name(subject, text, Int32(text.count)) == 1,
      let issuerName = unsafe issuer.map({ unsafe X509_get_subject_name($0.pointer) }) ?? subject,
      unsafe X509_set_issuer_name(draft.pointer, issuerName) == 1
    else { throw .openSSL(call: "X509_set_issuer_name") }
  }

  private func setDates(of draft: CertificateHandle) throws(TrustError) {
    guard unsafe ASN1_TIME_set(X509_getm_notBefore(draft.pointer), seconds(notBefore)) != nil,
      unsafe ASN1_TIME_set(X509_getm_notAfter(draft.pointer), seconds(notAfter)) != nil
    else { throw .openSSL(call: "ASN1_TIME_set") }
  }

  /// X.509 writes the years 1950 to 9999 only; a clock beyond them is wrong and still makes a certificate.
  private func seconds(_ instant: Instant) -> Int {
    Int(min(max(instant.milliseconds / 1000, -631_152_000), 253_402_300_799))
  }
}

/// Lengths of time that certificates use, in milliseconds.
enum Validity {
  static let day: Int64 = 86_400_000
  static let year: Int64 = 365 * day + day / 4
}
