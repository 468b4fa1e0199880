import Foundation
import Testing

/// Devices that belong no longer, or may do less.
enum FaultsOfBelonging {
  static let rows: [Fault] = [
    Fault(
      name: "an owner removed this member", told: "kim", verdict: "broken", reason: "removed",
      remedy: "Ask an owner for a new invitation", clears: "by a new invitation", isQuick: true
    ) { stage in
      _ = try stage.addKim()
      try stage.ana.json("remove", "kim", "--yes")
      return { try stage.loseKim() }
    },
    Fault(
      name: "this device was retired", told: "kim", verdict: "broken", reason: "retired",
      remedy: "Ask an owner for a new invitation", clears: "by a new invitation"
    ) { stage in
      _ = try stage.addKim()
      try stage.ana.json("retire", "kim-laptop")
      return { try stage.loseKim() }
    },
    Fault(
      name: "this member has left", told: "kim", verdict: "broken", reason: "left",
      remedy: "Ask an owner for a new invitation", clears: "by a new invitation"
    ) { stage in
      try stage.addKim().json("leave", "--yes")
      return { try stage.loseKim() }
    },
    Fault(
      name: "this member may only read", told: "kim", verdict: "inSync", reason: "ok", clears: "by `promote`"
    ) { stage in
      let kim = try stage.addKim()
      try stage.ana.json("demote", "kim", "--read-only")
      try eventually("kim may not write") { try kim.run("put", "note", "n1", "title=x").code == 77 }
      return { try stage.loseKim() }
    },
    Fault(
      name: "edits made before a demotion was heard of", told: "kim", verdict: "degraded", reason: "rejected",
      remedy: "Look at them (household rejected)", clears: "when they are put aside"
    ) { stage in
      let kim = try stage.addKim()
      try stage.ana.waitInSync()
      try kim.stop()
      try kim.put("note", "too-late", "title=x")
      try stage.ana.json("demote", "kim", "--read-only")
      try kim.start(peers: [stage.ana])
      return {
        let list = try kim.json("rejected")["rejected"] as? [[String: Any]] ?? []
        for id in list.compactMap({ $0["id"] as? String }) { try kim.json("rejected", "dismiss", id) }
        try kim.waitInSync()
        try stage.loseKim()
      }
    },
  ]
}
