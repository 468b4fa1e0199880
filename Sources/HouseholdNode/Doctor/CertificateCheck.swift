package import HouseholdRecords
internal import HouseholdTrust

/// Whether this device's keys and certificates are there, fit together, are private, and are in their time.
package enum CertificateCheck {
  /// How long before its end a certificate is worth a word, in milliseconds: thirty days.
  private static let nearMilliseconds: Int64 = 30 * 86_400_000

  /// - Parameter device: whose replica lies beside the keys; nil if it cannot be read.
  static func run(_ directory: DataDirectory, device: DeviceID?, now: Instant) -> [DoctorCheck] {
    let keys: NodeKeys
    do {
      keys = try NodeKeys(directory)
    } catch let error as NodeError {
      return [.failed(.certificates, "keys", error.message, remedy: error.remedy)]
    } catch {
      return [.failed(.certificates, "keys", "\(error)", remedy: "Restore share/ from a copy, or pair again.")]
    }
    if let device, device != keys.device.device {
      return [
        .failed(
          .certificates, "keys", "The replica belongs to another device than the keys beside it.",
          remedy: "Restore both from one copy, or pair this device again.")
      ]
    }
    return [
      .passed(.certificates, "keys", "The keys and certificates fit together."), permissions(directory),
      dates(from: keys.device.notBefore, to: keys.device.notAfter, now: now),
    ]
  }

  private static func permissions(_ directory: DataDirectory) -> DoctorCheck {
    for key in [directory.deviceKey, directory.shareKey] {
      guard let mode = FileMode.of(key), mode & 0o077 != 0 else { continue }
      return .failed(
        .certificates, "keyMode", "\(key) can be read by others on this machine.", remedy: "Close it: chmod 600 \(key)")
    }
    return .passed(.certificates, "keyMode", "The keys can be read by their owner only.")
  }

  /// Judges the time of a device certificate; what is past still connects (R6), so it is a matter of renewal.
  package static func dates(from begin: Instant, to end: Instant, now: Instant) -> DoctorCheck {
    if now < begin {
      return .failed(
        .certificates, "certificateDates",
        "This device's certificate is valid from \(begin.rfc3339) on, which is still to come.",
        remedy: "Set the clock of this device; it says \(now.rfc3339).")
    }
    let left = end.milliseconds(since: now)
    if left < 0 {
      return .failed(
        .certificates, "certificateExpired", "This device's certificate has ended on \(end.rfc3339).",
        remedy: "Check the clock of this device; if it is right, pair this device again.")
    }
    if left < nearMilliseconds {
      return .failed(
        .certificates, "certificateNearEnd", "This device's certificate ends on \(end.rfc3339).",
        remedy: "Pair this device again before that day.")
    }
    return .passed(.certificates, "certificateDates", "The certificate is valid until \(end.rfc3339).")
  }
}
