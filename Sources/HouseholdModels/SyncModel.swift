public import HouseholdKit
public import Observation

/// The state of sync, for a view: the indicator, who is here, and what waits for a person.
///
/// It follows the household for as long as it is kept.
@MainActor @Observable public final class SyncModel {
  /// How sync is; nil until it is known.
  public private(set) var status: SyncStatus?
  /// Who this device is; nil until it is known.
  public private(set) var account: AccountStatus?
  /// Who belongs to the household.
  public private(set) var members: [HouseholdMember] = []
  /// The conflicts that nobody has decided.
  public private(set) var conflicts: [RecordConflict] = []
  /// Whether edits come in at the moment.
  public private(set) var isFetching = false
  /// Whether edits go out at the moment.
  public private(set) var isSending = false
  /// Why it is followed no more, if something went wrong.
  public private(set) var error: HouseholdStoreError?
  @ObservationIgnored private var following: Task<Void, Never>?

  /// Begins to follow.
  public init(_ store: HouseholdStore) {
    following = Task.detached { [weak self] in
      do {
        for try await event in store.events() {
          switch event {
          // Whatever changed the records may have decided a conflict.
          case .conflict, .stateUpdate: await self?.show(event, conflicts: try store.conflicts())
          default: await self?.show(event, conflicts: nil)
          }
        }
      } catch {
        await self?.end(error)
      }
    }
  }

  deinit { following?.cancel() }

  private func show(_ event: HouseholdEvent, conflicts found: [RecordConflict]?) {
    if let found, found != conflicts { conflicts = found }
    switch event {
    case .verdict(let status): self.status = status
    case .accountChange(let account): self.account = account
    case .membersChange(let members): self.members = members
    case .willFetchChanges: isFetching = true
    case .didFetchChanges: isFetching = false
    case .willSendChanges: isSending = true
    case .didSendChanges: isSending = false
    case .fetchedChanges, .fetchedEverything, .sentChanges, .failedChanges, .stateUpdate, .conflict: break
    }
  }

  private func end(_ error: any Error) { self.error = error as? HouseholdStoreError }
}
