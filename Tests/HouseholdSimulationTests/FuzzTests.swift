import Foundation
import HouseholdBudget
import HouseholdFuzzing
import HouseholdRecords
import HouseholdReplica
import HouseholdSimulation
import Testing

@Suite("Bytes that are almost right")
struct FuzzTests {
  /// How often each reader is tried; `Scripts/fuzz` goes on for longer.
  private static let tries = 600

  @Test(arguments: FuzzTarget.allCases)
  func `a reader of bytes from outside reads or refuses whatever comes (P3, R8)`(target: FuzzTarget) throws {
    let samples = FuzzSamples.of(target)
    try #require(!samples.isEmpty)
    var random = SeededRandom(seed: 1)
    for sample in samples { #expect(throws: Never.self) { try target.take(sample) } }
    for number in 0..<Self.tries {
      let bytes = ByteMutation.apply(to: random.pick(samples), others: samples, random: &random)
      #expect(throws: Never.self, "try \(number)") { try target.take(bytes) }
    }
  }

  @Test func `payments in every format that can be imported are among the samples`() throws {
    let cryptography = SimulatedCryptography(secret: [])
    let context = ImportContext(
      schema: BudgetSchema.schema, presence: { _ in .absent }, sha256: { cryptography.sha256($0) })

    var formats: Set<ImportFormat> = []
    for sample in FuzzSamples.of(.importFile) {
      do {
        let plan = try ImportPlan.make(bytes: sample, fileName: "sample", options: ImportOptions(), context: context)
        if plan.added > 0 { formats.insert(plan.format) }
      } catch is ImportFailure {
        // One sample is refused.
      }
    }

    #expect(formats == Set(ImportFormat.allCases).subtracting([.automatic]))
  }

  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

  @Test func `inputs that were kept are read or refused`() throws {
    let files = try FileManager.default.contentsOfDirectory(at: Self.corpus, includingPropertiesForKeys: nil)
    try #require(files.count > 20)
    for file in files {
      let bytes = try Array(Data(contentsOf: file))
      #expect(throws: Never.self, "\(file.lastPathComponent)") { try FuzzInput.take(bytes) }
    }
  }

  /// Writes a few samples of each target into the corpus; for whoever adds a target.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["HOUSEHOLD_WRITE_CORPUS"] != nil))
  func `the corpus gets a few samples of each target`() throws {
    for target in FuzzTarget.allCases {
      let samples = FuzzSamples.of(target).sorted { $0.count < $1.count }
      for number in 0..<min(6, samples.count) {
        let input = FuzzInput.input(samples[number * samples.count / min(6, samples.count)], for: target)
        try Data(input).write(to: Self.corpus.appending(path: "\(target.rawValue)-\(number)"))
      }
    }
  }

  @Test func `messages that were changed on the way do no harm to who receives them (R8)`() throws {
    let samples = FuzzSamples.of(.message)
    for seed in UInt64(1)...6 {
      let world = try DiskFaultTests.world(seed: seed, "A", "B")
      let (a, b) = (try #require(world["A"]), try #require(world["B"]))
      var random = SeededRandom(seed: seed)
      world.tamper = { _, payload in
        guard random.oneIn(6) else { return }
        payload = ByteMutation.apply(to: payload, others: samples, random: &random)
      }
      for number in 0..<12 {
        try DiskFaultTests.put(number % 2 == 0 ? a : b, "n\(number % 5)", "value \(number)", in: world)
        if number == 6 { try world.add(World.Plan("C", needsSnapshot: true)) }
        world.connectAll()
        world.deliver(parcels: 30)
        try world.seal(a)
        try world.seal(b)
      }
      for device in world.devices {
        try world.restart(device)
        _ = try device.replica.computeDigest()
      }
    }
  }
}
