package import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// Whether this device's keys and certificates are there, fit together, are private, and are in their time.
package enum CertificateCheck {
  /// - Parameter facts: of the replica beside the keys; nil if it cannot be read.
  static func run(_ directory: DataDirectory, _ facts: StatusFacts?, now: Instant) -> [DoctorCheck] {
    let keys: NodeKeys
    do {
      keys = try NodeKeys(directory)
    } catch let error as NodeError {
      return [.failed(.certificates, "keys", error.message, remedy: error.remedy)]
    } catch {
      return [.failed(.certificates, "keys", "\(error)", remedy: "Restore share/ from a copy, or pair again.")]
    }
    if let facts, facts.identity.device != keys.device.device {
      return [
        .failed(
          .certificates, "keys", "The replica belongs to another device than the keys beside it.",
          remedy: "Restore both from one copy, or pair this device again.")
      ]
    }
    return [
      .passed(.certificates, "keys", "The keys and certificates fit together."), permissions(directory),
      dates(
        from: keys.device.notBefore, to: keys.device.notAfter, isDue: keys.device.isDueForRenewal(now),
        renewal: renewal(of: keys, facts), now: now),
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

  /// How a certificate is renewed, as the membership log and the keys here say.
  package enum Renewal: Sendable {
    /// By this device's own node, which has the share's key.
    case here
    /// By an owner's device, on contact.
    case byOwner
    /// Not any more: the device belongs no longer, and its certificate opens no door.
    case none
  }

  private static func renewal(of keys: NodeKeys, _ facts: StatusFacts?) -> Renewal {
    guard let facts else { return .byOwner }
    let device = keys.device.device
    guard facts.membership.admits(device) else { return .none }
    return keys.authority != nil && facts.membership.isOwner(device) ? .here : .byOwner
  }

  /// Judges the time of a device certificate; what is past still connects (R6), so it is a matter of renewal.
  package static func dates(
    from begin: Instant, to end: Instant, isDue: Bool, renewal: Renewal, now: Instant
  ) -> DoctorCheck {
    let (how, next) =
      switch renewal {
      case .here: ("this device's node renews it", "start the node (household node), or look at its log if it runs")
      case .byOwner:
        (
          "it is renewed when this device meets an owner's",
          "leave the node running while an owner's node runs, and look at its log if one does"
        )
      case .none: ("this device belongs no longer", "")
      }
    if renewal == .none {
      return .note(.certificates, "certificateDates", "The certificate ends on \(end.rfc3339); \(how).")
    }
    if now < begin {
      return .failed(
        .certificates, "certificateDates",
        "This device's certificate is valid from \(begin.rfc3339) on, which is still to come; \(how).",
        remedy: "Set the clock of this device, which says \(now.rfc3339); if that is right, \(next).")
    }
    let left = end.milliseconds(since: now)
    if left < 0 {
      return .failed(
        .certificates, "certificateExpired",
        "This device's certificate has ended on \(end.rfc3339). It still connects; \(how).",
        remedy: "Check the clock of this device; if it is right, \(next).")
    }
    if left < Limits.certificateNearMilliseconds {
      return .failed(
        .certificates, "certificateNearEnd", "This device's certificate ends on \(end.rfc3339); \(how).",
        remedy: next.prefix(1).uppercased() + next.dropFirst() + ".")
    }
    return .passed(
      .certificates, "certificateDates", "The certificate is valid until \(end.rfc3339)\(isDue ? "; \(how)" : "").")
  }
}
