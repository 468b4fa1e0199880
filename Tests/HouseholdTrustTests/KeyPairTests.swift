import Foundation
import HouseholdRecords
import HouseholdTrust
import Testing

@Suite struct KeyPairTests {
  @Test func `a key file is readable by its owner only and reads back`() throws {
    let directory = try TemporaryDirectory()
    let key = try KeyPair.generate()
    let path = directory.path("device.key")

    try key.save(to: path)
    try key.save(to: path)

    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try KeyPair(contentsOf: path).publicKey == key.publicKey)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["device.key"])
  }

  @Test func `the openssl program reads our key and names the same public key`() throws {
    let directory = try TemporaryDirectory()
    let key = try KeyPair.generate()
    try key.save(to: directory.path("device.key"))

    let verdict = try openssl(
      "pkey", "-in", directory.path("device.key"), "-pubout", "-outform", "DER", "-out", directory.path("public.der"))

    #expect(verdict.succeeded, "\(verdict.output)")
    #expect(try DurableFile(path: directory.path("public.der")).read() == key.publicKey)
  }

  @Test func `printing a key pair never shows the private half`() throws {
    let key = try KeyPair.generate()
    let secret = try hexadecimal(key.privateKey().suffix(32))
    var dumped = ""

    dump(key, to: &dumped)

    for text in [dumped, "\(key)", String(reflecting: key)] { #expect(!text.contains(secret)) }
    #expect("\(key)" == "key \(key.device)")
  }

  @Test func `a missing or broken key file gives a sentence`() throws {
    let directory = try TemporaryDirectory()
    try DurableFile(path: directory.path("broken.key")).write(Array("-----BEGIN".utf8), mode: 0o600)

    #expect(throws: TrustError.notPEM(label: "PRIVATE KEY")) { try KeyPair(contentsOf: directory.path("broken.key")) }
    #expect(throws: TrustError.file(path: directory.path("none"), operation: "open", errno: ENOENT)) {
      try KeyPair(contentsOf: directory.path("none"))
    }
    #expect(throws: TrustError.notAKey) { try KeyPair(contentsOf: Fixtures.path("Hostile/rsa.key")) }
  }
}

@Suite struct SignatureTests {
  let cryptography = OpenSSLCryptography()

  @Test func `RFC 8032 test 2 is signed and verified`() throws {
    let seed = try #require(bytes(hex: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
    let prefix = try #require(bytes(hex: "302e020100300506032b657004220420"))
    let expected =
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    let key = try KeyPair(privateKey: prefix + seed)

    let signature = try key.signature(of: [0x72])

    #expect(hexadecimal(signature) == expected)
    #expect(cryptography.isValid(signature: signature, message: [0x72], publicKey: key.publicKey))
    #expect(!cryptography.isValid(signature: signature, message: [0x73], publicKey: key.publicKey))
    #expect(!cryptography.isValid(signature: Array(signature.dropLast()), message: [0x72], publicKey: key.publicKey))
    #expect(!cryptography.isValid(signature: signature, message: [0x72], publicKey: Array(key.publicKey.dropLast())))
    #expect(!cryptography.isValid(signature: [], message: [], publicKey: []))
  }

  @Test func `SHA-256 of the empty message is the known one`() {
    #expect(
      hexadecimal(cryptography.sha256([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test func `a guest certificate holds the guest's key and is no device's`() throws {
    let key = try KeyPair.generate()

    let certificate = try GuestCertificate.make(for: key, now: noon)

    #expect(try GuestCertificate.publicKey(of: certificate) == key.publicKey)
    #expect(throws: TrustError.noSingleIdentity) {
      try DeviceCertificate(der: certificate, sharePublicKey: key.publicKey)
    }
    #expect(throws: TrustError.wrongKindOfKey) {
      try GuestCertificate.publicKey(of: Fixtures.certificate("Hostile/rsa.pem"))
    }
  }
}

@Suite struct PairingSecretTests {
  @Test func `both sides prove the same code and no other`() throws {
    let host = try PairingSecret(code: Array("K3QZ7PW2M9XA".utf8), salt: Array("salt".utf8))
    let guest = try PairingSecret(code: Array("K3QZ7PW2M9XA".utf8), salt: Array("salt".utf8))
    let stranger = try PairingSecret(code: Array("K3QZ7PW2M9XB".utf8), salt: Array("salt".utf8))

    let proof = guest.proof(of: [1, 2, 3])

    #expect(host.isProof(proof, of: [1, 2, 3]))
    #expect(!host.isProof(proof, of: [1, 2, 4]))
    #expect(!stranger.isProof(proof, of: [1, 2, 3]))
    #expect(!host.isProof([], of: [1, 2, 3]))
  }

  @Test func `RFC 4231 test 2 of HMAC-SHA256 holds`() {
    let code = messageAuthenticationCode(key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8))

    #expect(hexadecimal(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test func `more keys than are kept ready are checked one after another, each against its own`() throws {
    let cryptography = OpenSSLCryptography()
    let keys = try (0..<40).map { _ in try KeyPair.generate() }
    let message: [UInt8] = [1, 2, 3]
    let signatures = try keys.map { try $0.signature(of: message) }

    for _ in 0..<2 {
      for (index, key) in keys.enumerated() {
        let other = signatures[(index + 1) % keys.count]
        #expect(cryptography.isValid(signature: signatures[index], message: message, publicKey: key.publicKey))
        #expect(!cryptography.isValid(signature: other, message: message, publicKey: key.publicKey))
      }
    }
    #expect(try keys[0].signature(of: message) == signatures[0])
  }
}
