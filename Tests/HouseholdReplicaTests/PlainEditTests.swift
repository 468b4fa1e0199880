import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("The short way for edits that nobody contests leaves what the long way leaves")
struct PlainEditTests {
  @Test(arguments: 1...12) func `states, tables, history and authors are the same whichever way was gone`(seed: Int)
    throws
  {
    var dice = Dice(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
    let home = try TestHousehold("ann", "bo", "cy", "di")
    // Ann and bo write; cy takes in all the long way, di the short way.
    home["cy"].replica.takesShortWay = false
    for _ in 0..<60 {
      let writer = home[Bool.random(using: &dice) ? "ann" : "bo"]
      writer.replica.takesShortWay = Bool.random(using: &dice)
      writer.now = writer.now.advanced(byMilliseconds: Int64.random(in: 1...3000, using: &dice))
      try dice.edit(writer)
      if Int.random(in: 0..<3, using: &dice) > 0 { try writer.seal() }
      if Int.random(in: 0..<4, using: &dice) == 0 { try home.sync("ann", "bo") }
      if Int.random(in: 0..<6, using: &dice) == 0 {
        for guest in ["cy", "di"] { try home.pull(home[guest], from: writer) }
      }
    }
    try home.settle("ann", "bo", "cy", "di")

    for other in ["ann", "bo", "di"] { #expect(try home.difference("cy", other) == nil) }
    for type in home.schema.types {
      for id in ["a", "b", "c"] {
        let key = RecordKey(type: type.name, id: id)
        let truth = try home["cy"].replica.state(of: key)
        let authors = try home["cy"].access.provenance(type, id)
        for other in ["ann", "bo", "di"] {
          #expect(try home[other].replica.state(of: key) == truth, "\(other) \(key)")
          #expect(try home[other].access.provenance(type, id)?.modified == authors?.modified, "\(other) \(key)")
        }
      }
    }
    func history(_ name: String) throws -> [String] {
      var lines: [String] = []
      try home[name].access.history(nil) {
        lines.append("\($0.change) \($0.type) \($0.id) \($0.field ?? "") \($0.from) \($0.to)")
      }
      return lines.sorted()
    }
    #expect(try history("di") == history("cy"))
  }
}
