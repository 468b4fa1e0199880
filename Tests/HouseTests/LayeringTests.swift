import Foundation
import Testing

/// Dependencies run down only, and the pure modules stay pure (Docs/Architecture.md).
struct LayeringTests {
  /// What each module may import. What is not named here may not be imported.
  private static let allowed: [String: Set<String>] = [
    "HouseholdRecords": [],
    "HouseholdSync": ["HouseholdRecords"],
    "HouseholdBudget": ["HouseholdRecords", "Glibc"],
    "HouseholdReplica": ["HouseholdRecords", "CSQLite", "CZstd", "Glibc"],
    "HouseholdTrust": ["HouseholdRecords", "COpenSSL", "Glibc"],
    "HouseholdTransport": ["HouseholdRecords", "COpenSSL", "CEpoll", "Glibc", "Synchronization"],
    "HouseholdNode": [
      "HouseholdRecords", "HouseholdReplica", "HouseholdSync", "HouseholdTrust", "HouseholdTransport",
      "HouseholdBudget", "CEpoll", "FoundationEssentials", "Glibc", "Synchronization",
    ],
    "HouseholdKit": [
      "HouseholdNode", "HouseholdReplica", "HouseholdTransport", "HouseholdTrust", "HouseholdRecords",
      "FoundationEssentials", "Glibc",
    ],
    "HouseholdModels": ["HouseholdKit", "Observation"],
    "HouseholdTestKit": [
      "HouseholdKit", "HouseholdNode", "HouseholdReplica", "HouseholdSync", "HouseholdTrust", "HouseholdRecords",
      "FoundationEssentials",
    ],
    "HouseholdCommands": [
      "HouseholdKit", "HouseholdNode", "HouseholdSimulation", "HouseholdSync", "HouseholdTransport", "HouseholdBudget",
      "HouseholdRecords", "FoundationEssentials", "Glibc", "Synchronization",
    ],
    "household": ["HouseholdCommands", "Glibc"],
    "notes": ["HouseholdKit", "Foundation"],
    "household-benchmarks": [
      "HouseholdKit", "HouseholdNode", "HouseholdReplica", "HouseholdSync", "HouseholdTrust", "HouseholdBudget",
      "HouseholdRecords", "CEpoll", "CSQLite", "Foundation", "Glibc", "Synchronization",
    ],
    "HouseholdSimulation": [
      "HouseholdReplica", "HouseholdSync", "HouseholdTrust", "HouseholdBudget", "HouseholdRecords", "CSQLite",
      "FoundationEssentials", "Glibc",
    ],
    "HouseholdFuzzing": [
      "HouseholdSimulation", "HouseholdReplica", "HouseholdSync", "HouseholdTransport", "HouseholdTrust",
      "HouseholdBudget", "HouseholdRecords",
    ],
    "household-simulator": ["HouseholdSimulation", "Foundation"],
  ]

  private static func imports(of file: House.File) -> Set<String> {
    var modules: Set<String> = []
    for line in file.code.lines {
      let words = line.split(separator: " ")
      guard let index = words.firstIndex(of: "import"), index + 1 < words.count,
        words[..<index].allSatisfy({ $0.hasPrefix("@") || ["package", "public", "internal", "private"].contains($0) })
      else { continue }
      let kinds: Set<Substring> = ["struct", "class", "enum", "func", "protocol", "typealias", "var", "let"]
      let name = kinds.contains(words[index + 1]) && index + 2 < words.count ? words[index + 2] : words[index + 1]
      modules.insert(String(name.prefix { $0 != "." }))
    }
    // The standard library itself, which one file asks for its tables of Unicode.
    return modules.subtracting(["Swift"])
  }

  @Test func `each module imports only what lies below it`() throws {
    for file in try House.sources() {
      let allowed = try #require(Self.allowed[file.target], "\(file.target) has no line in the layering table.")

      let extra = Self.imports(of: file).subtracting(allowed)

      #expect(extra.isEmpty, "\(file.path) may not import \(extra.sorted())")
    }
  }

  @Test func `every module of the layering table is there`() throws {
    let targets = Set(try House.sources().map(\.target))

    #expect(targets == Set(Self.allowed.keys))
  }

  @Test
  func
    `SQLite is seen by the replica, its plain twin and the simulated disk only, OpenSSL by trust and transport only`()
    throws
  {
    let owners = [
      "CSQLite": ["HouseholdReplica", "HouseholdSimulation", "household-benchmarks"], "CZstd": ["HouseholdReplica"],
      "COpenSSL": ["HouseholdTransport", "HouseholdTrust"],
    ]

    for (library, expected) in owners {
      let users = Set(try House.sources().filter { Self.imports(of: $0).contains(library) }.map(\.target))
      #expect(users.sorted() == expected, "\(library)")
    }
  }

  @Test(arguments: ["HouseholdRecords", "HouseholdSync"])
  func `a pure module knows no clock, task, random source or file`(module: String) throws {
    let impure: Set<Substring> = [
      "Date", "Clock", "ContinuousClock", "SuspendingClock", "Task", "Thread", "Timer", "sleep", "now",
      "SystemRandomNumberGenerator", "print", "FileManager", "ProcessInfo", "CommandLine", "async", "await", "actor",
      "Mutex", "Atomic",
    ]

    for file in try House.files(in: "Sources/\(module)", endingWith: ".swift") {
      for (index, line) in file.code.lines.enumerated() {
        let words = Set(line.split { !($0.isLetter || $0.isNumber || $0 == "_") })
        let found = words.intersection(impure).subtracting(Self.harmless(line))
        #expect(found.isEmpty, "\(file.path):\(index + 1) says \(found.sorted())")
        #expect(!line.contains(".random(in:"), "\(file.path):\(index + 1) draws its own random number")
      }
    }
  }

  /// `now` is pure where it is handed in: as a parameter, its label or its use; `Instant.now` and `.now` are not.
  private static func harmless(_ line: String) -> Set<Substring> { line.contains(".now") ? [] : ["now"] }

  @Test func `nothing is imported for testing only`() throws {
    let attribute = "@test" + "able"

    for file in try House.tests() {
      #expect(!file.text.contains(attribute + " import"), "\(file.path): package access serves")
    }
  }
}
