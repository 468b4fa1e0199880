import COpenSSL
import HouseholdRecords

/// Owns one X.509 certificate of OpenSSL's.
///
/// Unchecked: nothing changes a certificate after it was made or read; what OpenSSL works out late, it does under a lock.
@safe final class CertificateHandle: @unchecked Sendable {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

  deinit { unsafe X509_free(pointer) }

  /// The certificate with this DER form, nothing behind it.
  convenience init(der: [UInt8]) throws(TrustError) {
    let certificate = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var cursor = buffer.baseAddress
      guard let read = unsafe d2i_X509(nil, &cursor, buffer.count) else { return nil }
      guard unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) else {
        unsafe X509_free(read)
        return nil
      }
      return unsafe read
    }
    ERR_clear_error()
    guard let certificate = unsafe certificate else { throw .notACertificate }
    unsafe self.init(certificate)
  }

  /// The DER form.
  func der() throws(TrustError) -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_X509(pointer, &bytes)
    guard count > 0, let bytes = unsafe bytes else { throw .openSSL(call: "i2d_X509") }
    defer { unsafe CRYPTO_free(bytes, #file, #line) }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  /// The key that the certificate is about.
  func key() throws(TrustError) -> KeyHandle { try unsafe KeyHandle(taking: X509_get_pubkey(pointer)) }

  /// Whether the certificate was signed, with Ed25519, by this key.
  func isSigned(by key: KeyHandle) -> Bool {
    defer { ERR_clear_error() }
    return unsafe X509_get_signature_nid(pointer) == NID_ED25519 && X509_verify(pointer, key.pointer) == 1
  }

  /// OpenSSL's judgement of the extensions, `EXFLAG_...`.
  var extensionFlags: UInt32 { unsafe X509_get_extension_flags(pointer) }
  /// The key usage, `X509v3_KU_...`; all bits when the extension is missing.
  var keyUsage: UInt32 { unsafe X509_get_key_usage(pointer) }
  /// The extended key usage, `XKU_...`; all bits when the extension is missing.
  var extendedKeyUsage: UInt32 { unsafe X509_get_extended_key_usage(pointer) }
  /// How many authorities may stand below this one; -1 when unbounded.
  var pathLength: Int { unsafe X509_get_pathlen(pointer) }

  /// The texts of all alternative names that are URIs; nil if there is a name of another kind, or no list.
  var alternativeURIs: [String]? {
    guard let names = unsafe household_alternative_names(pointer) else {
      ERR_clear_error()
      return nil
    }
    defer { unsafe GENERAL_NAMES_free(names) }
    var texts: [String] = []
    for index in unsafe 0..<household_name_count(names) {
      guard let uri = unsafe household_name_uri(names, index), let start = unsafe ASN1_STRING_get0_data(uri) else {
        return nil
      }
      let count = unsafe Int(ASN1_STRING_length(uri))
      texts.append(unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    }
    return texts
  }

  /// The start of validity.
  var notBefore: Instant { unsafe instant(X509_get0_notBefore(pointer)) }
  /// The end of validity.
  var notAfter: Instant { unsafe instant(X509_get0_notAfter(pointer)) }

  private func instant(_ time: UnsafePointer<ASN1_TIME>?) -> Instant {
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return Instant(milliseconds: 0) }
    defer { unsafe ASN1_STRING_free(epoch) }
    _ = unsafe ASN1_TIME_diff(&days, &seconds, epoch, time)
    return Instant(milliseconds: (Int64(days) * 86_400 + Int64(seconds)) * 1000)
  }
}
