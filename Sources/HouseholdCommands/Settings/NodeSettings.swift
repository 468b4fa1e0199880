import HouseholdNode

/// What a node is told, and by whom: a flag goes before the environment, that before the files, those before what holds
/// by itself.
package struct NodeSettings: Sendable {
  /// Who says what a setting is.
  package enum Source: String, Encodable, Sendable {
    case flag, environment, file
    /// Nobody: it holds by itself.
    case standard = "default"
  }

  /// A setting as it holds.
  package struct Value: Sendable {
    package let setting: NodeSetting
    /// One, or any number where the setting is repeatable; none for nothing at all.
    package let values: [String]
    package let source: Source
    /// The flag, the variable, or the file and line; empty where nobody says.
    package let place: String
  }

  package private(set) var values: [Value] = []
  /// The files that are looked at, the first of which goes before the second.
  package let files: [SettingsFile]

  /// Reads what the environment and the files say.
  ///
  /// - Parameter takesFlags: whether the command has a flag for each setting.
  package init(_ invocation: Invocation, takesFlags: Bool) throws(CommandError) {
    var files: [SettingsFile] = []
    for path in try Self.paths(invocation) { files.append(try SettingsFile(path: path)) }
    self.files = files
    for setting in NodeSetting.all {
      var said = takesFlags ? try Self.flag(setting, invocation) : nil
      if said == nil { said = try Self.variable(setting, invocation.environment) }
      let written = files.lazy.compactMap { Self.line(setting, $0) }.first
      values.append(
        said ?? written ?? Value(setting: setting, values: setting.standard, source: .standard, place: ""))
    }
  }

  /// What a setting is; several values only where it is repeatable.
  package subscript(_ setting: NodeSetting) -> [String] {
    values.first { $0.setting.name == setting.name }?.values ?? []
  }

  /// The file in the data directory, then the one of this user's configuration.
  private static func paths(_ invocation: Invocation) throws(CommandError) -> [String] {
    var paths = [try invocation.directory().settings]
    if let folder = invocation.configurationFolder { paths.append(folder + "/household/settings") }
    return paths
  }

  private static func flag(_ setting: NodeSetting, _ invocation: Invocation) throws(CommandError) -> Value? {
    let values = invocation.values(setting.name)
    for value in values { try setting.check(value, at: "in --\(setting.name)") }
    if let last = values.last {
      return Value(
        setting: setting, values: setting.option.isRepeatable ? values : [last], source: .flag,
        place: "--\(setting.name)")
    }
    let short: (flag: String, isGiven: Bool, value: String)? =
      switch setting.name {
      case NodeSetting.discovery.name: ("--no-discovery", invocation.flag("no-discovery"), "off")
      case NodeSetting.logLevel.name: ("--quiet", invocation.isQuiet, "off")
      default: nil
      }
    guard let short, short.isGiven else { return nil }
    return Value(setting: setting, values: [short.value], source: .flag, place: short.flag)
  }

  private static func variable(_ setting: NodeSetting, _ environment: [String: String]) throws(CommandError) -> Value? {
    guard let text = environment[setting.variable], !text.isEmpty else { return nil }
    let values =
      setting.option.isRepeatable
      ? text.split { $0 == "," || $0.isWhitespace }.map(String.init) : [text]
    for value in values { try setting.check(value, at: "in $\(setting.variable)") }
    return Value(setting: setting, values: values, source: .environment, place: setting.variable)
  }

  private static func line(_ setting: NodeSetting, _ file: SettingsFile) -> Value? {
    let lines = file.lines.filter { $0.name == setting.name }
    guard let first = lines.first else { return nil }
    return Value(
      setting: setting, values: lines.map(\.value).filter { !$0.isEmpty }, source: .file,
      place: "\(file.path):\(first.number)")
  }
}

extension Invocation {
  /// Where this user keeps settings: `$XDG_CONFIG_HOME`, else `~/.config`; nil without a home.
  ///
  /// As the XDG base directory specification has it, a relative path does not count.
  var configurationFolder: String? {
    if let named = environment["XDG_CONFIG_HOME"], named.hasPrefix("/") { return named }
    return environment["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.config" }
  }
}
