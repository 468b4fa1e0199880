import Glibc

/// A small file that is either there whole or not there: written beside its place, flushed, and renamed.
package struct DurableFile: Sendable {
  /// Where the file is.
  package let path: String

  /// The largest file that is read, in bytes: keys and certificates are below a kibibyte.
  package static let largestBytes = 64 << 10

  package init(path: String) { self.path = path }

  /// Puts `bytes` in place of whatever is at the path, on the disk when this returns.
  ///
  /// - Parameter mode: the permissions, such as 0o600; the process's mask does not apply.
  package func write(_ bytes: [UInt8], mode: UInt32) throws(TrustError) {
    let beside = path + ".new-" + String(UInt64.random(in: .min ... .max), radix: 16)
    let descriptor = unsafe open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw failure("create") }
    do throws(TrustError) {
      defer { close(descriptor) }
      guard fchmod(descriptor, mode) == 0 else { throw failure("set the permissions of") }
      try writeAll(bytes, to: descriptor)
      guard fsync(descriptor) == 0 else { throw failure("flush") }
    } catch {
      unsafe unlink(beside)
      throw error
    }
    guard unsafe rename(beside, path) == 0 else {
      let error = failure("replace")
      unsafe unlink(beside)
      throw error
    }
    try flushDirectory()
  }

  /// All bytes of the file.
  package func read() throws(TrustError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.largestBytes + 1)
    var filled = 0
    while filled < bytes.count {
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + filled }, buffer.count - filled)
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure("read") }
      if count == 0 { break }
      filled += count
    }
    guard filled <= Self.largestBytes else { throw .fileTooLarge(path: path) }
    return Array(bytes.prefix(filled))
  }

  private func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(TrustError) {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.write(descriptor, buffer.baseAddress.map { unsafe $0 + written }, buffer.count - written)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure("write") }
      written += count
    }
  }

  private func flushDirectory() throws(TrustError) {
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open the directory of") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("flush the directory of") }
  }

  private func failure(_ operation: String) -> TrustError { .file(path: path, operation: operation, errno: errno) }
}

/// What the system says about an error number.
func systemMessage(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
