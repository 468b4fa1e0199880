package import HouseholdRecords

/// A certificate's time, and what may take its place when it runs out: dates are for warnings and for renewal, never
/// for a refusal (R6).
extension DeviceCertificate {
  /// Whether the certificate is valid at this time.
  package func isInTime(_ now: Instant) -> Bool { notBefore <= now && now <= notAfter }

  /// Whether it is time for another one: little of this one's life is left, or it has not begun.
  package func isDueForRenewal(_ now: Instant) -> Bool {
    guard isInTime(now) else { return true }
    let part = notAfter.milliseconds(since: notBefore) / Limits.certificateRenewalPart
    return notAfter.milliseconds(since: now) < max(part, Limits.certificateNearMilliseconds)
  }

  /// The certificate that came to take the place of this one, if it says the same of the same key and is of more use.
  ///
  /// - Parameter sharePublicKey: SubjectPublicKeyInfo of the share that must have signed it, DER.
  package func successor(
    _ der: [UInt8], sharePublicKey: [UInt8], now: Instant
  ) throws(TrustError) -> DeviceCertificate {
    let next = try DeviceCertificate(der: der, sharePublicKey: sharePublicKey)
    guard next.publicKey == publicKey, next.household == household, next.member == member else {
      throw .certificateOfAnother
    }
    // Whoever has a wrong clock, here or there, must not put a good certificate out of place.
    guard next.isInTime(now), !isInTime(now) || next.notAfter > notAfter else { throw .certificateOfNoUse }
    return next
  }
}
