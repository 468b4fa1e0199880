import Foundation
import Testing

/// What commands say where no space is left.
@Suite(.serialized, .ownThread) struct DiskFullTests {
  @Test func `a full disk is named by whoever meets it first`() throws {
    let place = try Place()
    guard let disk = try SmallDisk.mount(at: place.path("disk"), mebibytes: 4) else {
      return print("left out: a full disk needs root, for mount")
    }
    defer { disk.unmount() }
    let ana = place.home("disk/ana")
    try ana.json("init", "Our home", "--member", "ana", "--device", "ana-laptop")
    try disk.fill()
    ana.commandLauncher = ["timeout", "20"]

    let made = try place.home("disk/ben").run("init", "--member", "ben", "--device", "b", "--json")
    let started = try ana.run("node", "--listen", "127.0.0.1:0", "--no-discovery", "--json")

    for answer in [made, started] {
      let error = try #require(try answer.document()["error"] as? [String: Any])
      #expect(answer.code == 1)
      #expect(error["code"] as? String == "diskFull", "\(error)")
      #expect((error["remedy"] as? String)?.contains("Free some space") == true, "\(error)")
    }
    try disk.free()
    #expect(try place.home("disk/ben").run("init", "--member", "ben", "--device", "b").code == 0)
  }
}
