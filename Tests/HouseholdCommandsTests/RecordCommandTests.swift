import Foundation
import HouseholdCommands
import Testing

@Suite struct RecordCommandTests {
  @Test func `put sets the named fields only, makes what is not there, and prints the id`() async throws {
    let desk = try await Desk.withHousehold()

    let made = try await desk.run("put", "note", "title=Shopping", "text=milk", "--json").document()
    let id = try #require(made["id"] as? String)
    #expect(made["type"] as? String == "note" && Set(made.keys) == ["type", "id"])
    #expect(await desk.run("put", "note", id, "text=").output == "\(id)\n")
    let shown = try await desk.run("get", "note", id, "--json").document()
    #expect(Set(shown.keys) == ["type", "id", "fields", "created", "modified"])
    let fields = try #require(shown["fields"] as? [String: Any])
    #expect(fields["title"] as? String == "Shopping" && fields["text"] as? String == "")
    #expect(fields["about"] is NSNull)
    for key in ["created", "modified"] {
      let author = try #require(shown[key] as? [String: Any])
      #expect(Set(author.keys) == ["member", "device", "at"])
      #expect(author["member"] as? String == "ana" && author["device"] as? String == "laptop")
    }

    let deleted = try await desk.run("delete", "note", id, "--json").document()
    #expect(deleted["type"] as? String == "note" && deleted["deleted"] as? [String] == [id])
    #expect(await desk.run("get", "note", id).code == 1)
  }

