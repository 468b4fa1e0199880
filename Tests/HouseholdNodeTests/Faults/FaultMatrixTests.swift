import Foundation
import Testing

/// The fault matrix: what goes wrong around running nodes, and what status says of it until it clears.
///
/// Some rows in every run, all of them with `HOUSEHOLD_FAULTS=all`.
@Suite(.serialized, .ownThread) struct FaultMatrixTests {
  private static let isWhole = ProcessInfo.processInfo.environment["HOUSEHOLD_FAULTS"] == "all"
  /// With `HOUSEHOLD_FAULT=WORDS` only rows that have these words in their name.
  private static let only = ProcessInfo.processInfo.environment["HOUSEHOLD_FAULT"]

  /// All rows, in the order of the table in the documents.
  private static let all: [Fault] =
    FaultsOfNodes.rows + FaultsOfNodes.addresses + FaultsOfNetworks.rows + FaultsOfFiles.disk + FaultsOfFiles.files
    + FaultsOfFiles.keys + FaultsOfClocks.rows + FaultsOfBelonging.rows + FaultsOfData.rows + FaultsOfCopies.rows

  private func chosen(_ faults: [Fault]) -> [Fault] {
    faults.filter { fault in
      (Self.isWhole || fault.isQuick) && (Self.only.map { fault.name.contains($0) } ?? true)
    }
  }

  private func play(_ faults: [Fault], clocks: Bool = false, network: TestNetwork? = nil) throws {
    let chosen = chosen(faults)
    guard !chosen.isEmpty else { return }
    let stage = try FaultStage(clocks: clocks, network: network)
    for fault in chosen { timed(fault) { try stage.play(fault) } }
    for home in [stage.ana, stage.ben] { #expect(try home.sqlite("PRAGMA integrity_check") == "ok") }
  }

  private func timed(_ fault: Fault, _ body: () throws -> Void) {
    let begun = Date()
    do {
      try body()
    } catch {
      Issue.record("\(fault.name): \(error)")
    }
    if Self.isWhole { print(String(format: "%5.1f s  \(fault.name)", Date().timeIntervalSince(begun))) }
  }

  @Test func `faults of nodes are told, never inSync, and clear by themselves`() throws {
    try play(FaultsOfNodes.rows)
  }

  @Test func `faults of addresses are told, never inSync, and clear by themselves`() throws {
    try play(FaultsOfNodes.addresses)
  }

  @Test func `faults of disks and files are told, never inSync, and clear by themselves`() throws {
    guard geteuid() == 0 else { return print("left out: faults of files need root, for mount and chattr") }
    try play(FaultsOfFiles.disk + FaultsOfFiles.files + FaultsOfFiles.keys)
  }

  @Test func `faults of clocks are told, keep no edit from its way, and clear by themselves`() throws {
    try play(FaultsOfClocks.rows, clocks: true)
  }

  @Test func `the loss of rights is told, and the others are in sync again`() throws {
    try play(FaultsOfBelonging.rows)
  }

  @Test func `what records give to look at is told until it is decided`() throws {
    try play(FaultsOfData.rows)
  }

  @Test func `faults between two hosts are told, never inSync, and clear by themselves`() throws {
    guard !chosen(FaultsOfNetworks.rows).isEmpty else { return }
    guard let network = try TestNetwork.build(hosts: 2) else {
      return print("left out: network namespaces are not allowed here")
    }
    try play(FaultsOfNetworks.rows, network: network)
  }

  @Test func `copies that run and schemas of the future are told`() throws {
    for fault in chosen(FaultsOfCopies.rows) {
      let stage = try FaultStage()
      timed(fault) {
        try stage.playToTheEnd(fault)
        if fault.clears == "by itself" { try stage.ana.waitInSync() }
      }
    }
  }

  @Test func `the table in the documents is this matrix`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Docs/Operating.md")
    let told = try String(contentsOf: file, encoding: .utf8)

    for fault in Self.all where !told.contains(fault.row + "\n") {
      Issue.record("Docs/Operating.md lacks: \(fault.row)")
    }

    #expect(Self.all.count >= 30)
    #expect(Set(Self.all.map(\.name)).count == Self.all.count)
  }
}
