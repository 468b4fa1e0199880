import Foundation

/// How cost grows with the size of the household: the same works at 1,000 records, ten times as many, and so on.
enum Growth {
  /// One work at all sizes.
  struct Curve: Codable {
    var name: String
    /// Records and milliseconds.
    var points: [Point]

    struct Point: Codable {
      var size: Int
      var milliseconds: Double
    }
  }

  /// Measures at each size up to `--rows`, and writes the plot if one is wanted.
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    var curves: [Curve] = []
    var size = 1000
    while size <= stage.options.rows {
      var options = stage.options
      options.rows = size
      let smaller = try Stage(options)
      defer { smaller.tearDown() }
      for (name, time) in try times(smaller) {
        let index = curves.firstIndex { $0.name == name } ?? curves.count
        if index == curves.count { curves.append(Curve(name: name, points: [])) }
        curves[index].points.append(Curve.Point(size: size, milliseconds: time))
      }
      size *= 10
    }
    if let path = stage.options.plot {
      try Data(GrowthPlot.svg(curves, horizontal: "records").utf8).write(to: URL(filePath: path))
    }
    return curves.flatMap { curve in
      curve.points.map { BenchmarkRow("\(curve.name), \($0.size) records", unit: "ms", [$0.milliseconds]) }
    }
  }

  private static func times(_ stage: Stage) throws -> [(String, Double)] {
    let rounds = 0..<max(1, stage.options.rounds / 2)
    func median(_ body: () throws -> Double) throws -> Double { Spread(try rounds.map { _ in try body() }).median }
    let join = try median { try FirstSync.measureOnce(stage) }
    let nothing = try median { try Reconnection.nothing(stage).milliseconds }
    let edit = Spread(try LiveEdit.times(stage, count: 20)).median
    let (ana, partner) = try stage.syncedPartner()
    let status = try median { try Stopwatch.time { try ana.run("status", allowing: [0, 1]) } }
    let doctor = try median { try Stopwatch.time { try ana.run("doctor", allowing: [0, 1]) } }
    let start = try median {
      ana.stopNode()
      return try Stopwatch.time { try ana.startNode() }
    }
    partner.stopNode()
    return [
      ("join and first sync", join), ("node started, nothing changed", nothing), ("live edit", edit),
      ("status", status), ("doctor", doctor), ("start-up", start),
    ]
  }
}

/// How long an edit takes to reach every device, with more and more of them.
enum Devices {
  static func measure(_ stage: Stage) throws -> [BenchmarkRow] {
    var options = stage.options
    options.rows = min(1000, options.rows)
    let small = try Stage(options)
    defer { small.tearDown() }
    let ana = try small.ana()
    let writer = try ana.file()
    var partners: [PlainFile] = []
    var rows: [BenchmarkRow] = []
    for count in [2, 4, 8, 16, 32] {
      while partners.count + 1 < count {
        let guest = try small.newGuest()
        try guest.startNode(peer: ana)
        partners.append(try guest.file())
        let last = small.sortedRows[small.sortedRows.count - 1].id
        try Patience.wait(for: "a guest to have everything", microseconds: 5000) {
          try partners[partners.count - 1].payee(of: last) != nil
        }
      }
      try Patience.pause(seconds: 3)
      var times: [Double] = []
      for number in 0..<10 {
        let (id, payee) = (small.rows[number * 7].id, "Of \(count) devices \(number)")
        try Patience.pause(seconds: 1)
        let watch = Stopwatch()
        try writer.setPayee(payee, of: id)
        try Patience.wait(for: "all to have the edit", microseconds: 500) {
          try partners.allSatisfy { try $0.payee(of: id) == .text(payee) }
        }
        times.append(watch.milliseconds)
      }
      rows.append(BenchmarkRow("an edit until all of \(count) devices have it", unit: "ms", times))
    }
    return rows
  }
}
