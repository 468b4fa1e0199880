import Glibc
import HouseholdNode
import HouseholdRecords
import HouseholdTransport
import Synchronization

/// `node`: the long-running process.
struct NodeCommand: Command {
  let description = CommandDescription(
    "node", group: .sync, summary: "Run this device's node until it is stopped.",
    discussion: """
      Listens for the household's other devices, dials them, and exchanges changes. It prints `listening on \
      HOST:PORT` once it can be reached, and stops on SIGTERM or Ctrl-C after saying goodbye to its peers. What it can be \
      told, the environment and a file of settings can tell it, too: see `household settings --help`.
      """,
    options: NodeSetting.all.map(\.option) + [
      .flag("no-discovery", help: "The same as --discovery off.")
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let settings = try NodeSettings(invocation, takesFlags: true)
    var configuration = NodeConfiguration(
      directory: try invocation.directory(), listen: try Self.address(settings[.listen][0]),
      advertise: try settings[.advertise].map(Self.address), peers: try settings[.peer].map(Self.address),
      version: CommandLineTool.version, log: Self.log(settings, invocation.environment),
      discovers: settings[.discovery] == ["on"])
    configuration.metrics = try settings[.metrics].first.map(Self.address)
    configuration.supervisor = Supervisor(environment: invocation.environment)
    StopSignals.catchThem()
    let end = Mutex<NodeError?>(nil)
    let node = try Node(
      configuration,
      ready: { address in
        do {
          try output.line("listening on \(address)")
        } catch {
          // Nobody reads what we print; the node runs all the same.
          output.note("listening on \(address)")
        }
      },
      ended: { error in
        end.withLock { $0 = error }
        StopSignals.tell()
      })
    do {
      try await node.start()
    } catch {
      try await node.stop()
      throw error
    }
    await StopSignals.wait()
    output.note("stopping")
    try await node.stop()
    if let error = end.withLock({ $0 }) { throw error }
    return .done
  }

  private static func log(_ settings: NodeSettings, _ environment: [String: String]) -> Log {
    let level: Log.Level =
      switch settings[.logLevel].first {
      case "off": .off
      case "problems": .problems
      default: .all
      }
    return Log(level, isJournal: Log.goesToJournal(environment))
  }

  static func address(_ text: String) throws(CommandError) -> SocketAddress {
    do {
      return try SocketAddress(parsing: text)
    } catch {
      throw CommandError.usage(
        "\(error)", remedy: "Write HOST:PORT, or [HOST]:PORT for an IPv6 address.", code: "badAddress")
    }
  }
}

/// SIGTERM and SIGINT as something to wait for: the handler only writes a byte into a pipe.
private enum StopSignals {
  private static let readEnd = Atomic<Int32>(-1)
  private static let writeEnd = Atomic<Int32>(-1)

  static func catchThem() {
    var ends: [Int32] = [-1, -1]
    precondition(unsafe pipe(&ends) == 0, "a process has room for a pipe")
    readEnd.store(ends[0], ordering: .sequentiallyConsistent)
    writeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    for number in [SIGTERM, SIGINT] { _ = signal(number) { _ in StopSignals.tell() } }
  }

  /// Ends the waiting, from a handler of a signal or from anywhere.
  static func tell() {
    var byte: UInt8 = 1
    _ = unsafe write(writeEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
  }

  /// Returns when one of them has come; waits on a thread of its own.
  static func wait() async {
    await withCheckedContinuation { continuation in
      ThreadOfItsOwn.run {
        var byte: UInt8 = 0
        while unsafe read(readEnd.load(ordering: .sequentiallyConsistent), &byte, 1) < 0 && errno == EINTR {}
        continuation.resume()
      }
    }
  }
}

/// Runs something that waits without holding a thread of the shared pool.
enum ThreadOfItsOwn {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  static func run(_ body: @escaping @Sendable () -> Void) {
    let context = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context)
    precondition(result == 0, "a process that has just started can have one more thread")
    pthread_detach(thread)
  }
}
