import HouseholdKit
import HouseholdRecords

/// `parked` and `quarantine`: what is stored here, passed on to others, and cannot be shown.
struct UnshownCommand: Command {
  let description: CommandDescription
  private let key: String
  private let nothing: String
  private let read: @Sendable (Household) throws -> [Household.Unshown]

  /// `parked`: of unknown types and fields.
  static let parked = UnshownCommand(
    "parked", key: "parked", summary: "List records of types, or with fields, that this device does not know.",
    discussion: "They are kept and passed on; they show once the schema or the program here is new enough.",
    nothing: "Nothing is parked."
  ) { try $0.parked() }
  /// `quarantine`: values that their field cannot hold.
  static let quarantine = UnshownCommand(
    "quarantine", key: "quarantine", summary: "List values that their field cannot hold.",
    discussion: "Such a field shows as empty; write it anew, on any device, and it is listed no more.",
    nothing: "Nothing is quarantined."
  ) { try $0.quarantined() }

  private struct Shown: Encodable {
    var type: String
    var id: String
    /// `unknownType`, `unknownField` or `badValue`.
    var reason: String
    var fields: [String: FieldValue]
    var member: String?
    var device: String?
    var at: String
  }

  private init(
    _ name: String, key: String, summary: String, discussion: String, nothing: String,
    read: @escaping @Sendable (Household) throws -> [Household.Unshown]
  ) {
    self.key = key
    self.nothing = nothing
    self.read = read
    description = CommandDescription(name, group: .sync, summary: summary, discussion: discussion)
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: true) { household in
      let found = try read(household)
      let list = found.map { record in
        Shown(
          type: record.type, id: record.id, reason: reason(record),
          fields: Dictionary(record.fields.map { ($0.name, $0.value) }) { first, _ in first },
          member: record.author.member, device: record.author.device, at: record.author.at.rfc3339)
      }
      try output.result([key: list]) {
        if found.isEmpty { return output.note(nothing) }
        var table = TableOutput([.text("TYPE"), .text("ID"), .text("FIELDS"), .text("BY"), .text("AT")])
        for record in found {
          table.add([
            record.type, record.id, record.fields.map { "\($0.name)=\(shown($0.value))" }.joined(separator: ", "),
            "\(record.author.member ?? "?") on \(record.author.device ?? "?")", record.author.at.rfc3339,
          ])
        }
        try output.table(table)
      }
      return .done
    }
  }

  private func reason(_ record: Household.Unshown) -> String {
    if key == "quarantine" { return "badValue" }
    return record.isOfUnknownType ? "unknownType" : "unknownField"
  }
}
