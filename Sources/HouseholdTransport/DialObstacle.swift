import Glibc

/// What kind of thing kept an address from working: each kind has another remedy.
package enum DialObstacle: String, Hashable, Sendable, CaseIterable {
  /// The name service knows no address for the name.
  case name
  /// The machine answers, and nothing listens at that port.
  case refused
  /// The system knows no way to the network or the machine.
  case noRoute
  /// Nothing answers.
  case timedOut
  /// Something answers that does not speak TLS, or not ours; or it refuses this device.
  case tls
  /// Anything else.
  case other
}

extension LinkCloseReason {
  /// What kind of obstacle it was for a link that did not come about.
  package var obstacle: DialObstacle {
    switch self {
    case .connectTimedOut, .handshakeTimedOut: .timedOut
    case .tls, .closedByPeer, .cutOff, .violation: .tls
    case .socket(let fault): fault.obstacle
    case .closedHere, .queueFull, .tooManyLinks, .superseded, .anotherDevice: .other
    }
  }
}

extension SocketFault {
  /// What kind of obstacle the system's error is.
  var obstacle: DialObstacle {
    switch errno {
    case ECONNREFUSED: .refused
    case ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, ENETDOWN, EPERM, EACCES: .noRoute
    case ETIMEDOUT: .timedOut
    default: .other
    }
  }
}
