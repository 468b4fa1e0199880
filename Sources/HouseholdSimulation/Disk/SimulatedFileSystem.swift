internal import CSQLite
internal import HouseholdRecords

/// Shows a ``SimulatedDisk`` to SQLite as a file system of its own, under a name that paths can ask for.
///
/// Nothing leaves the process, so a replica on it is as quick as one in memory, and yet it is the real thing: two
/// connections, a WAL, locks, syncs. It has to outlive the connections that use it.
@safe final class SimulatedFileSystem {
  let disk: SimulatedDisk
  /// How SQLite knows it.
  let name: String
  private let system: UnsafeMutablePointer<sqlite3_vfs>
  fileprivate let methods: UnsafeMutablePointer<sqlite3_io_methods>
  private let cName: UnsafeMutablePointer<CChar>
  /// The memory shared over each file, kept as long as a connection has it.
  fileprivate var indexes: [String: SharedIndex] = [:]
  fileprivate var nextConnection = 1

  /// Whoever registers a file system starts SQLite; what is to be set has to be set before.
  private static let settings: Int32 = household_sqlite_count_no_memory()

  init(_ disk: SimulatedDisk) {
    self.disk = disk
    _ = Self.settings
    name = "disk-\(UInt(bitPattern: ObjectIdentifier(disk)))"
    unsafe system = .allocate(capacity: 1)
    unsafe methods = .allocate(capacity: 1)
    let bytes = name.utf8CString
    unsafe cName = .allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { unsafe (cName + index).initialize(to: byte) }
    unsafe methods.initialize(to: FileCalls.methods)
    unsafe system.initialize(to: SystemCalls.system)
    unsafe system.pointee.zName = UnsafePointer(cName)
    unsafe system.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_vfs_register(system, 0)
  }

  deinit {
    unsafe sqlite3_vfs_unregister(system)
    unsafe system.deallocate()
    unsafe methods.deallocate()
    unsafe cName.deallocate()
  }

  /// What a connection opens to get to this file.
  func path(_ file: String) -> String { "file:\(file)?vfs=\(name)" }

  fileprivate static func of(_ system: UnsafeMutablePointer<sqlite3_vfs>?) -> SimulatedFileSystem {
    guard let data = unsafe system?.pointee.pAppData else { preconditionFailure("SQLite lost the simulated disk") }
    return unsafe Unmanaged<SimulatedFileSystem>.fromOpaque(data).takeUnretainedValue()
  }
}

/// A file that a connection has open.
private final class OpenFile {
  let system: SimulatedFileSystem
  let file: SimulatedDisk.File
  let name: String?
  let connection: Int
  var index: SharedIndex?

  init(_ system: SimulatedFileSystem, _ file: SimulatedDisk.File, name: String?) {
    self.system = system
    self.file = file
    self.name = name
    connection = system.nextConnection
    system.nextConnection += 1
  }
}

/// SQLite's idea of an open file, with ours behind it.
@unsafe private struct Handle {
  var base: sqlite3_file
  var open: Unmanaged<OpenFile>?
}

private func open(_ file: UnsafeMutablePointer<sqlite3_file>?) -> OpenFile {
  guard let handle = unsafe file.map({ unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: Handle.self) }),
    let open = unsafe handle.pointee.open
  else { preconditionFailure("SQLite uses a file that it closed") }
  return unsafe open.takeUnretainedValue()
}

/// SQLite's codes for what a disk does not do; the header makes them in a way that Swift does not import.
private enum Failure {
  static let read = SQLITE_IOERR | 1 << 8
  static let shortRead = SQLITE_IOERR | 2 << 8
  static let write = SQLITE_IOERR | 3 << 8
  static let sync = SQLITE_IOERR | 4 << 8
  static let truncate = SQLITE_IOERR | 6 << 8
  static let delete = SQLITE_IOERR | 10 << 8
  static let notThere = SQLITE_IOERR | 23 << 8
}

/// The calls that SQLite makes to a file system.
private enum SystemCalls {
  static var system: sqlite3_vfs {
    var system = unsafe sqlite3_vfs()
    unsafe system.iVersion = 2
    unsafe system.szOsFile = Int32(MemoryLayout<Handle>.size)
    unsafe system.mxPathname = 512
    unsafe system.xOpen = { system, name, file, flags, outFlags in
      let system = unsafe SimulatedFileSystem.of(system)
      return unsafe SystemCalls.open(system, name.map { unsafe String(cString: $0) }, file, flags, outFlags)
    }
    unsafe system.xDelete = { system, name, _ in
      let system = unsafe SimulatedFileSystem.of(system)
      guard let name = unsafe name.map({ unsafe String(cString: $0) }), system.disk.file(name) != nil else {
        return Failure.notThere
      }
      return system.disk.delete(name) == .done ? SQLITE_OK : Failure.delete
    }
    unsafe system.xAccess = { system, name, _, result in
      let disk = unsafe SimulatedFileSystem.of(system).disk
      unsafe result?.pointee = unsafe name.map { unsafe disk.file(String(cString: $0)) != nil } == true ? 1 : 0
      return SQLITE_OK
    }
    unsafe system.xFullPathname = { _, name, size, result in
      guard let name = unsafe name, let result = unsafe result else { return SQLITE_CANTOPEN }
      let bytes = unsafe String(cString: name).utf8CString
      guard bytes.count <= Int(size) else { return SQLITE_CANTOPEN }
      for (index, byte) in bytes.enumerated() { unsafe result[index] = byte }
      return SQLITE_OK
    }
    unsafe system.xRandomness = { _, size, result in
      for index in 0..<Int(size) { unsafe result?[index] = CChar(truncatingIfNeeded: index &* 37) }
      return size
    }
    // Nobody else can give a lock back meanwhile: waiting would be for nothing.
    unsafe system.xSleep = { _, microseconds in microseconds }
    unsafe system.xGetLastError = { _, _, _ in 0 }
    unsafe system.xCurrentTimeInt64 = { system, result in
      // Milliseconds since noon of 24 November 4714 before Christ, as SQLite counts.
      unsafe result?.pointee = unsafe SimulatedFileSystem.of(system).disk.wall.milliseconds + 210_866_760_000_000
      return SQLITE_OK
    }
    return unsafe system
  }

