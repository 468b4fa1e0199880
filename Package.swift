// swift-tools-version: 6.2
import PackageDescription

/// What every target of our own is compiled with: see Docs/Testing.md.
let common: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
]

/// For targets that see C: every use of a pointer says `unsafe`.
let besideC = common + [.strictMemorySafety()]

/// A module of ours; dependencies run down only (design 2.2, checked by HouseTests).
func module(_ name: String, _ dependencies: [String], settings: [SwiftSetting] = common) -> Target {
  .target(name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: settings)
}

func tests(
  _ name: String, _ dependencies: [String], exclude: [String] = [], settings: [SwiftSetting] = common
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies.map { .byName(name: $0) }, exclude: exclude, swiftSettings: settings)
}

let package = Package(
  name: "household",
  products: [
    .executable(name: "household", targets: ["household"]),
    .executable(name: "notes", targets: ["notes"]),
    .library(name: "HouseholdKit", targets: ["HouseholdKit"]),
    .library(name: "HouseholdModels", targets: ["HouseholdModels"]),
    .library(name: "HouseholdTestKit", targets: ["HouseholdTestKit"]),
  ],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    module("HouseholdRecords", []),
    module("HouseholdReplica", ["HouseholdRecords", "CSQLite", "CZstd"], settings: besideC),
    module("HouseholdSync", ["HouseholdRecords"]),
    module("HouseholdTrust", ["HouseholdRecords", "COpenSSL"], settings: besideC),
    module("HouseholdTransport", ["HouseholdRecords", "COpenSSL"], settings: besideC),
    module("HouseholdBudget", ["HouseholdRecords"], settings: besideC),
    module(
      "HouseholdNode",
      [
        "HouseholdRecords", "HouseholdReplica", "HouseholdSync", "HouseholdTrust", "HouseholdTransport",
        "HouseholdBudget",
      ], settings: besideC),
    module(
      "HouseholdKit",
      ["HouseholdNode", "HouseholdReplica", "HouseholdTransport", "HouseholdTrust", "HouseholdRecords"]),
    module("HouseholdModels", ["HouseholdKit"]),
    module(
      "HouseholdTestKit",
      ["HouseholdKit", "HouseholdNode", "HouseholdReplica", "HouseholdSync", "HouseholdTrust", "HouseholdRecords"]),
    module(
      "HouseholdCommands",
      [
        "HouseholdKit", "HouseholdNode", "HouseholdSimulation", "HouseholdSync", "HouseholdTransport",
        "HouseholdBudget", "HouseholdRecords",
      ],
      settings: besideC),
    .executableTarget(name: "household", dependencies: ["HouseholdCommands"], swiftSettings: common),
    .executableTarget(name: "notes", dependencies: ["HouseholdKit"], swiftSettings: common),
    .executableTarget(
      name: "household-benchmarks",
      dependencies: [
        "CSQLite", "HouseholdKit", "HouseholdNode", "HouseholdReplica", "HouseholdSync", "HouseholdTrust",
        "HouseholdBudget", "HouseholdRecords",
      ],
      swiftSettings: besideC),
    module(
      "HouseholdSimulation",
      ["HouseholdRecords", "HouseholdReplica", "HouseholdSync", "HouseholdTrust", "HouseholdBudget", "CSQLite"],
      settings: besideC),
    module(
      "HouseholdFuzzing",
      [
        "HouseholdRecords", "HouseholdReplica", "HouseholdSync", "HouseholdTransport", "HouseholdTrust",
        "HouseholdBudget", "HouseholdSimulation",
      ]),
    .executableTarget(
      name: "household-simulator", dependencies: ["HouseholdSimulation"], swiftSettings: common),
    tests("HouseholdRecordsTests", ["HouseholdRecords"]),
    tests("HouseholdReplicaTests", ["HouseholdReplica", "HouseholdTrust", "HouseholdRecords", "HouseholdBudget"]),
    tests(
      "HouseholdSyncTests",
      ["HouseholdSync", "HouseholdReplica", "HouseholdTrust", "HouseholdRecords", "HouseholdBudget"]),
    tests("HouseholdTrustTests", ["HouseholdTrust", "HouseholdRecords"]),
    tests("HouseholdTransportTests", ["HouseholdTransport", "HouseholdTrust", "HouseholdRecords"]),
    tests("HouseholdBudgetTests", ["HouseholdBudget", "HouseholdRecords"], exclude: ["Fixtures"]),
    tests(
      "HouseholdNodeTests",
      [
        "household", "HouseholdNode", "HouseholdReplica", "HouseholdSync", "HouseholdTransport", "HouseholdTrust",
        "HouseholdBudget", "HouseholdRecords",
      ],
      exclude: ["Golden"]),
    tests("HouseholdCommandsTests", ["HouseholdCommands", "HouseholdRecords"]),
    tests("HouseholdKitTests", ["HouseholdKit", "HouseholdModels", "HouseholdTestKit", "household", "notes"]),
    tests("NotesTests", ["HouseholdKit", "HouseholdTestKit", "notes"]),
    tests("HouseTests", []),
    tests(
      "HouseholdSimulationTests",
      [
        "HouseholdSimulation", "HouseholdFuzzing", "HouseholdReplica", "HouseholdSync", "HouseholdRecords",
        "HouseholdBudget",
      ],
      exclude: ["Scenarios", "Corpus"]),
  ]
)
