public import HouseholdKit
public import Observation

/// The records that meet a predicate, for a view: they change as the file does.
///
/// It follows the file for as long as it is kept.
@MainActor @Observable public final class LiveQuery<Record: HouseholdRecord> {
  /// The records as of the last change, sorted.
  public private(set) var records: [Record] = []
  /// Whether the records were read once.
  public private(set) var isLoaded = false
  /// Why they are followed no more, if something went wrong.
  public private(set) var error: HouseholdStoreError?
  @ObservationIgnored private var following: Task<Void, Never>?

  /// Begins to follow.
  ///
  /// - Parameters:
  ///   - type: whose records.
  ///   - store: where they are; it stays open as long as they are followed.
  ///   - predicate: nil for all.
  ///   - sorting: the first decides, the next breaks ties.
  ///   - limit: the most records; nil for all.
  public init(
    _ type: Record.Type, in store: HouseholdStore, where predicate: RecordPredicate<Record>? = nil,
    sort sorting: [RecordSorting<Record>] = [], limit: Int? = nil
  ) {
    do {
      let results = try store.live(type, where: predicate, sort: sorting, limit: limit)
      follow(results)
    } catch {
      self.error = error
    }
  }

  deinit { following?.cancel() }

  private func follow(_ results: LiveResults<Record>) {
    // On a task of its own: questions are asked off the main actor, and only what they found comes to it.
    following = Task.detached { [weak self] in
      do {
        for try await records in results { await self?.show(records) }
      } catch {
        await self?.end(error)
      }
    }
  }

  private func show(_ found: [Record]) {
    records = found
    isLoaded = true
  }

  private func end(_ error: any Error) { self.error = error as? HouseholdStoreError }
}
