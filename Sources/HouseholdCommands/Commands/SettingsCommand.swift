import HouseholdNode

/// `settings`: what a node would be told, and by whom.
struct SettingsCommand: Command {
  let description = CommandDescription(
    "settings", group: .sync, summary: "Show what a node is told, and where each setting comes from.",
    discussion: """
      A node is told by a flag, else by the environment (HOUSEHOLD_LISTEN and so on), else by the file settings in the \
      data directory, else by household/settings in $XDG_CONFIG_HOME or ~/.config. A file has lines NAME = VALUE with \
      the names of the flags; a line that begins with # is a remark. Where a setting may stand more than once, the \
      first of these that says anything says all of it; in the environment, commas part the values.
      """)

  private struct Shown: Encodable {
    var name: String
    var value: JSONValue
    var source: NodeSettings.Source
    var place: String
  }

  private struct File: Encodable {
    var path: String
    var exists: Bool
  }

  private struct Document: Encodable {
    var settings: [Shown]
    var files: [File]
    var dataDirectory: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let settings = try NodeSettings(invocation, takesFlags: false)
    let document = Document(
      settings: settings.values.map { value in
        Shown(
          name: value.setting.name, value: Self.json(value), source: value.source, place: value.place)
      }, files: settings.files.map { File(path: $0.path, exists: $0.isThere) },
      dataDirectory: try invocation.directory().path)
    try output.result(document) {
      var table = TableOutput([.text("SETTING"), .text("VALUE"), .text("FROM")])
      for value in settings.values {
        table.add([
          value.setting.name, value.values.isEmpty ? "(none)" : value.values.joined(separator: ", "),
          value.place.isEmpty ? value.source.rawValue : value.place,
        ])
      }
      try output.table(table)
      for file in settings.files where !file.isThere { output.note("\(file.path) is not there.") }
    }
    return .done
  }

  private static func json(_ value: NodeSettings.Value) -> JSONValue {
    if value.setting.option.isRepeatable { return .array(value.values.map(JSONValue.string)) }
    return value.values.first.map(JSONValue.string) ?? .null
  }
}
