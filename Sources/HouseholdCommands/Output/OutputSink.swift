import Glibc
import Synchronization

/// Where printed bytes go: a descriptor, or the memory of a test.
package protocol OutputSink: Sendable {
  /// Whether a person looks at it.
  var isTerminal: Bool { get }
  /// The columns of the terminal, if it is one and says so.
  var columns: Int? { get }
  /// Writes all bytes in order; the error number that stopped it, or 0.
  func write(_ bytes: [UInt8]) -> Int32
  /// Waits so long, or until nobody reads any more; returns whether somebody may still read.
  func waits(milliseconds: Int32) -> Bool
}

/// A file descriptor of this process, such as standard output.
package struct DescriptorSink: OutputSink {
  private let descriptor: Int32

  /// Standard output.
  package static let standardOutput = Self(descriptor: 1)
  /// Standard error.
  package static let standardError = Self(descriptor: 2)

  package var isTerminal: Bool { isatty(descriptor) == 1 }

  package var columns: Int? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  package func write(_ bytes: [UInt8]) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        waitUntilWritable()
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  package func waits(milliseconds: Int32) -> Bool {
    // Nothing is asked for: what tells that the reader went away comes unasked.
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&entry, 1, milliseconds) <= 0
  }

  /// Waits on a descriptor that another process made non-blocking, as some shells do with a terminal.
  private func waitUntilWritable() {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = unsafe poll(&entry, 1, -1)
  }
}

/// Keeps what is printed, for tests; can play a terminal, a closed pipe or a full disk.
package final class CapturedSink: OutputSink {
  package let isTerminal: Bool
  package let columns: Int?
  private let failure: Int32
  private let bytes = Mutex<[UInt8]>([])

  package init(isTerminal: Bool = false, columns: Int? = nil, failingWith failure: Int32 = 0) {
    self.isTerminal = isTerminal
    self.columns = columns
    self.failure = failure
  }

  /// What was printed until now.
  package var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  package func write(_ bytes: [UInt8]) -> Int32 {
    guard failure == 0 else { return failure }
    self.bytes.withLock { $0 += bytes }
    return 0
  }

  package func waits(milliseconds: Int32) -> Bool {
    usleep(UInt32(max(0, milliseconds)) * 1000)
    return failure == 0
  }
}
