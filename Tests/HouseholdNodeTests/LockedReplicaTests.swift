import Foundation
import Testing

/// What commands that the node carries out say while another program holds the replica locked.
@Suite(.serialized, .ownThread) struct LockedReplicaTests {
  @Test func `a lock behind the node is to be tried again, as one before it is`() throws {
    let place = try Place()
    let ana = try place.founder()
    let holder = try LockHolder(ana)

    let refused = try ana.run("invite", "ben", "--json")
    holder.letGo()

    #expect(refused.code == 75, "\(refused.errors)")
    #expect((try refused.document()["error"] as? [String: Any])?["code"] as? String == "databaseLocked")
    #expect(try ana.run("invite", "ben").code == 0)
  }
}