  private static func open(
    _ system: SimulatedFileSystem, _ name: String?, _ handle: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let handle = unsafe handle else { return SQLITE_CANTOPEN }
    unsafe handle.pointee.pMethods = nil
    if !system.disk.isReadable { return SQLITE_CANTOPEN }
    let file: SimulatedDisk.File
    if let name {
      guard let found = system.disk.file(name) ?? (flags & SQLITE_OPEN_CREATE != 0 ? system.disk.create(name) : nil)
      else { return SQLITE_CANTOPEN }
      file = found
    } else {
      file = SimulatedDisk.File()
    }
    let place = unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: Handle.self)
    unsafe place.initialize(
      to: Handle(
        base: sqlite3_file(pMethods: system.methods),
        open: Unmanaged.passRetained(OpenFile(system, file, name: name))))
    unsafe outFlags?.pointee = flags
    return SQLITE_OK
  }
}

/// The calls that SQLite makes to a file.
private enum FileCalls {
  static var methods: sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 2
    unsafe methods.xClose = { file in
      let raw = unsafe file.map { unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: Handle.self) }
      unsafe raw?.pointee.open?.release()
      unsafe raw?.pointee.open = nil
      return SQLITE_OK
    }
    unsafe methods.xRead = { unsafe FileCalls.read($0, $1, $2, $3) }
    unsafe methods.xWrite = { file, bytes, count, offset in
      let open = unsafe open(file)
      let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
      switch unsafe open.system.disk.write(piece, to: open.file, at: Int(offset)) {
      case .done: return SQLITE_OK
      case .full: return SQLITE_FULL
      case .failed: return Failure.write
      }
    }
    unsafe methods.xTruncate = { file, size in
      let open = unsafe open(file)
      return open.system.disk.truncate(open.file, to: Int(size)) == .done ? SQLITE_OK : Failure.truncate
    }
    unsafe methods.xSync = { file, _ in
      let open = unsafe open(file)
      return open.system.disk.sync(open.file) == .done ? SQLITE_OK : Failure.sync
    }
    unsafe methods.xFileSize = { file, size in
      unsafe size?.pointee = Int64(unsafe open(file).file.bytes.count)
      return SQLITE_OK
    }
    unsafe methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    unsafe methods.xSectorSize = { _ in 4096 }
    // What SQLite assumes of a Linux disk too: a write touches no byte outside its range.
    unsafe methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    setLocks(&methods)
    return methods
  }

  private static func setLocks(_ methods: inout sqlite3_io_methods) {
    unsafe methods.xLock = { file, level in
      let open = unsafe open(file)
      let wanted = FileLocks.Level(rawValue: level) ?? .exclusive
      return open.file.locks.raise(open.connection, to: wanted) ? SQLITE_OK : SQLITE_BUSY
    }
    unsafe methods.xUnlock = { file, level in
      let open = unsafe open(file)
      open.file.locks.lower(open.connection, to: FileLocks.Level(rawValue: level) ?? .none)
      return SQLITE_OK
    }
    unsafe methods.xCheckReservedLock = { file, result in
      unsafe result?.pointee = unsafe open(file).file.locks.isReserved ? 1 : 0
      return SQLITE_OK
    }
    unsafe methods.xShmMap = { file, number, size, makes, result in
      let open = unsafe open(file)
      if open.index == nil, let name = open.name {
        open.index = open.system.indexes[name] ?? SharedIndex()
        open.system.indexes[name] = open.index
      }
      unsafe result?.pointee = unsafe open.index?.region(Int(number), size: Int(size), makes: makes != 0)
      return SQLITE_OK
    }
    unsafe methods.xShmLock = { file, first, count, flags in
      let open = unsafe open(file)
      let slots = Int(first)..<Int(first + count)
      if flags & SQLITE_SHM_UNLOCK != 0 {
        open.file.locks.release(slots, of: open.connection)
        return SQLITE_OK
      }
      let exclusively = flags & SQLITE_SHM_EXCLUSIVE != 0
      return open.file.locks.take(slots, for: open.connection, exclusively: exclusively) ? SQLITE_OK : SQLITE_BUSY
    }
    unsafe methods.xShmBarrier = { _ in }
    unsafe methods.xShmUnmap = { file, deletes in
      let open = unsafe open(file)
      open.file.locks.release(0..<8, of: open.connection)
      open.index = nil
      if deletes != 0, let name = open.name { open.system.indexes[name] = nil }
      return SQLITE_OK
    }
  }

  private static func read(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ target: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64
  ) -> Int32 {
    let open = unsafe open(file)
    guard let target = unsafe target, open.system.disk.isReadable else { return Failure.read }
    let count = Int(count)
    let there = unsafe open.file.bytes.read(into: target, count: count, at: Int(offset))
    if there == count { return SQLITE_OK }
    unsafe (target + there).initializeMemory(as: UInt8.self, repeating: 0, count: count - there)
    return Failure.shortRead
  }
}
