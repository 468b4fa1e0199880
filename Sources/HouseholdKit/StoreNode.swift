package import HouseholdNode
package import HouseholdReplica
internal import HouseholdTransport

/// The node as a store sees it: in a program of its own, in this one, or one of a test's household.
package protocol StoreNode: Sendable {
  /// The clock that edits are captured with; nil for the machine's.
  var clock: ClockedFileSystem? { get }
  /// What only a running node knows.
  func facts() throws -> NodeAnswer
  /// Says that something may have been written and is to be synced; false if no node runs.
  func look() throws -> Bool
  /// Lets the node work for a moment; false where nothing comes of waiting.
  func pause() async throws -> Bool
  /// Somebody is about to wait for sync, which goes on at least until `end`.
  func begin() throws
  /// Nobody waits any more; once for each `begin`.
  func end() throws
  /// The store is closed.
  func close() throws
}

/// Whatever node runs on a directory, reached at its control socket.
struct RunningNode: StoreNode {
  let directory: DataDirectory

  var clock: ClockedFileSystem? { nil }
  func facts() throws -> NodeAnswer { NodeAnswer.ask(directory) }

  func look() throws -> Bool {
    guard let client = try ControlClient.connect(directory) else { return false }
    defer { client.hangUp() }
    _ = try client.ask(.poke)
    return true
  }

  func pause() async throws -> Bool {
    try await Task.sleep(for: .milliseconds(20))
    return true
  }

  func begin() throws {}
  func end() throws {}
  func close() throws {}
}

/// A node in this program: it ends with the store, or with manual scheduling runs only while somebody waits for sync.
///
/// It is asked at its control socket like any other, so there is one way to ask. Unchecked: `node` and `waiting` are
/// behind the lock.
final class OwnNode: StoreNode, @unchecked Sendable {
  private let running: RunningNode
  private let configuration: NodeConfiguration
  private let isManual: Bool
  private let lock = ReentrantLock()
  private var node: EmbeddedNode?
  private var waiting = 0

  init(_ settings: NodeSettings, in directory: DataDirectory) throws {
    running = RunningNode(directory: directory)
    isManual = settings.scheduling == .manual
    configuration = try settings.configuration(directory)
    try directory.requireHousehold()
    if !isManual { node = try EmbeddedNode(configuration) }
  }

  var clock: ClockedFileSystem? { nil }
  func facts() throws -> NodeAnswer { try running.facts() }
  func look() throws -> Bool { try running.look() }
  func pause() async throws -> Bool { try await running.pause() }

  func begin() throws {
    try lock.withLock {
      waiting += 1
      guard node == nil else { return }
      do {
        node = try EmbeddedNode(configuration)
      } catch {
        waiting -= 1
        throw error
      }
    }
  }

  func end() throws {
    let ended: EmbeddedNode? = lock.withLock {
      waiting -= 1
      guard isManual, waiting == 0 else { return nil }
      defer { node = nil }
      return node
    }
    try ended?.stop()
  }

  func close() throws {
    let ended: EmbeddedNode? = lock.withLock {
      defer { node = nil }
      return node
    }
    try ended?.stop()
  }
}

/// Where the node is that syncs what a store writes; decided when the store is opened.
public struct NodeChoice: Sendable {
  enum Place { case external, automatic, embedded }

  let place: Place
  let settings: NodeSettings

  /// Whatever node runs on the directory, as `household node`; none need run to read and write.
  public static let external = NodeChoice(place: .external, settings: NodeSettings())

  /// The node that runs on the directory, if one does; else this program runs it until the store is closed.
  public static func automatic(_ settings: NodeSettings = NodeSettings()) -> Self {
    Self(place: .automatic, settings: settings)
  }

  /// This program runs the node until the store is closed; `nodeRunning` is thrown if one runs already.
  public static func embedded(_ settings: NodeSettings = NodeSettings()) -> Self {
    Self(place: .embedded, settings: settings)
  }

  func node(in directory: DataDirectory) throws -> any StoreNode {
    switch place {
    case .external: return RunningNode(directory: directory)
    case .embedded: return try OwnNode(settings, in: directory)
    case .automatic:
      do {
        return try OwnNode(settings, in: directory)
      } catch let error as NodeError where error.code == .nodeRunning {
        return RunningNode(directory: directory)
      }
    }
  }
}

/// How a node in this program runs.
public struct NodeSettings: Sendable {
  /// When it syncs.
  public enum Scheduling: Sendable {
    /// Always: an edit is on its way as soon as it is committed.
    case automatic
    /// Only during ``HouseholdStore/fetchChanges(patience:)`` and ``HouseholdStore/sendChanges(patience:)``; for an app
    /// that must decide by itself when the network may be used.
    case manual
  }

  /// When it syncs.
  public var scheduling: Scheduling
  /// Where it listens, `HOST:PORT`; port 0 takes any that is free.
  public var listen: String
  /// Nodes to dial, `HOST:PORT`; those of partners that were here before are known.
  public var partners: [String]
  /// Whether partners are looked for in the local network.
  public var discovers: Bool

  /// As `household node` runs by itself.
  public init(
    scheduling: Scheduling = .automatic, listen: String = "[::]:7411", partners: [String] = [], discovers: Bool = true
  ) {
    self.scheduling = scheduling
    self.listen = listen
    self.partners = partners
    self.discovers = discovers
  }

  func configuration(_ directory: DataDirectory) throws -> NodeConfiguration {
    NodeConfiguration(
      directory: directory, listen: try Self.address(listen), advertise: [], peers: try partners.map(Self.address),
      version: "HouseholdKit", log: Log(.off), discovers: discovers)
  }

  private static func address(_ text: String) throws -> SocketAddress {
    do {
      return try SocketAddress(parsing: text)
    } catch {
      throw HouseholdStoreError(.badValue, "'\(text)' is no address: write it HOST:PORT.", cause: error)
    }
  }
}
