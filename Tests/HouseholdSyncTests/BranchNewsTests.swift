import HouseholdRecords
import HouseholdSync
import Testing

/// A fork that shows in a session which began without it (D4).
struct BranchNewsTests {
  /// In which a peer says what it has, after the two `have`s.
  enum Said: CaseIterable {
    case offer, acknowledge, subscribe

    func message(_ received: [Dependency]) -> Message {
      switch self {
      case .offer: .offer(received)
      case .acknowledge: .acknowledge(Acknowledgement(bytes: 0, received: received))
      case .subscribe: .subscribe(Subscription(number: 9, token: nil, received: received, snapshot: .none))
      }
    }
  }

  /// Node 0 and node 1 have one changeset, and the link between them is in use.
  let network = SimulatedNetwork(seed: 1, devices: 2)
  let link: LinkNumber

  init() {
    network.write(0)
    link = network.connect(0, 1)
    network.settle()
  }

  /// Lets node 1 say by this message that it has a changeset under the name of node 0's with this hash.
  func say(_ said: Said, hashPrefix: UInt64, on link: LinkNumber) {
    let news = Dependency(replica: network.nodes[0].store.replica, sequence: 1, hashPrefix: hashPrefix)
    let message = said.message([news])
    network.handle(
      0,
      .messageReceived(
        link, type: message.kind.rawValue, flags: message.kind.flags, payload: MessageCodec.encode(message)))
  }

  func goodbyes(_ index: Int, byPeer: Bool) -> [GoodbyeCode] {
    network.nodes[index].reports.compactMap {
      if case .closed(_, _, let goodbye, byPeer) = $0 { goodbye.code } else { nil }
    }
  }

  @Test(arguments: Said.allCases)
  func `a peer that comes to speak of another branch is told goodbye, and not blamed (D4)`(said: Said) throws {
    say(said, hashPrefix: 2, on: link)
    network.settle()

    #expect(goodbyes(0, byPeer: false) == [.branches])
    #expect(goodbyes(1, byPeer: true) == [.branches])
    #expect(network.nodes.allSatisfy { $0.engine.peers.isEmpty })
    #expect(network.nodes[0].reports.allSatisfy { if case .violation = $0 { false } else { true } })
  }

  @Test(arguments: Said.allCases)
  func `a peer that comes to call a branch otherwise is told goodbye (D4)`(said: Said) throws {
    network.nodes[0].store.renamed = [network.nodes[0].store.replica]

    say(said, hashPrefix: 1, on: link)

    #expect(goodbyes(0, byPeer: false) == [.branches])
  }

  @Test(arguments: Said.allCases)
  func `a peer that speaks of the branch that is here goes on`(said: Said) throws {
    say(said, hashPrefix: 1, on: link)

    #expect(goodbyes(0, byPeer: false).isEmpty)
    #expect(network.nodes[0].engine.peers.map(\.isInUse) == [true])
  }

  @Test(arguments: Said.allCases)
  func `a fork that the session began with does not end it again, and what is said by that name does not count (D4)`(
    said: Said
  ) throws {
    network.cut(link)
    network.nodes[1].store.hashPrefix = 2
    let second = network.connect(0, 1)
    network.settle()
    let before = network.nodes[0].engine.peers.map(\.received)

    say(said, hashPrefix: 2, on: second)

    #expect(
      network.nodes[0].reports.contains(.forkSuspected(network.nodes[0].store.replica, network.nodes[1].store.device)))
    #expect(goodbyes(0, byPeer: false).isEmpty)
    #expect(network.nodes[0].engine.peers.map(\.received) == before)
  }
}
