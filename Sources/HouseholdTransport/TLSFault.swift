import COpenSSL

/// Why a TLS session cannot go on.
package enum TLSFault: Error, Hashable, Sendable {
  /// The peer ended it with this alert (RFC 8446, section 6.2).
  case alert(UInt8)
  /// We refused the peer's certificate.
  case refusedPeer(PeerRefusal)
  /// The peer showed no certificate that a household could use.
  case noCertificate
  /// What came is not TLS.
  case notTLS
  /// The peer speaks an older TLS only.
  case oldVersion
  /// The peer offers no application that we have.
  case noApplication
  /// Anything else, in OpenSSL's words.
  case failed(String)

  /// What stands in OpenSSL's error queue, which is empty afterwards.
  static func taken(refusal: PeerRefusal?) -> TLSFault {
    let code = ERR_peek_error()
    defer { ERR_clear_error() }
    if let refusal { return .refusedPeer(refusal) }
    guard household_error_library(code) == ERR_LIB_SSL else { return .failed(text(code)) }
    let reason = household_error_reason(code)
    switch reason {
    case SSL_AD_REASON_OFFSET..<SSL_AD_REASON_OFFSET + 256: return .alert(UInt8(reason - SSL_AD_REASON_OFFSET))
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return .noCertificate
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_NO_PROTOCOLS_AVAILABLE: return .oldVersion
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST,
      SSL_R_RECORD_TOO_SMALL, SSL_R_PACKET_LENGTH_TOO_LONG:
      return .notTLS
    case SSL_R_NO_APPLICATION_PROTOCOL: return .noApplication
    default: return .failed(text(code))
    }
  }

  private static func text(_ code: UInt) -> String {
    guard let reason = unsafe ERR_reason_error_string(code) else { return "error \(code)" }
    return unsafe String(cString: reason)
  }
}

extension TLSFault: CustomStringConvertible {
  /// One sentence.
  package var description: String {
    switch self {
    case .alert(let number): "The peer refused the connection: \(Self.meaning(ofAlert: number))."
    case .refusedPeer(.otherHousehold): "The peer's certificate belongs to another household."
    case .refusedPeer(.malformed(let text)): "The peer's certificate is not valid: \(text)"
    case .noCertificate: "The peer showed no certificate that a household can use."
    case .notTLS: "The peer does not speak TLS."
    case .oldVersion: "The peer speaks an older TLS than 1.3."
    case .noApplication: "The peer does not speak the household protocol."
    case .failed(let text): "The TLS connection failed: \(text)."
    }
  }

  /// What an alert means between two households' nodes.
  package static func meaning(ofAlert number: UInt8) -> String {
    switch Int32(number) {
    case SSL_AD_UNKNOWN_CA: "it belongs to another household"
    case SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_UNKNOWN:
      "it does not accept this device's certificate"
    case SSL_AD_CERTIFICATE_REVOKED: "this device was removed"
    case SSL_AD_CERTIFICATE_EXPIRED: "it finds this device's certificate expired"
    case SSL_AD_CERTIFICATE_REQUIRED: "it wants a certificate"
    case SSL_AD_PROTOCOL_VERSION: "it speaks another version of TLS"
    case SSL_AD_NO_APPLICATION_PROTOCOL: "it does not speak this version of the household protocol"
    case SSL_AD_HANDSHAKE_FAILURE: "no common way to connect was found"
    default: "TLS alert \(number)"
    }
  }
}
