import Foundation
import HouseholdNode
import HouseholdTransport
import Testing

/// Devices find each other in the local network, here the loopback one (P16).
@Suite(.serialized, .ownThread) struct DiscoveryTests {
  @Test func `a network that comes, goes or has another address is a change, and the first look is none (P14)`() {
    let lan = InterfaceAddress(name: "lan0", index: 2, host: "10.77.0.1", isIPv6: false, isLoopback: false)
    var moved = lan
    moved.host = "10.88.0.1"
    for first in [[], [lan]] {
      var watch = NetworkWatch()

      let changes = [first, first, first + [moved], [moved] + first, first].map { watch.hasChanged($0) }

      #expect(changes == [false, false, true, false, true])
    }
  }

  @Test func `two devices that both moved find each other, unless one does not call (P16)`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.waitInSync()
    for home in [ana, ben] { try home.stop() }

    // Each gets a new port, so what they remember of each other is wrong.
    try ana.start(discovers: true)
    try ben.start(discovers: false)
    try eventually("ana has tried in vain") { try ana.peer("ben")["lastError"] is String }
    #expect(try ana.peer("ben")["connected"] as? Bool == false)
    try ben.stop()
    try ben.start(discovers: true)

    for home in [ana, ben] { try home.waitInSync() }
  }
}
