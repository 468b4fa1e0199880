import Glibc

/// The file of a unit: written whole, and touched only if it bears our mark.
struct ServiceFile: Sendable {
  let path: String

  /// Where units of this user, or of the machine, are put by hand.
  init(isSystem: Bool, _ invocation: Invocation) throws(CommandError) {
    if isSystem {
      path = "/etc/systemd/system/\(ServiceUnit.name)"
    } else if let folder = invocation.configurationFolder {
      path = "\(folder)/systemd/user/\(ServiceUnit.name)"
    } else {
      throw .usage("$HOME is not set.", remedy: "Set it, or use --system.", code: "homeMissing")
    }
  }

  /// What lies there; nil for nothing.
  var text: String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return String(decoding: DescriptorReader.all(of: descriptor), as: UTF8.self)
  }

  /// Whether something lies there, readable or not.
  var isThere: Bool {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0
  }

  /// Whether `household service install` made it.
  var isOurs: Bool { text?.hasPrefix(ServiceUnit.mark) ?? false }

  /// Throws if somebody else made what lies there.
  func requireOurs() throws(CommandError) {
    guard isThere, !isOurs else { return }
    throw CommandError(
      code: "foreignUnit", message: "\(path) was not made by household service install.",
      remedy: "It is left alone; move it away if it is not needed.")
  }

  /// Puts the text in place, whole or not at all.
  func write(_ text: String) throws(CommandError) {
    var folder = ""
    for part in path.split(separator: "/").dropLast() {
      folder += "/\(part)"
      guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw fault("\(folder) cannot be made") }
    }
    let draft = "\(path).new"
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw fault("\(path) cannot be written") }
    let bytes = Array(text.utf8)
    let isWhole = unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    close(descriptor)
    guard isWhole, unsafe rename(draft, path) == 0 else {
      let error = fault("\(path) cannot be written")
      unsafe unlink(draft)
      throw error
    }
  }

  /// Takes it away, with the links by which it was enabled.
  func remove() throws(CommandError) {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    for target in ["default", "multi-user"] {
      let link = "\(folder)/\(target).target.wants/\(ServiceUnit.name)"
      if Self.destination(link) == path { unsafe unlink(link) }
    }
    guard unsafe unlink(path) == 0 else { throw fault("\(path) cannot be removed") }
  }

  private static func destination(_ link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { room in
      unsafe readlink(link, room.baseAddress!.assumingMemoryBound(to: CChar.self), room.count)
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }

  private func fault(_ what: String) -> CommandError {
    let said = unsafe String(cString: strerror(errno))
    let needsRoot = errno == EACCES || errno == EPERM || errno == EROFS
    return CommandError(
      code: "unitNotWritten", message: "\(what): \(said).",
      remedy: needsRoot && path.hasPrefix("/etc/")
        ? "A unit of the machine needs root: use sudo and --data-dir." : "Check the disk and the permissions.",
      exitCode: needsRoot ? .notAllowed : .failed)
  }
}
