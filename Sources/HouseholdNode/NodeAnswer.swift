/// What the node of a data directory says when it is asked how it is.
package enum NodeAnswer: Sendable {
  case notRunning
  /// One is there and gives no answer; the sentence says what came instead.
  case silent(String)
  case facts(LiveFacts)

  /// What it told, if it did.
  package var facts: LiveFacts? {
    guard case .facts(let facts) = self else { return nil }
    return facts
  }

  /// Asks the node, for as long as a command waits for one.
  package static func ask(_ directory: DataDirectory) -> NodeAnswer {
    do {
      guard let client = try ControlClient.connect(directory) else { return .notRunning }
      defer { client.hangUp() }
      guard case .status(let live) = try client.ask(.status) else {
        return .silent("The node answers something else than it was asked.")
      }
      return .facts(live)
    } catch let error as NodeError {
      return .silent(error.message)
    } catch {
      return .silent("What the node says cannot be read: it is of another version.")
    }
  }
}
