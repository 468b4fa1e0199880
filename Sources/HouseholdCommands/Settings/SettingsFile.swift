import Glibc

/// A file of lines `NAME = VALUE`; empty lines, and those that begin with `#`, say nothing.
package struct SettingsFile: Sendable {
  /// A line that says something.
  package struct Line: Hashable, Sendable {
    package var name: String
    package var value: String
    package var number: Int
  }

  /// Where it lies, whether it is there or not.
  package let path: String
  package let isThere: Bool
  package let lines: [Line]

  /// A file is no larger than this: hundreds of peers, and nothing that was taken for one by mistake.
  private static let limitBytes = 64 << 10

  /// Reads a file; one that is not there says nothing.
  package init(path: String) throws(CommandError) {
    let bytes = try Self.read(path)
    try self.init(bytes, path: path)
  }

  /// Understands the bytes of a file, nil for none, or quotes back what it does not understand.
  package init(_ bytes: [UInt8]?, path: String) throws(CommandError) {
    self.path = path
    isThere = bytes != nil
    var lines: [Line] = []
    for (index, row) in (bytes ?? []).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    {
      let place = "in \(path), line \(index + 1)"
      guard let text = String(validating: row, as: UTF8.self) else {
        throw .usage("what stands \(place) is no UTF-8 text.", remedy: "Write it in UTF-8.", code: "notUTF8")
      }
      if let line = try Self.line(text, number: index + 1, at: place) {
        try Self.requireNew(line, after: lines, at: place)
        lines.append(line)
      }
    }
    self.lines = lines
  }

  private static func line(_ text: String, number: Int, at place: String) throws(CommandError) -> Line? {
    let line = trimmed(text[...])
    guard !line.isEmpty, line.first != "#" else { return nil }
    guard let sign = line.firstIndex(of: "=") else {
      throw .usage(
        "\(quoted(String(line))) \(place) is no setting.", remedy: "Write NAME = VALUE, or # before a remark.",
        code: "badSetting")
    }
    let name = String(trimmed(line[..<sign]))
    guard let setting = NodeSetting.all.first(where: { $0.name == name }) else {
      throw .unknown("setting", name, among: NodeSetting.all.map(\.name), place: " \(place)")
    }
    let value = String(trimmed(line[line.index(after: sign)...]))
    try setting.check(value, at: place)
    return Line(name: name, value: value, number: number)
  }

  /// Throws if a setting that has one value stands a second time.
  private static func requireNew(_ line: Line, after lines: [Line], at place: String) throws(CommandError) {
    guard let earlier = lines.first(where: { $0.name == line.name }),
      NodeSetting.all.contains(where: { $0.name == line.name && !$0.option.isRepeatable })
    else { return }
    throw .usage(
      "\(line.name) stands \(place) and before it in line \(earlier.number).", remedy: "Leave one out.",
      code: "repeatedSetting")
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }

  private static func read(_ path: String) throws(CommandError) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw unreadable(path)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(path) }
      if count == 0 { return bytes }
      bytes += buffer.prefix(count)
      guard bytes.count <= limitBytes else {
        throw .usage(
          "\(path) has more than \(limitBytes >> 10) KiB: it is no file of settings.", remedy: "Move it away.",
          code: "badSetting")
      }
    }
  }

  private static func unreadable(_ path: String) -> CommandError {
    let said = unsafe String(cString: strerror(errno))
    return CommandError(
      code: "settingsUnreadable", message: "The settings in \(path) cannot be read: \(said).",
      remedy: "Check its permissions, or move it away.")
  }
}
