import Foundation

/// The words of the command line.
struct BenchmarkOptions {
  /// How many transactions.
  var rows = 100_000
  /// How often each comparison is repeated; the median counts.
  var rounds = 5
  /// How many live edits, and how many edits on a new connection.
  var edits = 200
  /// How long the idle node is watched, in seconds.
  var idleSeconds = 20
  /// How long the long run takes.
  var minutes = 60
  var wantsJSON = false
  var wantsHelp = false
  /// The program that is measured.
  var program = ""
  /// The program to measure beside; nil for none.
  var floor: String?
  /// Where the plot of `growth` goes; nil for nowhere.
  var plot: String?
  /// Where the profiles of `instructions` are kept; nil for nowhere.
  var profiles: String?
  /// A hot path to do once, and the folder of its household: what `instructions` runs under valgrind.
  var hotPath: (path: HotPath, folder: String)?
  /// What to measure; empty for everything.
  var names: [String] = []

  static let help = """
    usage: household-benchmarks [OPTIONS] [ROW...]

    Rows: \(Benchmark.allCases.map(\.rawValue).joined(separator: ", ")).
    What instructions counts, one by one: \(HotPath.allCases.map(\.rawValue).joined(separator: ", ")).
    Default: all but \(Benchmark.allCases.filter(\.isOnRequest).map(\.rawValue).joined(separator: ", ")).

      --rows N            how many transactions (100000)
      --rounds N          how often each comparison is repeated (5)
      --edits N           how many live edits (200)
      --idle-seconds N    how long the idle node is watched (20)
      --minutes N         how long long-run takes (60)
      --household PATH    the program to measure; default: the one beside this
      --floor PROGRAM     measure beside this program too, which prints the times of the machine's floor
      --plot FILE.svg     where growth draws its curves
      --profiles FOLDER   where instructions keeps what valgrind has counted, for callgrind_annotate
      --json              print JSON
    """

  init(_ words: [String]) throws {
    let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    program = beside.appending(path: "household").path
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--rows": rows = try Self.number(after: word, &rest)
      case "--rounds": rounds = try Self.number(after: word, &rest)
      case "--edits": edits = try Self.number(after: word, &rest)
      case "--idle-seconds": idleSeconds = try Self.number(after: word, &rest)
      case "--minutes": minutes = try Self.number(after: word, &rest)
      case "--household":
        guard let path = rest.popFirst() else { throw Self.usage("\(word) needs a path") }
        program = path
      case "--floor":
        guard let path = rest.popFirst() else { throw Self.usage("\(word) needs a program") }
        floor = URL(filePath: path).path
      case "--plot":
        guard let path = rest.popFirst() else { throw Self.usage("\(word) needs a file") }
        plot = path
      case "--profiles":
        guard let path = rest.popFirst() else { throw Self.usage("\(word) needs a folder") }
        profiles = URL(filePath: path).path
      case "--hot-path":
        guard let path = rest.popFirst().flatMap(HotPath.init), let folder = rest.popFirst() else {
          throw Self.usage("\(word) needs a hot path and a folder")
        }
        hotPath = (path, folder)
      case "--json": wantsJSON = true
      case "--help", "-h": wantsHelp = true
      default:
        guard Benchmark(rawValue: word) != nil || HotPath(rawValue: word) != nil else {
          throw Self.usage("there is no row \(word)")
        }
        names.append(word)
      }
    }
    guard wantsHelp || hotPath != nil || needsNoProgram || FileManager.default.isExecutableFile(atPath: program) else {
      throw Self.usage("\(program) is no program; build it with swift build -c release, or name it with --household")
    }
  }

  /// What `instructions` counts: what is named, or all.
  var hotPaths: [HotPath] {
    let named = HotPath.allCases.filter { names.contains($0.rawValue) }
    return named.isEmpty ? HotPath.allCases : named
  }

  /// Whether only this program is measured.
  private var needsNoProgram: Bool {
    !names.isEmpty && names.allSatisfy { $0 == Benchmark.instructions.rawValue || HotPath(rawValue: $0) != nil }
  }

  /// Whether a row is to be measured.
  func includes(_ benchmark: Benchmark) -> Bool {
    if names.isEmpty { return !benchmark.isOnRequest }
    return names.contains(benchmark.rawValue)
      || benchmark == .instructions && names.contains { HotPath(rawValue: $0) != nil }
  }

  private static func number(after word: String, _ rest: inout ArraySlice<String>) throws -> Int {
    guard let text = rest.popFirst(), let number = Int(text), number > 0 else {
      throw usage("\(word) needs a number above 0")
    }
    return number
  }

  private static func usage(_ text: String) -> BenchmarkError {
    BenchmarkError(description: "\(text); see --help", isUsage: true)
  }
}
