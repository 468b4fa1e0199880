import Foundation
import HouseholdKit

/// `notes`: the notes of a household in a terminal; an example of an app on HouseholdKit.
@main
struct NotesProgram {
  static let usage = """
    usage: notes [--data-dir DIR] COMMAND
      list                        the notes, favourites first
      add TITLE [TEXT]            a new note
      edit NOTE TITLE [TEXT]      another title, and text
      favourite NOTE              mark it, or take the mark away
      delete NOTE
      search WORD
      live                        the notes and the state of sync, as they change, until Ctrl-C
      conflicts                   edits that lost against a concurrent one
      resolve CONFLICT mine|theirs
      status                      the state of sync
    NOTE and CONFLICT may be shortened to their first characters.
    """

  static func main() async {
    do {
      var words = Array(CommandLine.arguments.dropFirst())
      let directory = try takeDirectory(&words)
      guard !words.isEmpty, words != ["--help"] else {
        print(usage)
        return
      }
      let store = try HouseholdStore.open(directory: directory, records: [Note.self])
      defer { store.close() }
      try await run(words.removeFirst(), words, Notebook(store: store))
    } catch {
      FileHandle.standardError.write(Data("notes: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func takeDirectory(_ words: inout [String]) throws -> URL {
    if let index = words.firstIndex(of: "--data-dir") {
      guard index + 1 < words.count else { throw Notebook.Problem(description: "--data-dir needs a directory.") }
      defer { words.removeSubrange(index...index + 1) }
      return URL(filePath: words[index + 1])
    }
    let environment = ProcessInfo.processInfo.environment
    if let named = environment["HOUSEHOLD_DATA_DIR"] { return URL(filePath: named) }
    let data = environment["XDG_DATA_HOME"] ?? NSHomeDirectory() + "/.local/share"
    return URL(filePath: data).appending(path: "household")
  }

  private static func run(_ command: String, _ words: [String], _ notebook: Notebook) async throws {
    switch (command, words.count) {
    case ("list", 0): show(try notebook.list())
    case ("add", 1...2): show([try notebook.add(words[0], words.dropFirst().first)])
    case ("edit", 2...3):
      let edited = try notebook.edit(words[0]) { note in
        note.title = words[1]
        if words.count == 3 { note.text = words[2] }
      }
      show([edited])
    case ("favourite", 1): show([try notebook.edit(words[0]) { $0.isFavorite = $0.isFavorite != true }])
    case ("delete", 1): try notebook.delete(words[0])
    case ("search", 1): show(try notebook.search(words[0]))
    case ("live", 0): try await live(notebook)
    case ("conflicts", 0): try notebook.conflictLines().forEach { print($0) }
    case ("resolve", 2) where words[1] == "mine" || words[1] == "theirs":
      try notebook.resolve(words[0], words[1] == "mine" ? .mine : .theirs)
    case ("status", 0): print(try notebook.indicator())
    default: throw Notebook.Problem(description: "That is not understood.\n\(usage)")
    }
  }

  private static func show(_ notes: [Note]) { for note in notes { print(note.line) } }

  /// Says it at once, also where nobody is at a terminal.
  private static func tell(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

  /// The notes whenever they change, and the indicator whenever it changes.
  private static func live(_ notebook: Notebook) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      let store = notebook.store
      group.addTask {
        for try await notes in try store.live(Note.self, sort: Notebook.order) {
          tell("\n" + (try Notebook(store: store).page(notes)))
        }
      }
      group.addTask {
        for try await event in store.events() {
          switch event {
          case .verdict: tell("-- \(try Notebook(store: store).indicator())")
          case .conflict(let conflict): tell("-- a conflict in \(conflict.record): notes resolve \(conflict.id) mine")
          case .sentChanges(let partner, let missing): tell("-- \(partner) has our changes, but for \(missing)")
          case .failedChanges(let failed): for change in failed { tell("-- \(change.record): \(change.message)") }
          default: break
          }
        }
      }
      try await group.next()
      group.cancelAll()
    }
  }
}
