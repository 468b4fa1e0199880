/// A unit of systemd that runs the node: for one user, or for the machine.
///
/// What it forbids the node works for user units too, whose manager has no rights of its own: system calls are filtered
/// and nothing is mounted. A unit of the machine forbids more.
struct ServiceUnit: Sendable {
  /// The name that systemctl knows it by.
  static let name = "household.service"
  /// The first line of every unit that `household service` wrote; nothing else is ever changed or removed.
  static let mark = "# Made by `household service install`, and taken away by `household service uninstall`."

  /// The program, by its whole path.
  var program: String
  /// What it is called with.
  var words: [String]
  /// Variables that say where the node keeps what it remembers.
  var environment: [(name: String, value: String)] = []
  /// The user who runs it, for a unit of the machine; nil for one of a user.
  var owner: String?

  /// The whole file.
  var text: String {
    get throws(CommandError) {
      var command = [try Self.word(program)]
      for word in words { command.append(try Self.word(word)) }
      var variables: [String] = []
      for variable in environment {
        variables.append("Environment=\(try Self.word("\(variable.name)=\(variable.value)", alwaysQuoted: true))")
      }
      let lines: [String] =
        [Self.mark, "# To change it: systemctl \(owner == nil ? "--user " : "")edit \(Self.name)", ""] + unitLines
        + [
          "", "[Service]", "Type=notify", "ExecStart=:\(command.joined(separator: " "))", "Restart=on-failure",
          "RestartSec=5",
          // Wrong words and a household that was left do not get better by another try.
          "RestartPreventExitStatus=64 77",
          // A node whose port is taken syncs all the same and tries again, so it is not ended for not being ready.
          "TimeoutStartSec=infinity", "TimeoutStopSec=15", "WatchdogSec=120", "UMask=0077",
        ] + variables + hardening + ["", "[Install]", "WantedBy=\(owner == nil ? "default" : "multi-user").target"]
      return lines.joined(separator: "\n") + "\n"
    }
  }

  private var unitLines: [String] {
    ["[Unit]", "Description=household, sync for the people who share a home", "Documentation=man:household(1)"]
      + (owner == nil ? [] : ["Wants=network-online.target", "After=network-online.target"])
  }

  private var hardening: [String] {
    let everywhere = [
      "NoNewPrivileges=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes", "RestrictRealtime=yes",
      "RestrictSUIDSGID=yes", "RestrictNamespaces=yes",
      // Netlink is how addresses and names are looked up.
      "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "SystemCallArchitectures=native",
      "SystemCallFilter=@system-service", "SystemCallErrorNumber=EPERM",
    ]
    guard let owner else { return everywhere }
    return ["User=\(owner)"] + everywhere + [
      "CapabilityBoundingSet=", "ProtectSystem=full", "PrivateTmp=yes", "PrivateDevices=yes", "ProtectClock=yes",
      "ProtectControlGroups=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes",
    ]
  }

  /// A word as systemd reads it: quoted where it must be, and `%` meaning itself.
  private static func word(_ word: String, alwaysQuoted: Bool = false) throws(CommandError) -> String {
    guard word.utf8.allSatisfy({ $0 >= UInt8(ascii: " ") && $0 != 0x7F }) else {
      throw .usage(
        "\(quoted(word)) has a character that no unit can hold.", remedy: "Use another name.", code: "badValue")
    }
    let isPlain = word.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/._-:[]+=,@".utf8.contains(byte) || byte >= 0x80
    }
    guard !isPlain || word.isEmpty || alwaysQuoted else { return word }
    var escaped = ""
    for scalar in word.unicodeScalars {
      switch scalar {
      case "\"", "\\": escaped += "\\\(scalar)"
      case "%": escaped += "%%"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return "\"\(escaped)\""
  }
}
