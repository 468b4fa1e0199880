public import FoundationEssentials
package import HouseholdNode
package import HouseholdRecords
internal import HouseholdReplica

/// The records of a household on this device, for apps: typed reading and writing, observation, and the state of sync.
///
/// It works beside a running node, which syncs what is written, or without one. It may be used from any thread; calls
/// wait for each other. Several may be open on one directory, in one program or many. All methods throw
/// ``HouseholdStoreError``. Unchecked: everything that changes is behind the lock.
public final class HouseholdStore: @unchecked Sendable {
  private let lock = ReentrantLock()
  private let household: Household
  private var isClosed = false
  private var shapes: [ObjectIdentifier: any Sendable] = [:]
  private var watcher: CommitWatcher?
  let directory: DataDirectory
  let node: any StoreNode

  /// Opens the household with a node that is there already.
  package init(_ directory: DataDirectory, node: any StoreNode, records: [any HouseholdRecord.Type] = []) throws {
    self.directory = directory
    self.node = node
    household = try Household(directory, clock: node.clock)
    for type in records { try check(type) }
  }

  private convenience init(
    _ directory: DataDirectory, _ choice: NodeChoice, records: [any HouseholdRecord.Type] = []
  ) throws {
    let node = try choice.node(in: directory)
    do {
      try self.init(directory, node: node, records: records)
    } catch {
      try node.close()
      throw error
    }
  }

  /// Opens the household in a data directory.
  ///
  /// - Parameters:
  ///   - directory: made by `household init` or `join`, or by ``create(in:household:member:device:records:node:)``.
  ///   - records: types to check against the household's schema now; others are checked when they are used first.
  ///   - node: where the node is that syncs; by itself a program of its own.
  public static func open(
    directory: URL, records: [any HouseholdRecord.Type] = [], node: NodeChoice = .external
  ) throws(HouseholdStoreError) -> HouseholdStore {
    try HouseholdStoreError.translating { try HouseholdStore(DataDirectory(directory.path), node, records: records) }
  }

  /// Makes a new household whose schema is made from these types, and opens it.
  ///
  /// - Parameters:
  ///   - directory: must not be there, or be empty.
  ///   - household: its name, for people.
  ///   - member: the name of the person who founds it.
  ///   - device: the name of this machine.
  ///   - records: the types of which the schema is made.
  ///   - node: where the node is that syncs; by itself a program of its own.
  public static func create(
    in directory: URL, household: String, member: String, device: String, records: [any HouseholdRecord.Type],
    node: NodeChoice = .external
  ) throws(HouseholdStoreError) -> HouseholdStore {
    try HouseholdStoreError.translating {
      _ = try Founding.found(
        Founding.Wishes(
          householdName: household, memberName: member, deviceName: device, schema: try schema(of: records)),
        in: DataDirectory(directory.path))
      return try HouseholdStore(DataDirectory(directory.path), node)
    }
  }

  /// The schema of a household for these types.
  package static func schema(of records: [any HouseholdRecord.Type]) throws -> Schema {
    Schema(name: "app", version: 1, types: try records.map { try recordType($0) })
  }

  /// The schema made from these types, as `household init --schema FILE` and `schema upgrade FILE` read it: JSON.
  public static func schema(
    name: String, version: Int, records: [any HouseholdRecord.Type]
  ) throws(HouseholdStoreError) -> String {
    try HouseholdStoreError.translating {
      let schema = Schema(name: name, version: UInt64(max(1, version)), types: try records.map { try recordType($0) })
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return String(decoding: try encoder.encode(schema), as: UTF8.self)
    }
  }

  private static func recordType<Record: HouseholdRecord>(_ type: Record.Type) throws -> RecordType {
    try RecordShape<Record>.recordType()
  }

  private func check<Record: HouseholdRecord>(_ type: Record.Type) throws { _ = try shape(type) }

  deinit { close() }

  /// Ends everything that observes, closes the file, and ends the node if it is this store's.
  public func close() {
    let (wasClosed, ended) = lock.withLock { () -> (Bool, CommitWatcher?) in
      if isClosed { return (true, nil) }
      isClosed = true
      household.close()
      defer { watcher = nil }
      return (false, watcher)
    }
    if wasClosed { return }
    ended?.stop()
    do {
      try node.close()
    } catch {
      // What was committed is in the file, and the next node takes it up; its sockets end with the process.
      return
    }
  }

  /// A new id for a record: 32 hexadecimal digits, random.
  public static func newID() -> String { Household.newID() }

  // MARK: What the other files build on

  /// Runs the body alone, with errors turned into ours.
  func locked<Result>(_ body: (Household) throws -> Result) throws(HouseholdStoreError) -> Result {
    lock.lock()
    defer { lock.unlock() }
    guard !isClosed else { throw HouseholdStoreError(.closed, "The store is closed; open it again.") }
    return try HouseholdStoreError.translating { try body(household) }
  }

  /// What a Swift type is in this household, learned at its first use.
  func shape<Record: HouseholdRecord>(_ type: Record.Type) throws -> RecordShape<Record> {
    lock.lock()
    defer { lock.unlock() }
    if let known = shapes[ObjectIdentifier(type)] as? RecordShape<Record> { return known }
    let shape = try RecordShape(type, in: household.schema)
    shapes[ObjectIdentifier(type)] = shape
    return shape
  }

  /// Signals when it is worth to look for changes; the watcher's thread starts with the first that asks.
  func signals() async throws -> AsyncStream<Void> {
    if let running = lock.withLock({ watcher }) { return running.signals() }
    let made = try await CommitWatcher(directory)
    let (kept, isKept) = lock.withLock { () -> (CommitWatcher?, Bool) in
      if isClosed { return (nil, false) }
      if let watcher { return (watcher, false) }
      watcher = made
      return (made, true)
    }
    if !isKept { made.stop() }
    guard let kept else { throw HouseholdStoreError(.closed, "The store is closed; open it again.") }
    return kept.signals()
  }
}
