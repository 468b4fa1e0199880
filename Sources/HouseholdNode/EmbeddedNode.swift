internal import HouseholdTransport

/// A node inside an app's own process, for apps whose calls do not wait: it runs from here until `stop`.
///
/// It is the same node as `household node`: it holds the directory, listens, and answers commands at the control socket.
package final class EmbeddedNode: Sendable {
  private let node: Node

  /// Starts it; returns when it listens, or tries to again and again as its port is taken.
  package init(_ configuration: NodeConfiguration) throws {
    // An app goes on without its directory; the node takes nothing meanwhile, and goes on if it comes back.
    let node = try Node(configuration, ready: { _ in }, ended: { _ in })
    self.node = node
    do {
      try Self.waiting { try await node.start() }
    } catch {
      try Self.waiting { try await node.stop() }
      throw error
    }
  }

  /// Says goodbye to all peers and gives the directory back; returns when that is done.
  package func stop() throws {
    let node = node
    try Self.waiting { try await node.stop() }
  }

  /// Runs the body on a thread of its own and waits for it: the caller's thread may be one that all tasks share, and
  /// the body must not need it.
  private static func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
    let loop = try EventLoop()
    let ended = Ended()
    Task.detached(executorPreference: loop) {
      do {
        try await body()
        ended.tell(nil)
      } catch {
        ended.tell(error)
      }
    }
    let error = ended.wait()
    loop.stop()
    if let error { throw error }
  }
}
