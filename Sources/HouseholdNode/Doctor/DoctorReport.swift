/// What the checks found, as `household doctor --json` prints it.
package struct DoctorReport: Codable, Hashable, Sendable {
  /// Whether nothing failed.
  package var ok: Bool
  package var checks: [DoctorCheck]

  package init(_ checks: [DoctorCheck]) {
    self.checks = checks
    ok = !checks.contains { $0.state == .failed }
  }

  /// The first that failed: what comes after it may follow from it.
  package var firstFailure: DoctorCheck? { checks.first { $0.state == .failed } }
}

/// One thing that was looked at.
package struct DoctorCheck: Codable, Hashable, Sendable {
  /// How a check ends.
  package enum State: String, Codable, Sendable {
    case passed, failed
    /// Worth knowing, and nothing to be done.
    case information
    /// It could not be looked at.
    case skipped
  }

  /// The kinds of checks, in the order in which they are made: each rests on those before it.
  package enum Area: String, Codable, Sendable, CaseIterable {
    case disk, certificates, replica, membership, schema, clock, network
  }

  package var area: Area
  /// A stable code.
  package var check: String
  package var state: State
  /// This device, or the peer or address that it is about.
  package var subject: String
  /// One sentence.
  package var summary: String
  /// The next step; empty unless it failed.
  package var remedy: String

  package static func passed(_ area: Area, _ check: String, _ summary: String, subject: String = "this device") -> Self
  {
    Self(area: area, check: check, state: .passed, subject: subject, summary: summary, remedy: "")
  }

  package static func failed(
    _ area: Area, _ check: String, _ summary: String, subject: String = "this device", remedy: String
  ) -> Self {
    Self(area: area, check: check, state: .failed, subject: subject, summary: summary, remedy: remedy)
  }

  package static func note(
    _ area: Area, _ check: String, _ summary: String, subject: String = "this device", state: State = .information
  ) -> Self {
    Self(area: area, check: check, state: state, subject: subject, summary: summary, remedy: "")
  }
}
