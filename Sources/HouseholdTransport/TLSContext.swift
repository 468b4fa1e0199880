import COpenSSL
import HouseholdRecords

/// The certificate that this node shows, and its key.
package struct TLSIdentity: Sendable, CustomStringConvertible {
  let certificate: [UInt8]
  let privateKey: [UInt8]

  /// - Parameters:
  ///   - certificate: X.509, DER.
  ///   - privateKey: PKCS#8, DER, Ed25519.
  package init(certificate: [UInt8], privateKey: [UInt8]) {
    self.certificate = certificate
    self.privateKey = privateKey
  }

  /// A fixed text: the key is never printed.
  package var description: String { "TLS identity" }
}

/// What all TLS sessions of a node have in common: TLS 1.3 only, mutual Ed25519 certificates, nothing resumed.
///
/// Unchecked: OpenSSL counts references to a context and locks it; nothing here changes after `init`.
@safe package final class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer
  let verification: any PeerVerification
  let applications: Set<LinkApplication>

  /// - Parameters:
  ///   - applications: what others may dial this node for.
  ///   - verification: judges every certificate that is shown.
  package init(
    identity: TLSIdentity, applications: Set<LinkApplication>, verification: any PeerVerification
  ) throws(TLSFault) {
    guard let pointer = unsafe SSL_CTX_new(TLS_method()) else { throw .taken(refusal: nil) }
    unsafe self.pointer = pointer
    self.verification = verification
    self.applications = applications
    try setUp()
    let (certificate, key) = (identity.certificate, identity.privateKey)
    guard unsafe SSL_CTX_use_certificate_ASN1(pointer, Int32(certificate.count), certificate) == 1,
      unsafe SSL_CTX_use_PrivateKey_ASN1(EVP_PKEY_ED25519, pointer, key, key.count) == 1,
      unsafe SSL_CTX_check_private_key(pointer) == 1
    else { throw .taken(refusal: nil) }
    unsafe SSL_CTX_set_cert_verify_callback(pointer, { store, _ in unsafe judge(store) }, nil)
    unsafe SSL_CTX_set_alpn_select_cb(
      pointer,
      { _, chosen, count, offered, offeredCount, context in
        guard let context = unsafe context, let offered = unsafe offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        let owner = unsafe Unmanaged<TLSContext>.fromOpaque(context).takeUnretainedValue()
        let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredCount))
        guard let range = owner.choice(among: unsafe Array(list)) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        unsafe chosen?.pointee = offered + range.lowerBound
        unsafe count?.pointee = UInt8(range.count)
        return SSL_TLSEXT_ERR_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { unsafe SSL_CTX_free(pointer) }

  private func setUp() throws(TLSFault) {
    guard unsafe household_only_tls13(pointer) == 1,
      unsafe SSL_CTX_set_ciphersuites(pointer, "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1,
      unsafe household_signature_algorithms(pointer, "ed25519") == 1, unsafe SSL_CTX_set_num_tickets(pointer, 0) == 1
    else { throw .taken(refusal: nil) }
    unsafe household_no_resumption(pointer)
    unsafe household_release_buffers(pointer)
    unsafe household_bound_peer_certificates(pointer, Limits.shownCertificateBytes)
    unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
  }

  /// Where in the offered list (length, name, length, name...) the first name stands that we have.
  private func choice(among offered: [UInt8]) -> Range<Int>? {
    var start = 0
    while start < offered.count {
      let name = start + 1..<start + 1 + Int(offered[start])
      guard name.upperBound <= offered.count else { return nil }
      let text = String(decoding: offered[name], as: UTF8.self)
      if let application = LinkApplication(rawValue: text), applications.contains(application) { return name }
      start = name.upperBound
    }
    return nil
  }
}

/// OpenSSL's question about the peer's certificate: 1 lets the handshake go on.
private func judge(_ store: OpaquePointer?) -> Int32 {
  guard let store = unsafe store,
    let ssl = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
    let data = unsafe SSL_get_ex_data(OpaquePointer(ssl), 0)
  else { return 0 }
  let session = unsafe Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
  let shown = unsafe encoded(X509_STORE_CTX_get0_cert(store))
  let error = session.judge(certificate: shown, count: unsafe Int(household_shown_certificates(store)))
  unsafe X509_STORE_CTX_set_error(store, error)
  return error == X509_V_OK ? 1 : 0
}

/// A certificate and its public key, both in DER; empty when there is none.
struct ShownCertificate {
  var certificate: [UInt8]
  var publicKey: [UInt8]
}

private func encoded(_ certificate: OpaquePointer?) -> ShownCertificate {
  guard let certificate = unsafe certificate else { return ShownCertificate(certificate: [], publicKey: []) }
  return unsafe ShownCertificate(
    certificate: bytes { unsafe i2d_X509(certificate, $0) },
    publicKey: bytes { unsafe i2d_PUBKEY(X509_get0_pubkey(certificate), $0) })
}

private func bytes(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8] {
  var start: UnsafeMutablePointer<UInt8>?
  let count = unsafe encode(&start)
  guard count > 0, let start = unsafe start else { return [] }
  defer { unsafe CRYPTO_free(start, #file, #line) }
  return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
}
