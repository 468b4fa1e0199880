internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica

/// Something that happened to the records or to sync.
///
/// Fetching and sending are told in brackets: `will`, what came or went, `did`. Sync is continuous, so a bracket is what
/// was seen between two looks; what began and ended between them is told as a whole bracket.
public enum HouseholdEvent: Sendable {
  /// A connected partner has edits that are not here yet.
  case willFetchChanges
  /// Partners' edits are in the tables: records that changed and records that are gone.
  case fetchedChanges(changed: [RecordID], deleted: [RecordID])
  /// So much changed that only reading all records again tells what: see ``RecordChanges/isComplete``.
  case fetchedEverything
  /// Everything that the connected partners have is here, or none is connected any more.
  case didFetchChanges
  /// A connected partner lacks edits of this device.
  case willSendChanges
  /// A partner's device has confirmed edits of this one; `missing` changesets are still to be confirmed by it.
  case sentChanges(partner: String, missing: Int)
  /// The connected partners have everything of this device, or none is connected any more.
  case didSendChanges
  /// Edits that do not show, each with its reason; each is told once.
  case failedChanges([FailedChange])
  /// How far the changes are told: to be stored, and given to ``HouseholdStore/events(since:)`` after the next start.
  case stateUpdate(ChangeToken)
  /// An edit lost against a concurrent one.
  case conflict(RecordConflict)
  /// What this device may do in the household, or its names, are others now.
  case accountChange(AccountStatus)
  /// Who belongs to the household, or what they may do, is another now.
  case membersChange([HouseholdMember])
  /// The verdict on sync, or its reason, is another now.
  case verdict(SyncStatus)
}

/// The events of a household, from a token on; each loop over it has its own.
///
/// It begins with the account, the members and the verdict as they are. It ends when the store is closed, or its task is
/// cancelled.
public struct HouseholdEvents: AsyncSequence, Sendable {
  /// Always a ``HouseholdStoreError``, which an asynchronous sequence of today cannot say of itself.
  public typealias Failure = any Error

  let store: HouseholdStore
  let token: ChangeToken?

  /// Begins a loop, with a reader of its own.
  public func makeAsyncIterator() -> Iterator { Iterator(store: store, token: token) }

  /// One loop.
  public struct Iterator: AsyncIteratorProtocol {
    private let store: HouseholdStore
    private var token: ChangeToken?
    private var reader: LiveReader?
    private var signals: AsyncStream<Void>.Iterator?
    private var waiting: ArraySlice<HouseholdEvent> = []
    private var told = EventSnapshot()
    private var judged: ContinuousClock.Instant?

    init(store: HouseholdStore, token: ChangeToken?) {
      self.store = store
      self.token = token
    }

    /// The next event, once there is one.
    public mutating func next() async throws -> HouseholdEvent? {
      if reader == nil {
        signals = try await store.signals().makeAsyncIterator()
        reader = try LiveReader(store.directory)
      }
      guard let reader else { return nil }
      while true {
        if let event = waiting.popFirst() { return event }
        guard await signals?.next(isolation: #isolation) != nil else { return nil }
        do {
          try look(reader)
        } catch {
          throw HouseholdStoreError(error)
        }
      }
    }

    private mutating func look(_ reader: LiveReader) throws {
      let hasNews = try reader.hasNews()
      let fetched = hasNews ? try changes(reader) : []
      // Asking for the state of sync opens the file, which the watcher hears, too: it must not answer to itself.
      let moment = ContinuousClock.now
      if let judged, !hasNews, moment - judged < .seconds(1) { return }
      judged = moment
      var now = try store.snapshot()
      if now.failureCount != told.failureCount { now.failures = try store.failedChanges() }
      waiting = now.events(since: told, fetched: fetched)[...]
      told = now
    }

    /// What partners changed since the token, and the new token.
    private mutating func changes(_ reader: LiveReader) throws -> [HouseholdEvent] {
      guard let since = token else {
        let now = ChangeToken(try reader.access.feedPosition())
        token = now
        return [.stateUpdate(now)]
      }
      let feed = try reader.access.feed(since: since.position)
      let next = ChangeToken(feed.next)
      token = next
      // While a changeset waits, the place stands still and what came after it is told again: better than never.
      let fetched = feed.changes.filter { !$0.isOwn }
      var events: [HouseholdEvent] = []
      if !feed.isComplete {
        events.append(.fetchedEverything)
      } else if !fetched.isEmpty {
        let (here, gone) = (fetched.filter(\.isHere), fetched.filter { !$0.isHere })
        events.append(.fetchedChanges(changed: here.map { RecordID($0.key) }, deleted: gone.map { RecordID($0.key) }))
      }
      return next == since ? events : events + [.stateUpdate(next)]
    }
  }
}

extension HouseholdStore {
  /// What happens from now on, or since a token that a `stateUpdate` gave.
  public func events(since token: ChangeToken? = nil) -> HouseholdEvents {
    HouseholdEvents(store: self, token: token)
  }
}
