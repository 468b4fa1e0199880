import Foundation
import Glibc
import HouseholdKit
import Testing

/// The node in an app's own process, or the one that runs: decided when the store is opened.
struct EmbeddedNodeTests {
  private let folder: Folder
  private static let quiet = NodeSettings(listen: "127.0.0.1:0", discovers: false)

  init() throws { folder = try Folder() }

  @Test func `an app is the node until its store is closed`() throws {
    let app = try folder.household(Note.self, node: .embedded(Self.quiet))
    let other = try HouseholdStore.open(directory: folder.place("home"))

    #expect(try other.status().verdict == .inSync)
    #expect(try app.status().isNodeRunning)
    app.close()

    #expect(try other.status().reason == "nodeNotRunning")
  }

  @Test func `a directory has one node: a second is refused, or does without`() throws {
    let first = try folder.household(Note.self, node: .embedded(Self.quiet))

    let error = #expect(throws: HouseholdStoreError.self) {
      try HouseholdStore.open(directory: folder.place("home"), node: .embedded(Self.quiet))
    }
    let second = try HouseholdStore.open(directory: folder.place("home"), node: .automatic(Self.quiet))
    second.close()

    #expect(error?.code == .nodeRunning)
    #expect(try first.status().isNodeRunning)
  }

  /// Every descriptor that this process has of a folder once more, as a child has them that was forked and has not
  /// yet run its program.
  private func inherited(of folder: URL) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number -> Int32? in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return target == folder.path ? Int32(number).map { dup($0) } : nil
    }
  }

  @Test func `a directory is free once its store is closed, though a child of the app still has its descriptors`()
    throws
  {
    let first = try folder.household(Note.self, node: .embedded(Self.quiet))
    let children = try inherited(of: folder.place("home"))
    defer { for child in children { Glibc.close(child) } }
    try #require(!children.isEmpty)
    first.close()

    let second = try HouseholdStore.open(directory: folder.place("home"), node: .embedded(Self.quiet))

    #expect(try second.status().isNodeRunning)
  }

  @Test func `a node that cannot start leaves nothing behind`() throws {
    try folder.household(Note.self).close()

    let wrong = #expect(throws: HouseholdStoreError.self) {
      try HouseholdStore.open(directory: folder.place("home"), node: .embedded(NodeSettings(listen: "nowhere")))
    }
    let missing = #expect(throws: HouseholdStoreError.self) {
      try HouseholdStore.open(directory: folder.place("home"), records: [Errand.self], node: .embedded(Self.quiet))
    }
    let store = try HouseholdStore.open(directory: folder.place("home"), node: .embedded(Self.quiet))

    #expect(wrong?.code == .badValue)
    #expect(missing?.code == .schemaMismatch)
    #expect(try store.status().isNodeRunning)
  }

  @Test func `with manual scheduling records travel when the app says so, and only then`() async throws {
    let address = try folder.pair()
    try folder.stopNode("ben")
    let settings = NodeSettings(
      scheduling: .manual, listen: "127.0.0.1:0", partners: [address], discovers: false)
    let ana = try HouseholdStore.open(directory: folder.place("ana"), records: [Note.self])
    let ben = try HouseholdStore.open(directory: folder.place("ben"), records: [Note.self], node: .automatic(settings))
    try ben.insert(Note(id: "b", title: "Ben's"))
    let before = try ben.status()

    try await ben.sendChanges()
    let arrived = try ana.fetch(Note.self, id: "b")
    try ana.insert(Note(id: "a", title: "Ana's"))
    try folder.wait(for: "ana's node to take it up") { try ana.pendingChanges().unsealed.isEmpty }
    let early = try ben.fetch(Note.self, id: "a")
    try await ben.fetchChanges()

    #expect(!before.isNodeRunning)
    #expect(arrived?.title == "Ben's")
    #expect(early == nil)
    #expect(try ben.fetch(Note.self, id: "a")?.title == "Ana's")
    #expect(try !ben.status().isNodeRunning)
  }
}
