import HouseholdBudget
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Duplicates become one")
struct DuplicateTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device
  let c: TestHousehold.Device
  let group = FieldValue.text(BudgetSchema.BuiltIn.living)

  init() throws {
    home = try TestHousehold("alex", "sam", "kim", schema: BudgetSchema.schema)
    a = home["alex"]
    b = home["sam"]
    c = home["kim"]
    for record in BudgetSchema.schema.builtIn {
      try a.put(record.type, record.id, record.fields.map { ($0.key, $0.value) })
    }
    try settle()
  }

  func settle() throws {
    for _ in 0..<3 {
      try home.sync("alex", "sam")
      try home.sync("sam", "kim")
      try home.sync("alex", "kim")
    }
    #expect(try home.difference("alex", "sam") == nil)
    #expect(try home.difference("alex", "kim") == nil)
  }

  func category(_ device: TestHousehold.Device, _ id: String, _ name: String, _ more: [(String, FieldValue)] = [])
    throws
  {
    try device.put("category", id, [("name", .text(name)), ("group", group)] + more)
  }

  func ids(_ device: TestHousehold.Device, _ type: String = "category") throws -> [String] {
    var ids: [String] = []
    try device.access.forEach(device.type(type)) { if !$0.key.id.hasPrefix("!") { ids.append($0.key.id) } }
    return ids
  }

  func conflicts(_ device: TestHousehold.Device) throws -> [ShownConflict] {
    try device.access.conflicts(includingClosed: false)
  }

  @Test func `two categories of one name become the one with the smallest id, and every reference follows`() throws {
    try category(a, "x", "Café & Bars")
    try a.put("transaction", "ta", [("amount_minor", .integer(-1)), ("category", .text("x"))])
    try a.put("budget", "ba", [("month", .text("2026-03")), ("category", .text("x")), ("amount_minor", .integer(5))])
    try category(b, "y", "cafe\u{301}  & bars ")
    try b.put("transaction", "tb", [("amount_minor", .integer(-2)), ("category", .text("y"))])
    try b.put("budget", "bb", [("month", .text("2026-03")), ("category", .text("y")), ("amount_minor", .integer(6))])
    try b.put("split", "s", [("parent", .text("tb")), ("category", .text("y"))])
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["x"])
      #expect(try device.fields("transaction", "ta")?["category"] == .text("x"))
      #expect(try device.fields("transaction", "tb")?["category"] == .text("x"))
      #expect(try device.fields("split", "s")?["category"] == .text("x"))
      #expect(try ids(device, "budget") == ["ba"])
      #expect(try device.fields("budget", "ba")?["category"] == .text("x"))
      // Of the names nothing is listed, as they are the same to people; of the amounts the one that lost is.
      #expect(try conflicts(device).map(\.field) == ["amount_minor"])
    }
  }

  @Test func `a reference to the loser that comes later is shown as one to the survivor, and kept as it was written`()
    throws
  {
    try category(a, "x", "Pets")
    try category(b, "y", "PETS")
    try home.sync("sam", "kim")
    try c.put("transaction", "late", [("category", .text("y"))])
    try home.sync("alex", "sam")
    #expect(try ids(b) == ["x"])
    try b.put("transaction", "after", [("category", .text("y"))])
    try settle()

    for device in home.devices {
      for id in ["late", "after"] {
        #expect(try device.fields("transaction", id)?["category"] == .text("x"))
        let state = try #require(try device.replica.state(of: RecordKey(type: "transaction", id: id)))
        #expect(state.winner(of: "category")?.value == .fields([.text("y")]))
      }
    }
  }

  @Test func `an edit of another field does not seal the reference that is shown in place of the written one`() throws {
    try category(a, "x", "Pets")
    try category(b, "y", "pets")
    try b.put("transaction", "t", [("category", .text("y")), ("note", .text("one"))])
    try settle()
    try c.put("transaction", "t", [("note", .text("two"))])
    try settle()

    let state = try #require(try a.replica.state(of: RecordKey(type: "transaction", id: "t")))
    #expect(state.winner(of: "category")?.value == .fields([.text("y")]))
    #expect(try a.fields("transaction", "t")?["note"] == .text("two"))
    #expect(try a.fields("transaction", "t")?["category"] == .text("x"))
  }

  @Test func `a chain of duplicates found at different places ends in one`() throws {
    try category(a, "x", "Pets")
    try category(b, "y", "pets")
    try category(c, "z", " PETS")
    try home.sync("sam", "kim")
    try home.sync("alex", "sam")
    try settle()

    for device in home.devices { #expect(try ids(device) == ["x"]) }
  }

  @Test func `merges that cross come out the same`() throws {
    try category(a, "x", "Pets")
    try category(b, "y", "Pets")
    try category(a, "z", "Dog")
    try category(c, "w", "Dog")
    try home.sync("alex", "sam")
    try home.sync("alex", "kim")
    // Alex says that both are one, Kim at the same time too, in the other order.
    try a.put("category", "x", [("name", .text("Animals"))])
    try c.put("category", "w", [("name", .text("animals"))])
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["w"])
      #expect(Folding.areSame(try device.fields("category", "w")?["name"]?.text ?? "", "animals"))
    }
  }

  @Test func `a rename of the survivor does not bring the loser back, whoever had joined whom (G3)`() throws {
    try category(a, "x", "Pets")
    try category(b, "y", "Pets")
    try category(c, "z", "Pets")
    try home.pull(b, from: c)
    try home.sync("alex", "kim")
    try b.put("category", "y", [("name", .text("Dog"))])
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["x"])
      #expect(try device.fields("category", "x")?["name"] == .text("Dog"))
      // Sam had not seen the one of Alex when he renamed his.
      #expect(try conflicts(device).map(\.lost.object) == ["{\"name\":\"Pets\"}"])
    }
    try b.put("category", "x", [("name", .text("Cat"))])
    try settle()
    for device in home.devices { #expect(try device.fields("category", "x")?["name"] == .text("Cat")) }
  }

  @Test func `a deletion takes the members that its author knows, another one lives on (F8)`() throws {
    try category(a, "x", "Pets")
    try category(b, "y", "pets")
    try b.put("budget", "bud", [("month", .text("2026-03")), ("category", .text("y")), ("amount_minor", .integer(50))])
    try home.pull(c, from: a)
    try home.pull(c, from: b)
    #expect(try ids(c) == ["x"])
    try a.delete("category", "x")
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["y"])
      #expect(try device.fields("budget", "bud")?["category"] == .text("y"))
    }
    try c.delete("category", "y")
    try settle()
    for device in home.devices { #expect(try ids(device).isEmpty) }
  }

  @Test func `deleting the survivor deletes all that it stands for, and restoring it brings back what was shown`()
    throws
  {
    try category(a, "x", "Pets")
    try category(b, "y", "pets", [("note", .text("food and vet"))])
    try settle()
    try c.delete("category", "x")
    try settle()
    for device in home.devices { #expect(try ids(device).isEmpty) }
    #expect(try conflicts(a).isEmpty)

    try b.replica.restore(RecordKey(type: "category", id: "x"), now: b.now)
    try settle()
    for device in home.devices {
      #expect(try ids(device) == ["x"])
      #expect(try device.fields("category", "x")?["note"] == .text("food and vet"))
    }
  }

  @Test func `a write to the id of a loser is one to the survivor, by any program`() throws {
    try category(a, "x", "Pets", [("color", .text("red"))])
    try category(b, "y", "pets")
    try settle()
    try a.put("category", "y", [("note", .text("by our own access"))])
    try settle()
    try b.access.execute("INSERT INTO category(id, name, sort) VALUES ('y', 'Animals', 7)")
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["x"])
      let fields = try #require(try device.fields("category", "x"))
      #expect(fields["note"] == .text("by our own access"))
      #expect(fields["name"] == .text("Animals"))
      #expect(fields["sort"] == .integer(7))
      #expect(fields["color"] == .text("red"))
    }
  }

  @Test func `a write to a loser's id and one to the survivor right after it are sealed as one`() throws {
    try category(a, "x", "Pets", [("color", .text("red"))])
    try category(b, "y", "pets")
    try settle()
    try b.access.execute(
      """
      INSERT INTO category(id, name, sort) VALUES ('y', 'Animals', 7);
      UPDATE category SET name = 'Beasts', note = 'by name' WHERE id = 'x'
      """)
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["x"])
      let fields = try #require(try device.fields("category", "x"))
      #expect(fields["name"] == .text("Beasts"))
      #expect(fields["note"] == .text("by name"))
      #expect(fields["sort"] == .integer(7))
      #expect(fields["color"] == .text("red"))
    }
  }

  @Test func `a person parts what was joined, and it stays parted (G8)`() throws {
    try category(a, "x", "Food")
    try category(b, "y", "Food", [("note", .text("of y"))])
    try b.put("transaction", "t", [("category", .text("y"))])
    try settle()
    #expect(try ids(a) == ["x"])
    var merge: String?
    try a.access.history(RecordKey(type: "category", id: "y")) { if $0.to == .text("x") { merge = $0.change } }

    try a.replica.revert(try #require(merge), now: a.now)
    try settle()
    try category(c, "y", "food")
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["x", "y"])
      #expect(try device.fields("transaction", "t")?["category"] == .text("y"))
      #expect(try device.fields("category", "x")?["note"] == .null)
      #expect(try device.fields("category", "y")?["note"] == .text("of y"))
    }
  }

  @Test func `equal names in two groups stay two, and nulls never group`() throws {
    try category(a, "x", "Tax")
    try b.put("category", "y", [("name", .text("Tax")), ("group", .text(BudgetSchema.BuiltIn.income))])
    try b.put("category", "z", [("group", group)])
    try c.put("category", "w", [("group", group)])
    try a.put("budget", "m", [("month", .text("2026-03"))])
    try c.put("budget", "n", [("month", .text("2026-03"))])
    try settle()

    #expect(try ids(b) == ["w", "x", "y", "z"])
    #expect(try ids(b, "budget") == ["m", "n"])
  }

  @Test func `what waits for the target of its reference groups once that is there`() throws {
    try a.put("category", "x", [("name", .text("Tax")), ("group", .text("later"))])
    try b.put("category", "y", [("name", .text("Tax")), ("group", .text("later"))])
    try settle()
    #expect(try ids(c) == ["x", "y"])
    try c.put("category_group", "later", [("name", .text("Later"))])
    try settle()

    for device in home.devices { #expect(try ids(device) == ["x"]) }
  }

  @Test func `what a dead member of a live group lost is listed (G12)`() throws {
    try category(a, "x", "Pets")
    try category(b, "y", "pets")
    try settle()
    try category(c, "z", "PETS")
    try b.delete("category", "x")
    try a.put("category", "x", [("note", .text("kept beside"))])
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["z"])
      #expect(try conflicts(device).map(\.field) == ["note"])
      #expect(try conflicts(device).allSatisfy { $0.kept.object == nil })
    }
  }

  @Test func `to confirm that a dead member is deleted takes nothing that lives along`() throws {
    try category(a, "x", "Pets")
    try category(b, "y", "pets")
    try settle()
    try category(c, "z", "PETS")
    try b.delete("category", "x")
    try a.put("category", "x", [("note", .text("kept beside"))])
    try settle()
    let open = try #require(try conflicts(c).first)
    // It stays deleted; in the same breath somebody writes to what shows.
    try c.replica.resolve(open.conflict, .mine, now: c.now)
    try c.put("category", "z", [("color", .text("red"))])
    try settle()

    for device in home.devices {
      #expect(try ids(device) == ["z"])
      #expect(try device.fields("category", "z")?["color"] == .text("red"))
    }
  }

  @Test func `a conflict between two members is decided like any other`() throws {
    try category(a, "x", "Pets", [("color", .text("red"))])
    try category(b, "y", "pets", [("color", .text("blue"))])
    try settle()
    let open = try conflicts(c)
    #expect(open.map(\.id) == ["x"])
    try c.replica.resolve(try #require(open.first).conflict, .value(.text("green")), now: c.now)
    try settle()

    for device in home.devices {
      #expect(try conflicts(device).isEmpty)
      #expect(try device.fields("category", "x")?["color"] == .text("green"))
    }
  }

  @Test func `a built-in record survives whatever the other's id`() throws {
    try a.put("category", "!a", [("name", .text("uncategorised")), ("group", group)])
    try settle()

    #expect(try b.fields("category", "!a") == nil)
    #expect(try b.fields("category", BudgetSchema.BuiltIn.uncategorised) != nil)
  }
}