  @Test func `delete takes all or none`() async throws {
    let desk = try await Desk.withHousehold()
    for id in ["a", "b"] { #expect(await desk.run("put", "note", id, "title=x").code == 0) }

    let answer = await desk.run("delete", "note", "a", "nobody", "b")

    #expect(answer.code == 1 && answer.errors.contains("\"nobody\""))
    #expect(try await desk.records("note").count == 2)
    #expect(await desk.run("delete", "note", "a", "b").code == 0)
    #expect(try await desk.records("note").isEmpty)
  }

  @Test(arguments: [
    ("date=2026-02-30", "date"), ("date=2026-2-3", "date"), ("date=", "date"), ("date:=true", "date"),
    ("amount_minor=9223372036854775808", "amount_minor"), ("amount_minor:=9223372036854775808", "amount_minor"),
    ("amount_minor=1.5", "amount_minor"), ("amount_minor:=1.5", "amount_minor"), ("amount_minor=", "amount_minor"),
    ("amount_minor=٣", "amount_minor"), ("amount_minor=1e3", "amount_minor"), ("cleared=2", "cleared"),
    (#"payee:="\ud800""#, "payee"), (#"payee:="a\u0000b""#, "payee"), ("payee:=1", "payee"), ("payee:={", "payee"),
    ("category=" + String(repeating: "x", count: 1025), "category"),
  ])
  func `a value of the wrong kind is refused with the field named, and nothing is written`(
    word: String, field: String
  ) async throws {
    let desk = try await Desk.withHousehold()

    let answer = await desk.run("put", "transaction", "t1", word)

    #expect(answer.code == 1, "\(word.prefix(40)): \(answer.output)\(answer.errors)")
    #expect(answer.errors.contains(field), "\(answer.errors)")
    #expect(try await desk.records("transaction").isEmpty)
  }

  @Test func `the greatest and least values, null, and empty text are kept as they are`() async throws {
    let desk = try await Desk.withHousehold()
    let long = String(repeating: "ä", count: 50_000)

    #expect(
      await desk.run(
        "put", "transaction", "t1", "amount_minor=-9223372036854775808", "date=2024-02-29", "payee=", "note:=null",
        "cleared=true", "currency=null"
      ).code == 0)
    #expect(await desk.run("put", "transaction", "t2", "amount_minor:=9223372036854775807", "note=\(long)").code == 0)

    let records = try await desk.records("transaction")
    let first = try #require(records["t1"])
    #expect(first["amount_minor"] as? Int == .min && first["date"] as? String == "2024-02-29")
    #expect(first["payee"] as? String == "" && first["note"] is NSNull && first["currency"] as? String == "null")
    #expect(first["cleared"] as? Int == 1)
    #expect(records["t2"]?["amount_minor"] as? Int == .max && records["t2"]?["note"] as? String == long)
  }

  @Test(arguments: [
    ["put", "nothing", "x", "a=b"], ["list", "notes"], ["get", "notez", "x"], ["put", "note", "x", "titel=1"],
    ["list", "transaction", "--sort", "dat"], ["list", "note", "--where", "titel=1"],
    ["list", "note", "--where", "title"], ["put", "note", "x", "title"], ["put", "note", "x", "title=1", "title=2"],
    ["list", "note", "--limit", "many"], ["list", "note", "--srot", "id"], ["completions", "tcsh"], ["frobnicate"],
    ["export", "--format", "yaml"], ["status", "--wait-acked", "5"], ["invite", "ben", "--expires", "10 minutes"],
    ["node", "--listen", "nonsense"], ["node", "--peer", "host:99999"], ["node", "--advertise", ":1"],
    ["join", "K3QZ", "--address", "nowhere"],
  ])
  func `a word that is unknown is quoted, and exits with 64`(words: [String]) async throws {
    let desk = try await Desk.withHousehold()

    let answer = await desk.run(words)

    #expect(answer.code == 64, "\(words): \(answer.errors)")
    #expect(words.contains { answer.errors.contains($0.prefix { $0 != "=" }) }, "\(answer.errors)")
    #expect(answer.output.isEmpty)
  }

  @Test func `an id may be any text up to 1 KiB`() async throws {
    let desk = try await Desk.withHousehold()
    let ids = [
      "a b", "ä/ö?#%", "line\nbreak", "\u{1B}[31m", "🍾", "'; DROP TABLE note; --", "a/b=c", "-1", "null",
      String(repeating: "x", count: 1024),
    ]

    for id in ids { #expect(await desk.run("put", "note", "title=t", "--json", "--", id).code != 1, "\(id)") }
    for id in ids {
      #expect(await desk.run("put", "--", "note", id, "title=\(id)").code == 0, "\(id)")
      #expect(await desk.run("get", "--", "note", id).code == 0, "\(id)")
    }
    #expect(await desk.run("put", "note", String(repeating: "x", count: 1025), "title=t").code == 1)

    let list = await desk.run("list", "note")
    #expect(list.output.split(separator: "\n").count == ids.count + 1, "one line for each, and the heading")
    #expect(!list.output.contains("\u{1B}"))
    #expect(Set(try await desk.records("note").keys) == Set(ids))
    #expect(await desk.run(["delete", "--", "note"] + ids).code == 0)
  }

  @Test func `list filters, sorts, searches and limits`() async throws {
    let desk = try await Desk.withHousehold()
    for (id, date, amount, payee) in [
      ("a", "2026-03-02", "-5", "Bäcker"), ("b", "2026-03-01", "-20", "GROCER"), ("c", "2026-03-03", "-5", "grocer 2"),
    ] {
      _ = await desk.run("put", "transaction", id, "date=\(date)", "amount_minor=\(amount)", "payee=\(payee)")
    }
    func ids(_ words: String...) async throws -> [String] {
      let found = try await desk.run(["list", "transaction", "--json"] + words).document()["records"]
      return (found as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    }

    #expect(try await ids() == ["a", "b", "c"])
    #expect(try await ids("--sort", "date") == ["b", "a", "c"])
    #expect(try await ids("--sort", "amount_minor", "--limit", "1") == ["b"])
    #expect(try await ids("--where", "amount_minor=-5") == ["a", "c"])
    #expect(try await ids("--where", "amount_minor=-5", "--where", "payee=Bäcker") == ["a"])
    #expect(try await ids("--where", "note:=null").count == 3)
    #expect(try await ids("--where", "note=").isEmpty)
    #expect(try await ids("--search", "gRoCeR") == ["b", "c"])
    #expect(try await ids("--search", "grocer", "--limit", "1") == ["b"])
    #expect(try await ids("--limit", "0").isEmpty)
    #expect(try await ids("--where", "id=c") == ["c"])
  }

  @Test func `scenario 24: empty, null and absent stay apart through an export and import`() async throws {
    let desk = try await Desk.withHousehold()
    for words in [
      ["transaction", "t1", "date=2026-03-01", "amount_minor=0", "payee=", "note=keep me", "category:=null"],
      ["transaction", "t2", "date=2026-03-01", "amount_minor=-1", "payee=null", "note=NULL", "category=cat-1"],
      ["category", "cat-1", "name=0"], ["transaction", "t1", "note="], ["transaction", "t2", "category:=null"],
      ["transaction", "t1", "payee:=null"], ["note", "odd\nid \u{202E}", "title=a\"b,c\r\nd", "text=🍾"],
    ] { #expect(await desk.run(["put"] + words).code == 0) }
    let before = await desk.run("export", "--format", "json")
    try Data(before.output.utf8).write(to: URL(filePath: desk.path("all.json")))

    #expect(await desk.run(["init", "Other", "--member", "eve"], in: "other").code == 0)
    let imported = await desk.run(["import", desk.path("all.json"), "--json"], in: "other")
    #expect(imported.code == 0, "\(imported.errors)")
    #expect(
      Set(try imported.document().keys) == ["file", "format", "encoding", "found", "added", "known", "skipped"])

    #expect(await desk.run(["export", "--format", "json"], in: "other").output == before.output)
    let records = try await desk.records("transaction", in: "other")
    #expect(records["t1"]?["amount_minor"] as? Int == 0 && records["t1"]?["payee"] is NSNull)
    #expect(records["t1"]?["note"] as? String == "" && records["t1"]?["category"] is NSNull)
    #expect(records["t2"]?["payee"] as? String == "null" && records["t2"]?["note"] as? String == "NULL")
    #expect(records["t2"]?["category"] is NSNull && records["t2"]?["amount_minor"] as? Int == -1)
    let again = try await desk.run(["import", desk.path("all.json"), "--json"], in: "other").document()
    #expect(again["added"] as? Int == 0)
  }

  @Test func `the history of a record that never was is an error, and that of one that was deleted is not`()
    async throws
  {
    let desk = try await Desk.withHousehold()

    let never = await desk.run("history", "note", "nope", "--json")
    _ = await desk.run("put", "note", "n1", "title=x")
    let unsealed = await desk.run("history", "note", "n1")
    _ = await desk.run("delete", "note", "n1")
    let deleted = await desk.run("history", "note", "n1")

    #expect(never.code == 1)
    #expect((try never.document()["error"] as? [String: Any])?["code"] as? String == "notFound")
    #expect(unsealed.code == 0 && deleted.code == 0)
    #expect(await desk.run("history").code == 0)
  }

  @Test func `every command explains itself`() async throws {
    let desk = try Desk()

    for command in CommandLineTool.commands.map(\.description) {
      let help = await desk.run(command.name, "--help")
      #expect(help.code == 0 && help.output.contains("household \(command.name)"), "\(command.name)")
      for option in command.options { #expect(help.output.contains("--\(option.name)"), "\(command.name)") }
    }
    #expect(await desk.run("--help").code == 0)
    #expect(await desk.run("--version").output == "household \(CommandLineTool.version)\n")
    #expect(await desk.run().code == 64)
  }
}
