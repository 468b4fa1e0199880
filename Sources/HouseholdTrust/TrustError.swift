/// Why a key, certificate, request or file of the household's identity was refused.
package enum TrustError: Error, Hashable, Sendable {
  /// The bytes are no private or public key in the form we write.
  case notAKey
  /// The key is of another kind than Ed25519.
  case wrongKindOfKey
  /// The text holds no PEM block with this label.
  case notPEM(label: String)
  /// The bytes are no X.509 certificate, or more follows behind it.
  case notACertificate
  /// The certificate is larger than any of ours, and is not looked at.
  case certificateTooLarge
  /// The certificate cannot be that of a share.
  case notAShareCertificate
  /// The share's key and its certificate do not belong together.
  case shareKeyDoesNotFit
  /// The bytes are no certificate signing request, or its signature is not by its own key.
  case notASigningRequest
  /// The certificate was signed by somebody else than this share.
  case signedByAnotherShare
  /// The certificate may sign others, so it is no device's.
  case isAnAuthority
  /// The certificate's key may not be used to show who a device is.
  case wrongKeyUsage
  /// The certificate names no device, several, or one in another form than ours.
  case noSingleIdentity
  /// The certificate names another device than the one whose key it holds.
  case identityOfAnotherKey
  /// The certificate names another household than the one that signed it.
  case identityOfAnotherHousehold
  /// A certificate that is to replace another one is for another key or names somebody else.
  case certificateOfAnother
  /// A certificate that is to replace another one is not valid now, or no longer than that one.
  case certificateOfNoUse
  /// A file could not be read or written.
  case file(path: String, operation: String, errno: Int32)
  /// A file is larger than any of ours.
  case fileTooLarge(path: String)
  /// OpenSSL refused a call that should not fail.
  case openSSL(call: String)
}

extension TrustError: CustomStringConvertible {
  /// One sentence, and where there is something to do, what.
  package var description: String {
    switch self {
    case .notAKey: "This is no Ed25519 key in PKCS#8 or SubjectPublicKeyInfo form; restore the key file from a backup."
    case .wrongKindOfKey: "The key is of another kind than Ed25519, the only one a household uses."
    case .notPEM(let label): "No PEM block \"\(label)\" was found; restore the file from a backup."
    case .notACertificate: "This is no X.509 certificate; restore the file from a backup."
    case .certificateTooLarge: "The certificate is larger than a household's can be; pair the device again."
    case .notAShareCertificate: "The certificate is not that of a share: it must be a self-signed Ed25519 authority."
    case .shareKeyDoesNotFit: "The share's key does not belong to its certificate; restore both from one backup."
    case .notASigningRequest: "The signing request is broken or not signed with its own key; start the pairing again."
    case .signedByAnotherShare: "The certificate was signed by another household; join this one with an invitation."
    case .isAnAuthority: "The certificate is an authority's, not a device's."
    case .wrongKeyUsage: "The certificate's key usage is not that of a device; pair the device again."
    case .noSingleIdentity: "The certificate does not name exactly one device of a household; pair the device again."
    case .identityOfAnotherKey: "The certificate names another device than the one whose key it holds."
    case .identityOfAnotherHousehold: "The certificate names another household than the one that signed it."
    case .certificateOfAnother: "The certificate is for another key or names another member than this device's."
    case .certificateOfNoUse: "The certificate is not valid now, or no longer than the one it would replace."
    case .file(let path, let operation, let number): "Cannot \(operation) \(path): \(systemMessage(number))."
    case .fileTooLarge(let path): "The file \(path) is larger than a key or certificate can be."
    case .openSSL(let call): "OpenSSL refused \(call); the installation of OpenSSL 3 may be broken."
    }
  }
}
