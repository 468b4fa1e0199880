import Foundation
import HouseholdNode
import Testing

/// Whoever observes hears of commits, and of the end.
struct CommitWatcherTests {
  @Test func `who begins to listen after the end hears that it is over`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "household-watcher-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let watcher = try await CommitWatcher(DataDirectory(folder.path))

    watcher.stop()
    var signals = 0
    for await _ in watcher.signals() { signals += 1 }

    #expect(signals == 1)
    try FileManager.default.removeItem(at: folder)
  }
}
