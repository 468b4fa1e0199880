import HouseholdRecords
import HouseholdTrust
import Testing

@Suite struct DeviceCertificateTests {
  @Test func `a device certificate says household, member and device`() throws {
    let authority = try ShareAuthority.make(name: "Elm Street", now: noon)
    let key = try KeyPair.generate()
    let member = someMember()

    let certificate = try authority.issue(for: .make(for: key), member: member, now: noon)

    #expect(certificate.household == authority.certificate.household)
    #expect(certificate.member == member)
    #expect(certificate.device == key.device)
    #expect(certificate.publicKey == key.publicKey)
    #expect(certificate.notBefore == noon.advanced(byMilliseconds: -86_400_000))
    #expect(certificate.notAfter > noon.advanced(byMilliseconds: 5 * 365 * 86_400_000))
    #expect(
      OpenSSLCryptography().isDeviceCertificate(
        certificate.der, publicKey: key.publicKey, sharePublicKey: authority.certificate.publicKey))
  }

  @Test func `the openssl program accepts what we sign`() throws {
    let directory = try TemporaryDirectory()
    let authority = try ShareAuthority.make(name: "Jürgen & Zoë's 家", now: Instant(milliseconds: 1_700_000_000_000))
    let key = try KeyPair.generate()
    let certificate = try authority.issue(
      publicKey: key.publicKey, member: someMember(), now: Instant(milliseconds: 1_700_000_000_000))
    try authority.certificate.save(to: directory.path("share.pem"))
    try certificate.save(to: directory.path("device.pem"))

    for purpose in ["sslserver", "sslclient"] {
      let verdict = try openssl(
        "verify", "-x509_strict", "-attime", "1700000000", "-purpose", purpose, "-CAfile",
        directory.path("share.pem"), directory.path("device.pem"))

      #expect(verdict.succeeded, "\(verdict.output)")
    }
  }

  @Test func `certificates of the openssl program are read`() throws {
    let share = try Fixtures.share()

    let anna = try DeviceCertificate(
      contentsOf: Fixtures.path("Household/anna.pem"), sharePublicKey: share.publicKey)

    #expect(anna.member == MemberID(hex: "0123456789abcdef0123456789abcdef"))
    #expect(try KeyPair(contentsOf: Fixtures.path("Household/anna.key")).device == anna.device)
  }

  @Test(arguments: [
    ("signed-by-other-share", TrustError.signedByAnotherShare), ("self-signed", .signedByAnotherShare),
    ("authority", .isAnAuthority), ("no-identity", .noSingleIdentity), ("two-identities", .noSingleIdentity),
    ("identity-and-host-name", .noSingleIdentity), ("identity-of-another-device", .identityOfAnotherKey),
    ("identity-of-another-household", .identityOfAnotherHousehold), ("wrong-key-usage", .wrongKeyUsage),
    ("rsa", .wrongKindOfKey), ("p256", .wrongKindOfKey), ("ed448", .wrongKindOfKey),
    ("large", .certificateTooLarge), ("oversized", .certificateTooLarge),
  ])
  func `a wrong certificate is refused for its own reason`(name: String, reason: TrustError) throws {
    let share = try Fixtures.share()
    let der = try Fixtures.certificate("Hostile/\(name).pem")

    #expect(throws: reason) { try DeviceCertificate(der: der, sharePublicKey: share.publicKey) }
  }

  @Test func `the share's own certificate is no device's`() throws {
    let share = try Fixtures.share()

    #expect(throws: TrustError.isAnAuthority) { try DeviceCertificate(der: share.der, sharePublicKey: share.publicKey) }
  }

  @Test(arguments: ["expired", "not-yet-valid"])
  func `R6: dates never refuse a certificate`(name: String) throws {
    let der = try Fixtures.certificate("Hostile/\(name).pem")

    let certificate = try DeviceCertificate(der: der, sharePublicKey: Fixtures.share().publicKey)

    #expect((certificate.notAfter < noon) == (name == "expired"))
    #expect((certificate.notBefore > noon) == (name == "not-yet-valid"))
  }

  @Test func `a clock far off still makes a certificate`() throws {
    for milliseconds in [Int64.min, -2_000_000_000_000, 0, 4_000_000_000_000, .max] {
      let now = Instant(milliseconds: milliseconds)
      let authority = try ShareAuthority.make(name: "", now: now)

      #expect(throws: Never.self) {
        try authority.issue(publicKey: KeyPair.generate().publicKey, member: someMember(), now: now)
      }
    }
  }

  @Test func `every truncation and every changed byte is refused`() throws {
    let share = try Fixtures.share()
    let der = try Fixtures.certificate("Household/anna.pem")

    #expect(throws: TrustError.notACertificate) {
      try DeviceCertificate(
        der: DurableFile(path: Fixtures.path("Hostile/truncated.der")).read(), sharePublicKey: share.publicKey)
    }
    for count in 0..<der.count {
      #expect(throws: TrustError.notACertificate) {
        try DeviceCertificate(der: Array(der.prefix(count)), sharePublicKey: share.publicKey)
      }
    }
    #expect(throws: TrustError.notACertificate) {
      try DeviceCertificate(der: der + [0], sharePublicKey: share.publicKey)
    }
    for index in der.indices {
      var changed = der
      changed[index] ^= 0x01
      #expect(throws: TrustError.self) { try DeviceCertificate(der: changed, sharePublicKey: share.publicKey) }
    }
  }
}

@Suite struct ShareCertificateTests {
  @Test func `a share certificate is read back from its file`() throws {
    let directory = try TemporaryDirectory()
    let made = try ShareAuthority.make(name: String(repeating: "n", count: 128), now: noon)

    try made.certificate.save(to: directory.path("household.pem"))
    let read = try ShareCertificate(contentsOf: directory.path("household.pem"))

    #expect(read == made.certificate)
    #expect(read.household == OpenSSLCryptography().householdID(sharePublicKey: made.key.publicKey))
  }

  @Test func `a device's certificate is no share's`() throws {
    let der = try Fixtures.certificate("Household/anna.pem")

    #expect(throws: TrustError.notAShareCertificate) { try ShareCertificate(der: der) }
  }

  @Test func `a key of another share does not fit`() throws {
    let key = try KeyPair(contentsOf: Fixtures.path("Hostile/other-share.key"))

    #expect(throws: TrustError.shareKeyDoesNotFit) { try ShareAuthority(certificate: Fixtures.share(), key: key) }
  }
}

@Suite struct SigningRequestTests {
  @Test func `a signing request proves its key`() throws {
    let directory = try TemporaryDirectory()
    let key = try KeyPair.generate()

    let request = try SigningRequest.make(for: key)
    try DurableFile(path: directory.path("request.pem")).write(
      PEM.encoded(request.der, label: PEM.signingRequest), mode: 0o644)
    let verdict = try openssl("req", "-verify", "-noout", "-in", directory.path("request.pem"))

    #expect(try SigningRequest(der: request.der).publicKey == key.publicKey)
    #expect(verdict.succeeded, "\(verdict.output)")
  }

  @Test func `a changed signing request is refused`() throws {
    let der = try SigningRequest.make(for: .generate()).der

    for index in der.indices {
      var changed = der
      changed[index] ^= 0x80
      #expect(throws: TrustError.self) { try SigningRequest(der: changed) }
    }
  }
}
