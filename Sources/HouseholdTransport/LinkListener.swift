import Glibc
import HouseholdRecords

/// Why a node cannot listen.
package enum ListenFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another program listens there.
  case portInUse(SocketAddress)
  /// The host is no address of this machine, or unknown.
  case unknownHost(ResolutionFault)
  case socket(SocketAddress, SocketFault)

  /// One sentence, with the remedy.
  package var description: String {
    switch self {
    case .portInUse(let address):
      "The port \(address.port) is taken by another program; stop it or choose another with --listen HOST:PORT."
    case .unknownHost(let fault): fault.description
    case .socket(let address, let fault): "Cannot listen on \(address): \(systemMessage(fault.errno))."
    }
  }
}

/// Waits for connections at one address and makes links of them.
///
/// Unchecked: what changes is used on the loop's thread only.
package final class LinkListener: @unchecked Sendable {
  /// Where it listens, with the port that the system chose if 0 was asked for.
  package let address: SocketAddress
  private let links: LinkSet
  private let owner: any LinkOwner
  private let socket: Socket
  private var isClosed = false

  /// How many connections are taken before the links have their turn.
  private static let acceptsPerTurn = 64
  /// How long to wait when the process has no descriptor left, in milliseconds.
  private static let pauseMilliseconds: Int64 = 100

  /// Listens from now on; asks the name service on the calling thread if the host is a name.
  ///
  /// `[::]` takes IPv4 too; where there is no IPv6 it means `0.0.0.0`.
  package init(_ wanted: SocketAddress, links: LinkSet, owner: any LinkOwner) throws(ListenFault) {
    socket = try Self.listening(at: wanted)
    address = unsafe socket.address(getsockname)?.address ?? wanted
    self.links = links
    self.owner = owner
    links.loop.submit { self.start() }
  }

  /// Stops listening; links that were made stay.
  package func close() {
    links.loop.submit {
      guard !self.isClosed else { return }
      self.isClosed = true
      self.links.loop.unwatch(self.socket.descriptor)
      self.socket.close()
    }
  }

  private static func listening(at wanted: SocketAddress) throws(ListenFault) -> Socket {
    let found: [NumericAddress]
    switch AddressResolver.lookUp(wanted) {
    case .success(let addresses): found = addresses
    case .failure(let fault): throw .unknownHost(fault)
    }
    guard let numeric = found.first else { throw .unknownHost(ResolutionFault(host: wanted.host, code: EAI_NONAME)) }
    do throws(SocketFault) {
      return try bound(to: numeric)
    } catch {
      if wanted.host == "::", error.errno == EAFNOSUPPORT || error.errno == EADDRNOTAVAIL {
        return try listening(at: SocketAddress(host: "0.0.0.0", port: wanted.port))
      }
      throw error.errno == EADDRINUSE ? .portInUse(wanted) : .socket(wanted, error)
    }
  }

  private static func bound(to address: NumericAddress) throws(SocketFault) -> Socket {
    let socket = try Socket(family: address.family)
    socket.set(SOL_SOCKET, SO_REUSEADDR, 1)
    if address.family == AF_INET6 { socket.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
    guard unsafe address.withSocketAddress({ unsafe bind(socket.descriptor, $0, $1) }) == 0,
      listen(socket.descriptor, 128) == 0
    else {
      let fault = SocketFault(operation: "listen")
      socket.close()
      throw fault
    }
    return socket
  }

  private func start() {
    guard !isClosed else { return }
    do throws(SocketFault) {
      try links.loop.watch(socket.descriptor) { [weak self] readiness in
        if readiness.intersects(.reading) { self?.acceptWaiting() }
      }
    } catch {
      links.loop.schedule(afterMilliseconds: Self.pauseMilliseconds) { self.start() }
    }
  }

  /// Takes what waits; without a free descriptor it waits a moment, as no further event would come.
  private func acceptWaiting() {
    for _ in 0..<Self.acceptsPerTurn {
      guard !isClosed else { return }
      let descriptor = accept(socket.descriptor, nil, nil)
      if descriptor < 0 {
        switch errno {
        case EAGAIN: return
        case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTUNREACH: continue
        default:
          links.loop.schedule(afterMilliseconds: Self.pauseMilliseconds) { self.acceptWaiting() }
          return
        }
      }
      let accepted = Socket(accepted: descriptor)
      guard let peer = unsafe accepted.address(getpeername) else {
        accepted.close()
        continue
      }
      links.accept(accepted, from: peer.address, owner: owner)
    }
    links.loop.submit { self.acceptWaiting() }
  }
}
