/// One thing that a node can be told, under one name: as a flag, in the environment and in a settings file.
package struct NodeSetting: Sendable {
  /// The name in a settings file; the flag is `--NAME`.
  package let name: String
  /// What holds when nothing says otherwise; empty for nothing at all.
  package let standard: [String]
  /// The flag, which also says what a value looks like.
  package let option: CommandOption

  /// The variable of the environment, such as `HOUSEHOLD_LOG_LEVEL`.
  package var variable: String {
    "HOUSEHOLD_"
      + String(decoding: name.uppercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
  }

  private init(_ option: CommandOption, standard: [String]) {
    name = option.name
    self.option = option
    self.standard = standard
  }

  /// Throws unless the value can be one of this setting; nothing at all stands for none where that is what holds anyway.
  ///
  /// - Parameter place: where it stands, for the sentence.
  func check(_ value: String, at place: String) throws(CommandError) {
    if value.isEmpty, standard.isEmpty { return }
    try option.kind.check(value, as: "\(name) \(place)")
    guard name != Self.metrics.name || AddressWord(value)?.isLoopback ?? true else {
      throw .usage(
        "\(quoted(value)) for \(name) \(place) can be reached by other machines.",
        remedy: "Name an address of this machine alone: 127.0.0.1:PORT or [::1]:PORT.", code: "badValue")
    }
  }
}

extension NodeSetting {
  package static let listen = NodeSetting(
    .value("listen", "HOST:PORT", kind: .address, help: "Where to listen; default: [::]:7411. Port 0 picks one."),
    standard: ["[::]:7411"])
  package static let advertise = NodeSetting(
    .value(
      "advertise", "HOST:PORT", kind: .address, repeatable: true,
      help: "Tell others this address instead of the machine's own."), standard: [])
  package static let peer = NodeSetting(
    .value("peer", "HOST:PORT", kind: .address, repeatable: true, help: "Dial this node."), standard: [])
  package static let discovery = NodeSetting(
    .choice(
      "discovery", ["on", "off"], help: "Whether to look for devices in the local network and call out there."),
    standard: ["on"])
  package static let metrics = NodeSetting(
    .value(
      "metrics", "HOST:PORT", kind: .address,
      help: "Serve figures for Prometheus at this address, which must be a loopback one."), standard: [])
  package static let logLevel = NodeSetting(
    .choice(
      "log-level", ["all", "problems", "off"],
      help: "What to log on standard error: everything, what is wrong, or nothing."), standard: ["all"])

  /// All of them, in the order in which they are shown.
  package static let all = [listen, advertise, peer, discovery, metrics, logLevel]
}
