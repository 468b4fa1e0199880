package import HouseholdSync
package import HouseholdTransport

extension Goodbye {
  /// The goodbye on a link that this node ends for what no session knows of; nil where there is none, as the session has
  /// said its own, or the link is lost.
  package init?(_ reason: LinkCloseReason) {
    let code: GoodbyeCode
    switch reason {
    case .violation: code = .violation
    case .queueFull: code = .tooSlow
    case .tooManyLinks: code = .duplicate
    case .closedHere, .closedByPeer, .cutOff, .tls, .handshakeTimedOut, .connectTimedOut, .superseded, .anotherDevice,
      .socket:
      return nil
    }
    self.init(code, retryAfterMilliseconds: SyncTiming.retryAfterViolation, reason.description)
  }
}
