/// Sync health as `household status --json` prints it (contract 1.3): people and programs rely on these names.
package struct StatusReport: Codable, Hashable, Sendable {
  /// How bad it is; the worst finding decides.
  package enum Verdict: String, Codable, Sendable, CaseIterable, Comparable {
    case inSync, pending, degraded, broken

    /// The exit code of `household status`.
    package var exitCode: Int32 { Int32(Self.allCases.firstIndex(of: self) ?? 3) }

    package static func < (a: Self, b: Self) -> Bool { a.exitCode < b.exitCode }
  }

  package var verdict: Verdict
  /// A stable code.
  package var reason: String
  /// One sentence.
  package var summary: String
  /// The one next step.
  package var remedy: String
  /// RFC 3339.
  package var asOf: String
  package var household: Household
  package var device: Device
  package var node: Node
  package var records: Records
  package var changes: Changes
  package var conflicts: Int
  package var attention: Int
  @Nullable package var digest: Digest?
  package var peers: [Peer]
  package var findings: [Finding]

  /// Whether the membership log names this device; before, nobody is known who could confirm anything.
  package var isNamed: Bool { !device.name.isEmpty }

  /// What tells that this device belongs no longer; nil if it belongs.
  package var ending: Finding? {
    findings.first { ["left", "retired", "removed", "sharingEnded"].contains($0.code) }
  }

  package struct Household: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    package var mode: String
    package var schema: SchemaName
  }

  package struct SchemaName: Codable, Hashable, Sendable {
    package var name: String
    package var version: UInt64
  }

  package struct Device: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    package var member: String
    package var role: String
  }

  package struct Node: Codable, Hashable, Sendable {
    package var running: Bool
    @Nullable package var pid: Int32?
    @Nullable package var startedAt: String?
    package var listening: [String]
    @Nullable package var version: String?
  }

  package struct Records: Codable, Hashable, Sendable {
    package var total: Int64
    package var byType: [String: Int64]
  }

  package struct Changes: Codable, Hashable, Sendable {
    /// Edits that were captured and not sealed yet.
    package var unsealed: Int64
    /// Changesets of this device that some active device has not confirmed.
    package var unacknowledged: UInt64
    package var parked: Int
    package var held: Int
    package var quarantined: Int
    package var rejected: Int
    /// Changesets that were received and wait for what they depend on.
    package var waiting: Int64
  }

  package struct Digest: Codable, Hashable, Sendable {
    package var words: String
    package var hex: String
  }

  package struct Holding: Codable, Hashable, Sendable {
    package var complete: Bool
    package var missing: UInt64
    /// When the last change that is there was made, RFC 3339.
    @Nullable package var through: String?
  }

  package struct Address: Codable, Hashable, Sendable {
    package var address: String
    @Nullable package var lastTried: String?
    @Nullable package var error: String?
  }

  package struct Peer: Codable, Hashable, Sendable {
    package var member: String
    package var device: String
    package var deviceID: String
    package var role: String
    package var connected: Bool
    /// The name of the device through which it is there, where it is not connected itself.
    @Nullable package var through: String?
    @Nullable package var address: String?
    @Nullable package var lastSeen: String?
    @Nullable package var lastSync: String?
    package var hasOurs: Holding
    package var weHaveTheirs: Holding
    @Nullable package var clockOffsetMs: Int64?
    @Nullable package var schemaVersion: UInt64?
    package var bytesSent: UInt64
    package var bytesReceived: UInt64
    package var changesSent: UInt64
    package var changesReceived: UInt64
    package var addresses: [Address]
    @Nullable package var lastError: String?
  }

  package struct Finding: Codable, Hashable, Sendable {
    package var code: String
    /// `information`, `pending`, `degraded` or `broken`.
    package var severity: String
    package var subject: String
    package var summary: String
    package var remedy: String
  }
}
