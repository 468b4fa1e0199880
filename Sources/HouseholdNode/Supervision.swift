package import HouseholdTransport

/// Tells the service manager how the node is for as long as it runs: ready, its state in a sentence, alive, stopping.
///
/// It is told that the node lives only by way of both threads: a timer on the replica's hands on to the links', which
/// tells. Where one of them is stuck, the service manager hears nothing and starts the node anew. Unchecked: what changes
/// is used on the replica's thread only.
package final class Supervision: @unchecked Sendable {
  private let supervisor: Supervisor
  private let work: EventLoop
  private let links: EventLoop
  private var state = ""
  private var isReady = false
  private var isStopped = false

  /// - Parameters:
  ///   - work: the replica's thread, on which everything here is called.
  ///   - links: the thread of the links.
  package init(_ supervisor: Supervisor, work: EventLoop, links: EventLoop) {
    self.supervisor = supervisor
    self.work = work
    self.links = links
  }

  /// Tells that the node lives, from now on and twice within the time after which it would be taken for stuck.
  package func begin() {
    guard let patience = supervisor.patienceMicroseconds, !isStopped else { return }
    links.submit { [supervisor] in supervisor.tell([("WATCHDOG", "1")]) }
    _ = work.schedule(afterMicroseconds: patience / 2) { [weak self] in self?.begin() }
  }

  /// How the node is, in a sentence; told when it is another one. Once it listens, whoever waited for it may go on.
  package func shows(_ state: String, isListening: Bool) {
    let isNewlyReady = isListening && !isReady
    guard !isStopped, isNewlyReady || state != self.state else { return }
    guard supervisor.tell((isNewlyReady ? [("READY", "1")] : []) + [("STATUS", state)]) else { return }
    isReady = isReady || isNewlyReady
    self.state = state
  }

  /// The node says goodbye.
  package func stop() {
    guard !isStopped else { return }
    supervisor.tell([("STOPPING", "1"), ("STATUS", "saying goodbye to the other devices")])
    isStopped = true
  }
}
