package import HouseholdRecords

/// The disk of one simulated device: files in memory, which fail, fill up, tear and forget when they are told to.
///
/// SQLite sees it as a file system of its own (``SimulatedFileSystem``). Every write, sync, cut and deletion is one
/// *operation*; a fault is armed for the n-th of them, so that a test can go through all there are. Not for more than
/// one thread at a time.
package final class SimulatedDisk {
  /// What goes wrong at an operation.
  package enum Fault: String, CaseIterable, Sendable {
    /// The operation fails, the next ones work.
    case inputOutput
    /// From this operation on nothing can be written, until the disk is healed.
    case readOnly
    /// From this operation on nothing can be read or written, until the disk is healed.
    case gone
    /// From this operation on there is no space for a longer file, until the disk is healed.
    case full
    /// The process dies: half of a write is there, nothing that comes after it; what was written before stays.
    case killed
    /// The power goes: of what was written since the last sync of its file, any part is there and any is not.
    case powerLost
  }

  /// One file: what programs see, and what was written since the last sync.
  final class File {
    let bytes = FileBytes()
    /// The bytes that were there before each write that no sync has followed yet, oldest first.
    fileprivate(set) var unsynced: [Unsynced] = []
    /// Who holds which lock on it.
    var locks = FileLocks()
  }

  /// A write that is not certain yet: how to undo it, and how to do it again.
  struct Unsynced {
    var offset: Int
    var before: [UInt8]
    var after: [UInt8]
    var sizeBefore: Int
    var sizeAfter: Int
  }

  private(set) var files: [String: File] = [:]
  /// The time that SQLite is told, for the triggers that capture edits.
  package var wall: Instant
  /// How many operations there were.
  package private(set) var operations = 0
  private var armed: (fault: Fault, at: Int)?
  /// The fault that lasts now.
  package private(set) var lasting: Fault?
  /// Whether a fault has struck and the disk was not healed since.
  package private(set) var hasStruck = false
  /// How many faults have struck since the last one was armed.
  package private(set) var strikes = 0
  private var random: SeededRandom
  /// The size of what a disk writes whole or not at all.
  private static let sector = 512

  package init(wall: Instant, seed: UInt64) {
    self.wall = wall
    random = SeededRandom(seed: seed)
  }

  // MARK: Faults

  /// Lets the n-th operation from now on, counted from 1, go wrong.
  package func arm(_ fault: Fault, atOperation number: Int) {
    armed = (fault, operations + number)
    hasStruck = false
    strikes = 0
  }

  /// Takes all faults away; what they did stays.
  package func heal() {
    armed = nil
    lasting = nil
    hasStruck = false
  }

  /// Flips one bit of a file; returns where, nil if the file is empty or not there.
  package func flipBit(of name: String, from first: Int = 0) -> Int? {
    guard let file = files[name], file.bytes.count > first else { return nil }
    let place = first + random.below(file.bytes.count - first)
    file.bytes.put([file.bytes.copy(place..<place + 1)[0] ^ 1 << UInt8(random.below(8))], at: place)
    return place
  }

  /// Another disk with what is on this one now.
  package func copied() -> SimulatedDisk {
    let copy = SimulatedDisk(wall: wall, seed: random.next())
    for (name, file) in files where !name.hasSuffix("-shm") {
      let other = File()
      other.bytes.put(file.bytes.all, at: 0)
      copy.files[name] = other
    }
    return copy
  }

  /// The disk as the next process finds it, when this one is dead or the power is back.
  package func afterDeath() -> SimulatedDisk {
    let next = SimulatedDisk(wall: wall, seed: random.next())
    for (name, file) in files where !name.hasSuffix("-shm") {
      let copy = File()
      copy.bytes.put(lasting == .powerLost ? whatIsLeft(of: file) : file.bytes.all, at: 0)
      next.files[name] = copy
    }
    lasting = lasting ?? .killed
    return next
  }

  /// What a disk without power has of a file: everything synced, and any sectors of the rest.
  private func whatIsLeft(of file: File) -> [UInt8] {
    var bytes = file.bytes.all
    for write in file.unsynced.reversed() {
      bytes = Array(bytes.prefix(write.sizeBefore)) + Array(repeating: 0, count: max(0, write.sizeBefore - bytes.count))
      Self.put(write.before, into: &bytes, at: write.offset)
    }
    for write in file.unsynced where !random.oneIn(3) {
      if write.after.isEmpty { bytes.removeLast(max(0, bytes.count - write.sizeAfter)) }
      for start in stride(from: 0, to: write.after.count, by: Self.sector) where !random.oneIn(4) {
        let piece = Array(write.after[start..<min(start + Self.sector, write.after.count)])
        let end = write.offset + start + piece.count
        if bytes.count < end { bytes += Array(repeating: 0, count: end - bytes.count) }
        Self.put(piece, into: &bytes, at: write.offset + start)
      }
    }
    return bytes
  }

  private static func put(_ piece: [UInt8], into bytes: inout [UInt8], at offset: Int) {
    guard !piece.isEmpty, offset < bytes.count else { return }
    let count = min(piece.count, bytes.count - offset)
    bytes.replaceSubrange(offset..<offset + count, with: piece.prefix(count))
  }

  /// What an operation finds.
  private enum Verdict { case works, fails, tears }

  private func countOperation() -> Verdict {
    operations += 1
    switch lasting {
    case .killed, .powerLost, .readOnly, .gone: return .fails
    case .full, .inputOutput, nil: break
    }
    guard let armed, armed.at == operations else { return .works }
    hasStruck = true
    strikes += 1
    self.armed = nil
    switch armed.fault {
    case .inputOutput: return .fails
    case .readOnly, .gone:
      lasting = armed.fault
      return .fails
    case .full:
      lasting = .full
      return .works
    case .killed, .powerLost:
      lasting = armed.fault
      return .tears
    }
  }

  /// Whether a fault is to come.
  package var isArmed: Bool { armed != nil }

  // MARK: Files, as the file system uses them

  /// How an operation went.
  enum Result { case done, full, failed }

  func file(_ name: String) -> File? { files[name] }

  func create(_ name: String) -> File {
    let file = File()
    files[name] = file
    return file
  }

  func delete(_ name: String) -> Result {
    guard countOperation() == .works else { return .failed }
    files[name] = nil
    return .done
  }

  func write(_ piece: UnsafeRawBufferPointer, to file: File, at offset: Int) -> Result {
    let verdict = countOperation()
    if verdict == .fails { return .failed }
    let end = offset + piece.count
    if lasting == .full && end > file.bytes.count { return .full }
    let count = verdict == .tears ? piece.count / 2 : piece.count
    let sizeBefore = file.bytes.count
    let before = file.bytes.copy(min(offset, sizeBefore)..<min(offset + count, sizeBefore))
    unsafe file.bytes.put(UnsafeRawBufferPointer(rebasing: piece[..<count]), at: offset)
    file.unsynced.append(
      Unsynced(
        offset: offset, before: before, after: file.bytes.copy(offset..<offset + count), sizeBefore: sizeBefore,
        sizeAfter: file.bytes.count))
    return verdict == .works ? .done : .failed
  }

  func truncate(_ file: File, to size: Int) -> Result {
    guard countOperation() == .works else { return .failed }
    guard size < file.bytes.count else { return .done }
    let sizeBefore = file.bytes.count
    let before = file.bytes.copy(size..<sizeBefore)
    file.bytes.truncate(to: size)
    file.unsynced.append(
      Unsynced(offset: size, before: before, after: [], sizeBefore: sizeBefore, sizeAfter: size))
    return .done
  }

  func sync(_ file: File) -> Result {
    guard countOperation() == .works else { return .failed }
    file.unsynced = []
    return .done
  }

  /// Whether the process is dead.
  package var isDead: Bool { lasting == .killed || lasting == .powerLost }

  /// Whether files can be read.
  var isReadable: Bool { !isDead && lasting != .gone }
}
