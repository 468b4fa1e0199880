import COpenSSL

/// One TLS session as bytes in, bytes out: it knows no socket, so two of them can talk in memory.
///
/// Belongs to one thread. What has come goes in by `receive`, what must go is taken by `takeOutput`.
@safe package final class TLSSession {
  /// What reading gave.
  package enum ReadOutcome: Equatable {
    /// So many bytes stand at the start of the buffer.
    case bytes(Int)
    /// Nothing more until more has come.
    case wantsMore
    /// The peer said that it will send no more.
    case closed
  }

  /// What the peer showed, once the handshake is done.
  package private(set) var peerCertificate: [UInt8] = []
  /// The peer's SubjectPublicKeyInfo, DER.
  package private(set) var peerPublicKey: [UInt8] = []
  /// Who the peer is, on a `household/1` session.
  package private(set) var peer: VerifiedDevice?
  /// Whether this end began.
  package let isDialling: Bool

  private let pointer: OpaquePointer
  private let context: TLSContext
  private let input: OpaquePointer
  private let output: OpaquePointer
  private var refusal: PeerRefusal?

  /// - Parameter application: what this end dials for; nil at the end that accepts.
  package init(context: TLSContext, dialling application: LinkApplication?) throws(TLSFault) {
    guard let pointer = unsafe SSL_new(context.pointer), let input = unsafe BIO_new(BIO_s_mem()),
      let output = unsafe BIO_new(BIO_s_mem())
    else { throw .taken(refusal: nil) }
    unsafe SSL_set_bio(pointer, input, output)
    unsafe (self.pointer, self.input, self.output) = unsafe (pointer, input, output)
    self.context = context
    isDialling = application != nil
    unsafe SSL_set_ex_data(pointer, 0, Unmanaged.passUnretained(self).toOpaque())
    if let application {
      let name = Array(application.rawValue.utf8)
      let list = [UInt8(name.count)] + name
      guard unsafe SSL_set_alpn_protos(pointer, list, UInt32(list.count)) == 0 else { throw .taken(refusal: nil) }
      unsafe SSL_set_connect_state(pointer)
    } else {
      unsafe SSL_set_accept_state(pointer)
    }
  }

  deinit { unsafe SSL_free(pointer) }

  /// What was agreed to talk about; nil before the hellos, and when the peer speaks none of ours.
  package var application: LinkApplication? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(pointer, &name, &count)
    let text = unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    return LinkApplication(rawValue: text)
  }

  /// Takes bytes that came from the peer.
  package func receive(_ bytes: ArraySlice<UInt8>) throws(TLSFault) {
    guard !bytes.isEmpty else { return }
    let taken = unsafe bytes.withUnsafeBytes { unsafe BIO_write(input, $0.baseAddress, Int32($0.count)) }
    guard Int(taken) == bytes.count else { throw .failed("out of memory") }
  }

  /// Goes on with the handshake; true once it is done at this end.
  ///
  /// At the end that dialled, the peer may still refuse our certificate: that shows when reading.
  package func handshake() throws(TLSFault) -> Bool {
    ERR_clear_error()
    let result = unsafe SSL_do_handshake(pointer)
    if result == 1 {
      guard application != nil else { throw .noApplication }
      return true
    }
    switch unsafe SSL_get_error(pointer, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return false
    default: throw .taken(refusal: refusal)
    }
  }

  /// Reads what the peer wrote into the start of `buffer`.
  package func read(into buffer: inout [UInt8]) throws(TLSFault) -> ReadOutcome {
    ERR_clear_error()
    let result = unsafe SSL_read(pointer, &buffer, Int32(buffer.count))
    if result > 0 { return .bytes(Int(result)) }
    switch unsafe SSL_get_error(pointer, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wantsMore
    case SSL_ERROR_ZERO_RETURN: return .closed
    default: throw .taken(refusal: nil)
    }
  }

  /// Encrypts the bytes for the peer.
  package func write(_ bytes: [UInt8]) throws(TLSFault) {
    guard !bytes.isEmpty else { return }
    ERR_clear_error()
    let result = unsafe SSL_write(pointer, bytes, Int32(bytes.count))
    guard Int(result) == bytes.count else { throw .taken(refusal: nil) }
  }

  /// Appends what must go to the peer; false if there was nothing.
  @discardableResult
  package func takeOutput(into bytes: inout [UInt8]) -> Bool {
    let pending = unsafe household_pending(output)
    guard pending > 0 else { return false }
    let piece = unsafe [UInt8](unsafeUninitializedCapacity: pending) { buffer, count in
      count = unsafe Int(BIO_read(output, buffer.baseAddress, Int32(pending)))
    }
    precondition(piece.count == pending, "a memory BIO gives what it holds")
    if bytes.isEmpty { bytes = piece } else { bytes += piece }
    return true
  }

  /// Says that this end will send no more.
  package func close() {
    unsafe SSL_shutdown(pointer)
    ERR_clear_error()
  }

  /// 32 bytes that both ends of this session and nobody else have (RFC 8446, section 7.5), for the pairing.
  package func pairingExporter() throws(TLSFault) -> [UInt8] {
    let label = "EXPORTER-household-pair"
    var material = [UInt8](repeating: 0, count: 32)
    guard
      unsafe SSL_export_keying_material(pointer, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1
    else { throw .taken(refusal: nil) }
    return material
  }

  /// Judges what the peer showed; gives OpenSSL's code for the alert.
  func judge(certificate shown: ShownCertificate, count: Int) -> Int32 {
    peerCertificate = shown.certificate
    peerPublicKey = shown.publicKey
    switch application {
    case .household:
      do throws(PeerRefusal) {
        peer = try context.verification.device(of: shown.certificate)
        return X509_V_OK
      } catch {
        refusal = error
        // The first becomes the alert unknown_ca, the second bad_certificate.
        return error == .otherHousehold
          ? X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY : X509_V_ERR_CERT_REJECTED
      }
    case .pairing:
      if count == 1, !isDialling || context.verification.accepts(host: shown.certificate, publicKey: shown.publicKey) {
        return X509_V_OK
      }
      refusal = count == 1 ? .otherHousehold : .malformed("A guest shows exactly one certificate.")
      return count == 1 ? X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY : X509_V_ERR_CERT_REJECTED
    case nil:
      refusal = .malformed("The peer speaks no protocol of a household.")
      return X509_V_ERR_APPLICATION_VERIFICATION
    }
  }
}
