import Foundation
import Testing

/// Programs of the system that make faults.
enum Tool {
  /// Runs one to its end; returns its exit code.
  @discardableResult
  static func run(_ words: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.environment = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin:/opt/swift/usr/bin"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Runs one that must succeed.
  static func must(_ words: String..., location: SourceLocation = #_sourceLocation) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.environment = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin:/opt/swift/usr/bin"]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(words)", sourceLocation: location)
  }
}

/// A file system in memory that is soon full.
final class SmallDisk {
  let path: String

  private init(_ path: String) { self.path = path }

  /// Mounts it; nil where that is not allowed.
  static func mount(at path: String, mebibytes: Int) throws -> SmallDisk? {
    guard geteuid() == 0 else { return nil }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    guard try Tool.run("mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m", "tmpfs", path) == 0 else {
      try FileManager.default.removeItem(atPath: path)
      return nil
    }
    return SmallDisk(path)
  }

  /// Takes it away, whoever still has files open there.
  func unmount() {
    do { try Tool.run("umount", "-l", path) } catch { print("left \(path): \(error)") }
  }

  func fill() throws { try Tool.run("sh", "-c", "dd if=/dev/zero of=\(path)/filler bs=4k") }
  func free() throws { try FileManager.default.removeItem(atPath: path + "/filler") }
}

/// Another program that holds the lock of a replica.
final class LockHolder {
  private let process = Process()
  private let input = Pipe()

  init(_ home: Home) throws {
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/sqlite3")
    process.arguments = ["\(home.directory)/replica.sqlite"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    input.fileHandleForWriting.write(Data(".timeout 10000\nBEGIN IMMEDIATE;\nSELECT 'locked';\n".utf8))
    try #require(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "locked\n")
  }

  func letGo() {
    input.fileHandleForWriting.write(Data("COMMIT;\n.quit\n".utf8))
    process.waitUntilExit()
  }
}

/// A port that another program has.
final class TakenPort {
  private let descriptor: Int32
  let number: UInt16

  /// - Parameter isListening: whether it takes connections; else they are refused.
  init(isListening: Bool) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
        bind(descriptor, general, length) == 0 && (!isListening || listen(descriptor, 8) == 0)
          && getsockname(descriptor, general, &length) == 0
      }
    }
    number = UInt16(bigEndian: address.sin_port)
    try #require(bound)
  }

  private var isFree = false

  func free() {
    if !isFree { close(descriptor) }
    isFree = true
  }

  deinit { free() }
}

/// A clock that can be set while a program runs: a library that is loaded before the others adds seconds to the real one.
enum SettableClock {
  private static let source = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>
    static volatile int64_t *place;
    static int64_t offset(void) {
      if (!place) {
        const char *path = getenv("TEST_CLOCK");
        int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (file < 0) return 0;
        void *found = mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (found == MAP_FAILED) return 0;
        place = found;
      }
      return *place;
    }
    int clock_gettime(clockid_t clock, struct timespec *time) {
      int result = syscall(SYS_clock_gettime, clock, time);
      if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += offset();
      return result;
    }
    int gettimeofday(struct timeval *restrict time, void *restrict zone) {
      struct timespec now;
      (void)zone;
      clock_gettime(CLOCK_REALTIME, &now);
      time->tv_sec = now.tv_sec;
      time->tv_usec = now.tv_nsec / 1000;
      return 0;
    }
    time_t time(time_t *result) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (result) *result = now.tv_sec;
      return now.tv_sec;
    }
    """

  /// The words that give a device's programs a clock of its own.
  static func launcher(in place: Place, for home: Home) throws -> [String] {
    let library = place.path("clock.so")
    if !FileManager.default.fileExists(atPath: library) {
      try source.write(toFile: place.path("clock.c"), atomically: true, encoding: .utf8)
      try Tool.must("clang", "-shared", "-fPIC", "-O1", "-o", library, place.path("clock.c"))
    }
    try set(home, in: place, seconds: 0)
    return ["LD_PRELOAD=\(library)", "TEST_CLOCK=\(file(home, place))"]
  }

  private static func file(_ home: Home, _ place: Place) -> String {
    place.path(home.name.replacingOccurrences(of: "/", with: "-") + ".clock")
  }

  /// Sets it: how many seconds it is ahead of the real one.
  static func set(_ home: Home, in place: Place, seconds: Int64) throws {
    let path = file(home, place)
    if !FileManager.default.fileExists(atPath: path) {
      try Data(count: 8).write(to: URL(filePath: path))
    }
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: withUnsafeBytes(of: seconds) { Data($0) })
    try handle.close()
  }
}
