internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica

/// The records that meet a predicate, now and again whenever they change, by whatever program or partner.
///
/// Each loop over it has a reader of its own. A change that comes while the loop's body runs is told at the next turn;
/// several are told as one. It ends when the store is closed, or its task is cancelled.
public struct LiveResults<Record: HouseholdRecord>: AsyncSequence, Sendable {
  /// Always a ``HouseholdStoreError``, which an asynchronous sequence of today cannot say of itself.
  public typealias Failure = any Error

  let store: HouseholdStore
  let query: ResolvedQuery<Record>

  /// Begins a loop, with a reader of its own.
  public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

  /// One loop.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let store: HouseholdStore
    fileprivate let query: ResolvedQuery<Record>
    fileprivate var reader: LiveReader?
    fileprivate var signals: AsyncStream<Void>.Iterator?
    private var shown: LiveRows<Record>?
    private var place: FeedPosition?

    fileprivate init(store: HouseholdStore, query: ResolvedQuery<Record>) {
      self.store = store
      self.query = query
    }

    /// The records, once they are others than those that were told last.
    public mutating func next() async throws -> [Record]? {
      if reader == nil {
        signals = try await store.signals().makeAsyncIterator()
        reader = try LiveReader(store.directory)
      }
      guard let reader else { return nil }
      while await signals?.next(isolation: #isolation) != nil {
        do {
          guard try reader.hasNews(), try update(reader), let shown else { continue }
          return shown.records
        } catch {
          throw HouseholdStoreError(error)
        }
      }
      return nil
    }

    /// Brings what is shown to where the file is; whether it changed.
    ///
    /// What changed since the last look is asked first: a commit of another type costs next to nothing, and one of this
    /// type what changed, not what the question finds.
    private mutating func update(_ reader: LiveReader) throws -> Bool {
      guard let place, shown != nil else {
        self.place = try reader.access.feedPosition()
        shown = try LiveRows(query, reader.access)
        return true
      }
      let feed = try reader.access.feed(since: place)
      self.place = feed.next
      guard feed.isComplete else { return try shown?.readAll(reader.access) ?? false }
      let ids = feed.changes.filter { $0.key.type == query.shape.type.name }.map(\.key.id)
      return try ids.isEmpty ? false : shown?.read(ids, reader.access) ?? false
    }
  }
}

extension HouseholdStore {
  /// The records that meet the predicate, sorted, now and again whenever they change.
  public func live<Record: HouseholdRecord>(
    _ type: Record.Type, where predicate: RecordPredicate<Record>? = nil, sort sorting: [RecordSorting<Record>] = [],
    limit: Int? = nil
  ) throws(HouseholdStoreError) -> LiveResults<Record> {
    try locked { _ in
      LiveResults(store: self, query: try ResolvedQuery(try shape(type), predicate, sorting, limit))
    }
  }
}
