package import HouseholdRecords

/// A snapshot whose pages are put in place as they come, so that a first sync takes as long as the slower of the two
/// sides and not as long as both.
///
/// The load-bearing detail: it works on a view of the file of its own, in one transaction that lasts until the last page.
/// Nobody sees anything of it before, this device's engine included, and a kill leaves nothing (F13). The transaction
/// keeps other writers out, so it is only for a device that holds nothing yet, and for a short while: whoever has to write,
/// a pause or a large snapshot ends it, and the pages, which are kept until then, go the ordinary way.
final class DirectAdoption {
  let id: SnapshotID
  /// The other view of the file, in the transaction.
  let view: Replica
  private var pages: [SnapshotPage] = []
  private var adopted = AdoptedPages()
  private var bytes = 0
  private let began: Instant

  /// How long other writers may be kept out, in milliseconds.
  private static let patience: Int64 = 2000

  /// Begins the transaction.
  init(_ id: SnapshotID, view: Replica, now: Instant) throws {
    self.id = id
    self.view = view
    began = now
    try view.connection.begin()
  }

  var progress: SnapshotProgress? {
    pages.last.map { SnapshotProgress(id: id, cursor: $0.cursor, isComplete: $0.isLast) }
  }

  /// Whether one more page may go this way.
  func takes(_ page: SnapshotPage) -> Bool { bytes + page.content.count <= Limits.directSnapshotBytes }

  /// Whether it has kept other writers out for long enough; a clock that was set back ends it, too.
  func isLate(at now: Instant) -> Bool { !(0...Self.patience).contains(now.milliseconds(since: began)) }

  /// Puts one page in place.
  func adopt(_ page: SnapshotPage) throws {
    pages.append(page)
    bytes += page.content.count
    try view.adopt(page: page.content, into: &adopted)
  }

  /// Ends the transaction durably.
  func finish(from peer: DeviceID, token: ChangeToken, now: Instant) throws {
    try adopted.requireHeader()
    try view.finishAdoption(from: peer, token: token, now: now)
    try view.connection.commit()
  }

  /// Undoes everything, and gives the pages that have come.
  func cancel() -> [SnapshotPage] {
    view.connection.rollBack()
    view.close()
    return pages
  }
}

extension Replica {
  /// Puts a page in place at once, if this is a device that holds nothing yet; false if it has to be staged.
  func adoptDirectly(_ page: SnapshotPage, of id: SnapshotID) throws -> Bool {
    if directAdoption == nil {
      guard try isReadyForDirectAdoption(), try snapshotProgress() == nil else { return false }
      let view = try Replica(path: path, cryptography: cryptography, signer: signer)
      (view.lastNow, view.random, view.takesShortWay) = (lastNow, random, takesShortWay)
      directAdoption = try DirectAdoption(id, view: view, now: lastNow)
    }
    guard let direct = directAdoption, direct.id == id, direct.takes(page), !direct.isLate(at: lastNow) else {
      try setDirectAdoptionAside()
      return false
    }
    do {
      try direct.adopt(page)
      return true
    } catch {
      // What contradicts itself is not kept, nor what could not be written: the next attempt starts from the first page.
      directAdoption = nil
      _ = direct.cancel()
      throw error
    }
  }

  /// Whether nothing is here that a snapshot would have to be merged with.
  private func isReadyForDirectAdoption() throws -> Bool {
    try needsSnapshot && replicas.entries.isEmpty && outbox.isEmpty() && log.nextPosition == 1
  }

  /// Completes a snapshot that was put in place as it came; false if this one was not.
  func finishDirectly(_ id: SnapshotID, from peer: DeviceID, token: ChangeToken, now: Instant) throws -> Bool {
    guard let direct = directAdoption else { return false }
    guard direct.id == id, direct.progress?.isComplete == true else {
      try setDirectAdoptionAside()
      return false
    }
    directAdoption = nil
    do {
      try direct.finish(from: peer, token: token, now: now)
    } catch {
      _ = direct.cancel()
      throw error
    }
    try take(from: direct.view)
    direct.view.close()
    return true
  }

  /// Lets the snapshot go the ordinary way: its transaction is undone, and its pages are staged.
  package func setDirectAdoptionAside() throws {
    guard let direct = directAdoption else { return }
    directAdoption = nil
    for page in direct.cancel() { try keep(page, of: direct.id) }
  }

  package func timePassed(_ now: Instant) throws {
    lastNow = now
    if directAdoption?.isLate(at: now) == true { try setDirectAdoptionAside() }
  }
}
