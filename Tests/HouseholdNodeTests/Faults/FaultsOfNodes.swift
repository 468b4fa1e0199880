import Foundation
import Testing

/// Nodes that stop, freeze, or cannot have what they need.
enum FaultsOfNodes {
  static let rows: [Fault] = [
    Fault(
      name: "the partner's node is stopped", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held, isQuick: true
    ) { stage in
      try stage.ben.stop()
      return { try stage.ben.start(peers: [stage.ana]) }
    },
    Fault(
      name: "the partner's machine loses its power", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held
    ) { stage in
      stage.ben.kill()
      return { try stage.ben.start(peers: [stage.ana]) }
    },
    Fault(
      name: "the partner's node is frozen", verdict: "pending", reason: "unacknowledged",
      remedy: "Leave the node running", edit: .held, isQuick: true
    ) { stage in
      kill(stage.ben.pid, SIGSTOP)
      return { kill(stage.ben.pid, SIGCONT) }
    },
    Fault(
      name: "the partner's node is frozen for longer", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held
    ) { stage in
      kill(stage.ben.pid, SIGSTOP)
      return { kill(stage.ben.pid, SIGCONT) }
    },
    Fault(
      name: "the node here is stopped", told: "ben", verdict: "broken", reason: "nodeNotRunning",
      remedy: "Start it: household node", edit: .held
    ) { stage in
      try stage.ben.stop()
      return { try stage.ben.start(peers: [stage.ana]) }
    },
    Fault(
      name: "the node here is frozen", told: "ben", verdict: "broken", reason: "nodeSilent",
      remedy: "Look at its log", edit: .held
    ) { stage in
      kill(stage.ben.pid, SIGSTOP)
      return { kill(stage.ben.pid, SIGCONT) }
    },
    Fault(
      name: "another program has the port", told: "ben", verdict: "broken", reason: "portInUse",
      remedy: "Stop the other program", edit: .arrives, isQuick: true
    ) { stage in
      let port = try TakenPort(isListening: true)
      try stage.ben.stop()
      try stage.ben.spawn(peers: [stage.ana], listen: "127.0.0.1:\(port.number)")
      return {
        port.free()
        try stage.ben.waitUntilItListens()
      }
    },
    Fault(
      name: "a second node is started on the same directory", told: "ben", verdict: "inSync", reason: "ok",
      edit: .arrives
    ) { stage in
      let second = try stage.ben.run("node", "--listen", "127.0.0.1:0")
      #expect(second.code == 75, "\(second.errors)")
      return {}
    },
    Fault(
      name: "the control socket is deleted", told: "ben", verdict: "inSync", reason: "ok", edit: .arrives,
      isQuick: true
    ) { stage in
      let socket = stage.ben.directory + "/node.sock"
      try FileManager.default.removeItem(atPath: socket)
      try eventually("the node makes it anew", seconds: 5) { FileManager.default.fileExists(atPath: socket) }
      return {}
    },
    Fault(
      name: "the log cannot be written: its disk is full", told: "ben", verdict: "inSync", reason: "ok",
      edit: .arrives
    ) { try restartedWithLog("exec \"$@\" 2>/dev/full", $0) },
    Fault(
      name: "nobody reads the log any more", told: "ben", verdict: "inSync", reason: "ok", edit: .arrives
    ) { try restartedWithLog("exec \"$@\" 2> >(:)", $0) },
  ]

  private static func restartedWithLog(_ script: String, _ stage: FaultStage) throws -> FaultEnd {
    try stage.ben.stop()
    stage.ben.launcher = ["bash", "-c", script, "bash"]
    try stage.ben.start(peers: [stage.ana])
    return {
      try stage.ben.stop()
      stage.ben.launcher = []
      try stage.ben.start(peers: [stage.ana])
    }
  }

  /// Ana knows only a wrong address of ben's, and he none of hers.
  static let addresses: [Fault] = [
    Fault(
      name: "the partner's address is wrong, and nothing listens there", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held, mentions: "refused"
    ) { stage in
      let port = try TakenPort(isListening: false)
      return try strayed("127.0.0.1:\(port.number)", stage) { port.free() }
    },
    Fault(
      name: "the partner's name is not known to the name service", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held, mentions: "no-such-host.invalid"
    ) { try strayed("no-such-host.invalid:7411", $0) {} },
    Fault(
      name: "another program is at the partner's address", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held
    ) { stage in
      let port = try TakenPort(isListening: false)
      port.free()
      let server = Process()
      server.executableURL = URL(filePath: "/usr/bin/python3")
      server.arguments = ["-m", "http.server", "\(port.number)", "--bind", "127.0.0.1"]
      server.standardError = FileHandle.nullDevice
      server.standardOutput = FileHandle.nullDevice
      server.currentDirectoryURL = stage.place.folder
      try server.run()
      return try strayed("127.0.0.1:\(port.number)", stage) {
        // It inherits a mask in which SIGTERM is blocked.
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
      }
    },
    Fault(
      name: "another household is at the partner's address", verdict: "pending", reason: "peerUnreachable",
      remedy: "Start its node", edit: .held, mentions: "household"
    ) { stage in
      let other = try stage.place.founder("zoe-\(UUID().uuidString.prefix(4))")
      return try strayed(other.address, stage) { try other.stop() }
    },
  ]

  private static func strayed(_ address: String, _ stage: FaultStage, _ end: @escaping FaultEnd) throws -> FaultEnd {
    try stage.ben.stop()
    try stage.ana.stop()
    // Neither can find the other by what it remembers: both listen at new ports, and tell others a wrong one.
    try stage.ben.start(words: ["--advertise", "127.0.0.1:9"])
    try stage.ana.start(words: ["--advertise", "127.0.0.1:9", "--peer", address])
    return {
      try end()
      try stage.ben.stop()
      try stage.ben.start(peers: [stage.ana])
    }
  }
}
