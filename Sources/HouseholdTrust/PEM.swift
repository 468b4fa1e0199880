import COpenSSL

/// DER bytes as the text that files and people use, and back.
package enum PEM {
  /// The label of certificates.
  package static let certificate = "CERTIFICATE"
  /// The label of private keys in PKCS#8.
  package static let privateKey = "PRIVATE KEY"
  /// The label of signing requests.
  package static let signingRequest = "CERTIFICATE REQUEST"

  /// The block with this label, lines and all, as UTF-8.
  package static func encoded(_ der: [UInt8], label: String) -> [UInt8] {
    var text = [UInt8](repeating: 0, count: 4 * ((der.count + 2) / 3) + 1)
    let count = unsafe EVP_EncodeBlock(&text, der, Int32(der.count))
    var lines = Array("-----BEGIN \(label)-----\n".utf8)
    for start in stride(from: 0, to: Int(count), by: 64) {
      lines += text[start..<min(start + 64, Int(count))]
      lines.append(UInt8(ascii: "\n"))
    }
    return lines + Array("-----END \(label)-----\n".utf8)
  }

  /// The bytes of the first block, which must have this label.
  package static func decoded(_ text: [UInt8], label: String) throws(TrustError) -> [UInt8] {
    guard text.count <= DurableFile.largestBytes, let bio = unsafe BIO_new_mem_buf(text, Int32(text.count)) else {
      throw .notPEM(label: label)
    }
    defer { unsafe BIO_free(bio) }
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var data: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard unsafe PEM_read_bio(bio, &name, &header, &data, &count) == 1, let name = unsafe name, let data = unsafe data
    else {
      ERR_clear_error()
      throw .notPEM(label: label)
    }
    defer {
      unsafe CRYPTO_free(name, #file, #line)
      unsafe CRYPTO_free(header, #file, #line)
      unsafe CRYPTO_clear_free(data, count, #file, #line)
    }
    guard unsafe String(cString: name) == label else { throw .notPEM(label: label) }
    return unsafe Array(UnsafeBufferPointer(start: data, count: count))
  }
}
