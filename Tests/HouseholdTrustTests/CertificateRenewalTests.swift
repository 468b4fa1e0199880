import HouseholdRecords
import HouseholdTrust
import Testing

/// Which certificate may take the place of another one.
@Suite struct CertificateRenewalTests {
  private let day: Int64 = 86_400_000
  private let authority: ShareAuthority
  private let key: KeyPair
  private let member = someMember()
  private let old: DeviceCertificate

  init() throws {
    authority = try ShareAuthority.make(name: "Elm Street", now: noon)
    key = try KeyPair.generate()
    old = try authority.issue(publicKey: key.publicKey, member: member, now: noon)
  }

  private func later(_ days: Int64) -> Instant { noon.advanced(byMilliseconds: days * day) }

  private func take(_ der: [UInt8], at now: Instant) throws(TrustError) -> DeviceCertificate {
    try old.successor(der, sharePublicKey: authority.certificate.publicKey, now: now)
  }

  @Test func `it is due when a third of its life is left, after its end, and before its beginning`() {
    #expect(!old.isDueForRenewal(noon) && !old.isDueForRenewal(later(3 * 365)))
    #expect(old.isDueForRenewal(later(4 * 365)) && old.isInTime(later(4 * 365)))
    #expect(old.isDueForRenewal(later(6 * 365)) && !old.isInTime(later(6 * 365)))
    #expect(old.isDueForRenewal(later(-30)) && !old.isInTime(later(-30)))
    #expect(old.isDueForRenewal(noon.advanced(byMilliseconds: old.notAfter.milliseconds(since: noon) - 30 * day + 1)))
    for far in [Int64.min, .max] { #expect(old.isDueForRenewal(Instant(milliseconds: far))) }
  }

  @Test(arguments: [4 * 365, 6 * 365, 30 * 365])
  func `a later certificate for the same key and name takes its place`(days: Int64) throws {
    let next = try authority.issue(publicKey: key.publicKey, member: member, now: later(days))

    let taken = try take(next.der, at: later(days))

    #expect(taken.device == old.device && taken.member == old.member && taken.household == old.household)
    #expect(taken.notAfter > old.notAfter && !taken.isDueForRenewal(later(days)))
  }

  @Test func `one that has not begun gives way to one that ends earlier`() throws {
    let next = try authority.issue(publicKey: key.publicKey, member: member, now: later(-3000))

    #expect(try take(next.der, at: later(-3000)).notAfter < old.notAfter)
  }

  @Test func `a certificate for another key or name, or of another share, does not`() throws {
    let now = later(4 * 365)
    let other = try authority.issue(publicKey: KeyPair.generate().publicKey, member: member, now: now)
    let renamed = try authority.issue(
      publicKey: key.publicKey, member: #require(MemberID(bytes: [UInt8](repeating: 9, count: 16))), now: now)
    let foreign = try ShareAuthority.make(name: "Elm Street", now: noon)
      .issue(publicKey: key.publicKey, member: member, now: now)

    #expect(throws: TrustError.certificateOfAnother) { try take(other.der, at: now) }
    #expect(throws: TrustError.certificateOfAnother) { try take(renamed.der, at: now) }
    #expect(throws: TrustError.signedByAnotherShare) { try take(foreign.der, at: now) }
    #expect(throws: TrustError.isAnAuthority) { try take(authority.certificate.der, at: now) }
    #expect(throws: TrustError.notACertificate) { try take([1, 2, 3], at: now) }
    #expect(throws: TrustError.certificateTooLarge) {
      try take([UInt8](repeating: 0, count: Limits.certificateBytes + 1), at: now)
    }
  }

  @Test func `a certificate that a wrong clock made does not (R6)`() throws {
    let now = later(4 * 365)
    let ofTheFuture = try authority.issue(publicKey: key.publicKey, member: member, now: later(30 * 365))
    let ofThePast = try authority.issue(publicKey: key.publicKey, member: member, now: later(-10 * 365))
    let shorter = try authority.issue(publicKey: key.publicKey, member: member, now: later(-1))

    for useless in [ofTheFuture, ofThePast, shorter, old] {
      #expect(throws: TrustError.certificateOfNoUse) { try take(useless.der, at: now) }
    }
  }
}
