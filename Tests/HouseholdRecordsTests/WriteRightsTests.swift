import HouseholdRecords
import Testing

struct WriteRightsTests {
  private let replica = ReplicaID(bytes: [UInt8](repeating: 7, count: 16))!

  private func through(_ sequence: UInt64) -> Dependencies {
    Dependencies([Dependency(replica: replica, sequence: sequence, hashPrefix: 1)])
  }

  private func rights(_ home: MembershipHousehold) throws -> WriteRights {
    MembershipEvaluation.evaluate(try home.log()).rights
  }

  private func removal(
    _ home: MembershipHousehold, _ member: String, device: String, through sequence: UInt64,
    reason: MembershipEntry.Removal.Reason = .removed
  ) -> MembershipEntry.Statement {
    .removal(
      MembershipEntry.Removal(
        subject: .member(home.member(member)), reason: reason,
        cutoffs: [.init(device: home.device(device), through: through(sequence))]))
  }

  @Test func `a removal binds replicas begun without knowing it, at the seq it names or 0`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let end = home.write("ann", after: [bo], removal(home, "Bo", device: "bo", through: 5))

    let rights = try rights(home)

    #expect(rights.cutoff(of: replica, device: home.device("bo"), begunAt: [bo]) == 5)
    #expect(
      rights.cutoff(of: ReplicaID(bytes: [UInt8](repeating: 8, count: 16))!, device: home.device("bo"), begunAt: [bo])
        == 0)
    #expect(rights.cutoff(of: replica, device: home.device("bo"), begunAt: [end]) == nil)
    #expect(rights.cutoff(of: replica, device: home.device("ann"), begunAt: [bo]) == nil)
    #expect(rights.mayWrite(home.device("bo"), at: [bo]))
    #expect(!rights.mayWrite(home.device("bo"), at: [end]))
  }

  @Test func `of two removals the greater seq counts`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let cy = home.admit("Cy", on: "cy", as: .owner, by: "ann", after: [bo])
    _ = home.write("ann", after: [cy], removal(home, "Bo", device: "bo", through: 5))
    _ = home.write("cy", after: [cy], removal(home, "Bo", device: "bo", through: 9))

    let cutoff = try rights(home).cutoff(of: replica, device: home.device("bo"), begunAt: [bo])

    #expect(cutoff == 9)
  }

  @Test func `nobody answers his demotion with a higher number`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    _ = home.write(
      "ann", after: [bo],
      .role(
        MembershipEntry.RoleChange(
          member: home.member("Bo"), role: .readOnly,
          cutoffs: [.init(device: home.device("bo"), through: through(5))])))
    _ = home.write("bo", after: [bo], removal(home, "Bo", device: "bo", through: 1 << 40, reason: .left))

    let cutoff = try rights(home).cutoff(of: replica, device: home.device("bo"), begunAt: [bo])

    #expect(cutoff == 5)
  }

  @Test func `who leaves says where his writing ends`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    _ = home.write("bo", after: [bo], removal(home, "Bo", device: "bo", through: 7, reason: .left))

    let cutoff = try rights(home).cutoff(of: replica, device: home.device("bo"), begunAt: [bo])

    #expect(cutoff == 7)
  }

  @Test func `a device whose join was voided never wrote anything that counts`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", as: .owner, by: "ann", after: [home.begin()])
    let cy = home.admit("Cy", on: "cy", by: "bo", after: [bo])
    _ = home.remove("Bo", by: "ann", after: [bo])

    let rights = try rights(home)

    #expect(rights.cutoff(of: replica, device: home.device("cy"), begunAt: [cy]) == 0)
    #expect(!rights.mayWrite(home.device("cy"), at: [cy]))
  }

  @Test func `heads that go back to before a loss of rights are told from later ones`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let end = home.setRole("Bo", .readOnly, by: "ann", after: [bo])

    let rights = try rights(home)

    #expect(rights.covers([end], [bo]))
    #expect(!rights.covers([bo], [end]))
  }

  @Test func `who was asleep without knowing it takes back nothing that he had confirmed before (P19)`() throws {
    for (knows, due) in [(false, UInt64(7)), (true, 5)] {
      var home = MembershipHousehold()
      let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
      let cy = home.admit("Cy", on: "cy", as: .owner, by: "ann", after: [bo])
      let asleep = home.write(
        "ann", after: [cy],
        .dormancy(
          .init(
            device: home.device("cy"), isDormant: true,
            confirmed: Dependencies([Dependency(replica: replica, sequence: 7, hashPrefix: 1)]))))
      _ = home.write("cy", after: [knows ? asleep : cy], removal(home, "Bo", device: "bo", through: 5))

      let cutoff = try rights(home).cutoff(of: replica, device: home.device("bo"), begunAt: [bo])

      #expect(cutoff == due)
    }
  }
}
