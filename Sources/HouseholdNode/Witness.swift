internal import FoundationEssentials
internal import Glibc
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// What a device remembers of its replica outside of the data directory, so that a directory that was put back, copied
/// or moved is noticed before anything is sealed in it (design 2.8).
///
/// Which machine and file it was, and the last changeset that was sealed. It is compared when a node starts and written
/// after each sealing, before what was sealed can leave. Whatever is in doubt, the device goes on under a new replica
/// id, which costs nothing; so the file need not survive a power cut.
final class Witness {
  /// What is remembered.
  private struct Memory: Decodable {
    var machine: String
    var device: UInt64
    var inode: UInt64
    var replica: String
    var sequence: UInt64
    var hash: String

    /// As a JSON object; no text here has a character that JSON would escape. Written out, as it is part of the way of
    /// every edit: `JSONEncoder` took 50 us of it.
    var json: [UInt8] {
      Array(
        """
        {"machine":"\(machine)","device":\(device),"inode":\(inode),"replica":"\(replica)","sequence":\(sequence),\
        "hash":"\(hash)"}
        """.utf8)
    }
  }

  private let path: String
  private let directory: DataDirectory
  private let log: Log
  /// What was written last.
  private var kept: (replica: ReplicaID, sequence: UInt64, hash: ChangesetHash)?
  /// Which file it is. It is asked once: the replica writes nothing into a file that is not in its place any more.
  private var file: (device: UInt64, inode: UInt64)?
  /// Whether writing failed, which is told once: then nothing is concluded from its absence either.
  private var isUseless = false
  private var descriptor: Int32 = -1
  /// How long the file is, in bytes, since it was opened.
  private var length = 0

  init(_ directory: DataDirectory, log: Log) {
    self.directory = directory
    self.log = log
    path = Self.folder + "/" + hexadecimal(OpenSSLCryptography().sha256(Array(directory.path.utf8)).prefix(16))
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// `$XDG_STATE_HOME/household`, else `~/.local/state/household`.
  private static var folder: String {
    let environment = ProcessInfo.processInfo.environment
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/household" }
    return (environment["HOME"] ?? "") + "/.local/state/household"
  }

  /// Compares what is remembered with the replica, and lets it go on under a new id if that is not sure.
  func check(_ replica: Replica, now: Instant) throws {
    let isFirstStart = try !replica.isWatched()
    let doubt = try isFirstStart ? nil : doubt(replica)
    if let doubt {
      log.problem("this device goes on under a new replica id", ["because": doubt])
      try replica.mint(.restored, now: now)
    } else if isFirstStart {
      try replica.watch(since: now)
    }
    try keep(replica)
  }

  /// Why the replica may not be the one that was here last; nil if it is.
  private func doubt(_ replica: Replica) throws -> String? {
    guard let memory = remembered() else {
      return isWritable() ? "nothing is remembered of this directory, so it was moved or copied" : nil
    }
    let now = try observe(replica)
    if memory.machine != now.machine { return "the directory was on another machine" }
    if memory.device != now.device || memory.inode != now.inode { return "the file is another one" }
    if memory.replica != now.replica { return "the replica was another one" }
    if memory.sequence > now.sequence { return "the file is older than what was sealed last" }
    guard memory.sequence > 0 else { return nil }
    let last = try replica.hash(of: ChangesetName(replica: replica.replica, sequence: memory.sequence))
    return last?.description == memory.hash ? nil : "the last changeset is another one"
  }

  /// Remembers the replica as it is now, if that is news.
  func keep(_ replica: Replica) throws {
    guard !isUseless else { return }
    let last = try replica.lastSealed()
    if let kept, kept == last { return }
    let memory = try observe(replica)
    do {
      try write(memory.json)
      kept = last
    } catch {
      isUseless = true
      log.problem("nothing can be remembered outside of the data directory", ["path": path, "error": "\(error)"])
    }
  }

  private func observe(_ replica: Replica) throws -> Memory {
    let file = try self.file ?? observeFile()
    self.file = file
    let last = try replica.lastSealed()
    return Memory(
      machine: Self.machine, device: file.device, inode: file.inode,
      replica: last.replica.description, sequence: last.sequence, hash: last.hash.description)
  }

  private func observeFile() throws -> (device: UInt64, inode: UInt64) {
    var facts = stat()
    guard unsafe stat(directory.replica, &facts) == 0 else {
      throw NodeError(.dataDirectory, "\(directory.replica) is not there.", remedy: "Check the disk.")
    }
    return (UInt64(facts.st_dev), UInt64(facts.st_ino))
  }

  /// The machine's id; empty where there is none, which then tells nothing.
  private static let machine: String = {
    do {
      let bytes = try DurableFile(path: "/etc/machine-id").read()
      return String(decoding: bytes, as: UTF8.self).filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    } catch {
      return ""
    }
  }()

  private func remembered() -> Memory? {
    do {
      return try JSONDecoder().decode(Memory.self, from: Data(DurableFile(path: path).read()))
    } catch {
      return nil
    }
  }

  private func isWritable() -> Bool {
    do {
      try makeFolder()
      return unsafe access(Self.folder, W_OK) == 0
    } catch {
      return false
    }
  }

  private func makeFolder() throws {
    if DataDirectory.exists(Self.folder) { return }
    try FileManager.default.createDirectory(
      atPath: Self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// Over what was there: a torn write is taken for a doubt, and minting is safe.
  ///
  /// The file stays open, as this is part of the way of every edit, and blanks fill up what was longer before.
  private func write(_ bytes: [UInt8]) throws {
    if descriptor < 0 {
      try makeFolder()
      descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
      guard descriptor >= 0, ftruncate(descriptor, off_t(bytes.count)) == 0 else { throw Errno(errno) }
    }
    let padded = bytes + [UInt8](repeating: 0x20, count: max(0, length - bytes.count))
    guard unsafe pwrite(descriptor, padded, padded.count, 0) == padded.count else { throw Errno(errno) }
    length = padded.count
  }

  private struct Errno: Error, CustomStringConvertible {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    var description: String { unsafe String(cString: strerror(number)) }
  }
}
