import Foundation
import Testing

/// Clocks that go wrong while the node runs, and are set right again.
enum FaultsOfClocks {
  private static let day: Int64 = 86_400
  private static let decades: Int64 = 30 * 365 * 86_400

  static let rows: [Fault] = [
    Fault(
      name: "the partner's clock is a minute ahead", verdict: "inSync", reason: "ok", edit: .arrives
    ) { stage in
      let end = try set(stage.ben, 60, stage)
      try eventually("it is measured", seconds: 15) {
        let offset = try stage.ana.peer("ben")["clockOffsetMs"] as? Int
        return offset.map { abs($0 - 60_000) < 5000 } ?? false
      }
      return end
    },
    Fault(
      name: "the partner's clock is a day ahead", verdict: "degraded", reason: "clockSkew", remedy: "Set the clock",
      edit: .arrives, mentions: "hours ahead of ours"
    ) { try set($0.ben, day, $0) },
    Fault(
      name: "the clock here is a day behind", told: "ben", verdict: "degraded", reason: "clockSkew",
      remedy: "Set the clock", edit: .arrives, mentions: "hours ahead of ours"
    ) { try set($0.ben, -day, $0) },
    Fault(
      name: "the partner's clock is thirty years ahead", verdict: "degraded", reason: "clockSkew",
      remedy: "Set the clock", edit: .arrives, mentions: "29 years ahead of ours"
    ) { try set($0.ben, decades, $0) },
    Fault(
      name: "the clock here is thirty years ahead", told: "ben", verdict: "degraded", reason: "certificateExpired",
      remedy: "Check the clock of this device", edit: .arrives, mentions: "29 years behind ours"
    ) { try set($0.ben, decades, $0) },
    Fault(
      name: "the clock here is thirty years behind", told: "ben", verdict: "degraded", reason: "certificateDates",
      remedy: "Set the clock of this device", edit: .arrives, mentions: "29 years ahead of ours"
    ) { try set($0.ben, -decades, $0) },
  ]

  private static func set(_ home: Home, _ seconds: Int64, _ stage: FaultStage) throws -> FaultEnd {
    try SettableClock.set(home, in: stage.place, seconds: seconds)
    return { try SettableClock.set(home, in: stage.place, seconds: 0) }
  }
}
