import Foundation
import Glibc

/// Two connected nodes with all records and nothing to do: processor time and memory of Ana's.
enum IdleNode {
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    let (ana, partner) = try stage.syncedPartner()
    let served = try ProcessFacts.memory(ana.nodeID, "VmRSS")
    let peak = try ProcessFacts.memory(ana.nodeID, "VmHWM")
    partner.stopNode()
    ana.stopNode()
    try ana.startNode()
    try partner.startNode(peer: ana)
    try stage.settle(partner, with: ana)
    // The first seconds after a contact are no idleness: the digest of all records is computed in them.
    try Patience.pause(seconds: 8)
    let (ticks, fine) = (try ticks(ana), try nanoseconds(ana))
    let watch = Stopwatch()
    try Patience.pause(seconds: stage.options.idleSeconds)
    let seconds = watch.milliseconds / 1000
    let coarse = Double(try self.ticks(ana) - ticks) * 1000 / Double(sysconf(Int32(_SC_CLK_TCK))) / seconds
    let exact = Double(try nanoseconds(ana) - fine) / 1e6 / seconds
    return [
      BenchmarkRow("idle node, processor time by /proc/PID/stat", unit: "ms/s", [coarse])
        .mustKeep("none measurable: at most 1 ms/s") { $0.measured.median <= 1 },
      BenchmarkRow("idle node, processor time by schedstat", unit: "ms/s", [exact]),
      BenchmarkRow("idle node, memory", unit: "MiB", [try ProcessFacts.memory(ana.nodeID, "VmRSS")])
        .mustKeep("under 40 MiB") { $0.measured.median < 40 },
      BenchmarkRow("node after it served everything, memory", unit: "MiB", [served]),
      BenchmarkRow("node after it served everything, peak memory", unit: "MiB", [peak]),
    ]
  }

  /// User and system time in clock ticks.
  private static func ticks(_ device: Device) throws -> Int {
    let fields =
      try ProcessFacts.text("/proc/\(device.nodeID)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
      throw BenchmarkError(description: "the node's processor time cannot be read")
    }
    return user + system
  }

  /// Time on a processor of all threads.
  private static func nanoseconds(_ device: Device) throws -> Int {
    let folder = "/proc/\(device.nodeID)/task"
    return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, task in
      sum + (Int(try ProcessFacts.text("\(folder)/\(task)/schedstat").prefix { $0 != " " }) ?? 0)
    }
  }
}
