internal import Glibc

/// Whether the data directory is there, private, writable, and has room.
enum DiskCheck {
  /// Less free space than this is worth a word: a day's edits and their WAL would still fit.
  private static let fewBytes: UInt64 = 64 << 20

  static func run(_ directory: DataDirectory) -> [DoctorCheck] {
    let disk = DiskFacts(directory)
    if disk.isReadOnly {
      return [
        .failed(
          .disk, "readOnlyFileSystem", "\(directory.path) is on a read-only file system: nothing can be stored.",
          remedy: "Make it writable again; the node goes on by itself.")
      ]
    }
    return [space(directory, disk), writing(directory), privacy(directory)]
  }

  private static func space(_ directory: DataDirectory, _ disk: DiskFacts) -> DoctorCheck {
    guard let free = disk.freeBytes else {
      return .note(.disk, "diskFull", "The file system does not say how much room it has.", state: .skipped)
    }
    if disk.isFull {
      return .failed(
        .disk, "diskFull", "The disk is full: nothing can be stored.",
        remedy: "Free some space; the node goes on by itself.")
    }
    if free < fewBytes {
      return .failed(
        .disk, "diskNearlyFull", "Only \(free >> 20) MiB are free on the disk.", remedy: "Free some space soon.")
    }
    return .passed(.disk, "diskFull", "\(free >> 20) MiB are free.")
  }

  static func writing(_ directory: DataDirectory) -> DoctorCheck {
    for path in [directory.path, directory.replica] where unsafe access(path, R_OK | W_OK) != 0 {
      let said = unsafe String(cString: strerror(errno))
      return .failed(
        .disk, "notWritable", "\(path) cannot be read and written: \(said).",
        remedy: "Give it back to this user: chown and chmod u+rw \(path)")
    }
    return .passed(.disk, "notWritable", "The data directory can be read and written.")
  }

  static func privacy(_ directory: DataDirectory) -> DoctorCheck {
    guard let mode = FileMode.of(directory.path) else {
      return .note(.disk, "directoryMode", "The permissions of \(directory.path) cannot be read.", state: .skipped)
    }
    guard mode & 0o077 == 0 else {
      return .failed(
        .disk, "directoryMode", "Others on this machine may look into \(directory.path).",
        remedy: "Close it: chmod 700 \(directory.path)")
    }
    return .passed(.disk, "directoryMode", "Nobody else on this machine may look into the data directory.")
  }
}

/// The permission bits of a file.
enum FileMode {
  /// The lowest nine bits; nil if there is no such file.
  static func of(_ path: String) -> UInt32? {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0 else { return nil }
    return facts.st_mode & 0o777
  }
}
