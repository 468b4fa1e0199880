import CSQLite
import FoundationEssentials
import Glibc

/// The command line of `household-simulator`.
package enum SimulatorTool {
  private static let usage = """
    usage: household-simulator [--seeds N] [--seed S] [--steps N] [--devices N] [--check-every N]
                                [--trace] [--lasting-rights] [--one-owner] [--fixed-schema] [--short-life]
           household-simulator scenario FILE...

    Plays N households of random events, from seed S on (default: 200 seeds from 1, 100 steps, 3 devices), or scenario
    files of the format household-sync-scenario/1. The rules are checked after every 10 steps; with --check-every N after
    every N, which is quicker for long runs. With --lasting-rights nobody is removed, made read-only, or leaves; with
    --one-owner nobody but the first device acts on the membership; with --fixed-schema no types and fields are added.
    In every other household months go by, in which devices are away, sleep, wake and compact; with --short-life in none.
    A seed that fails is played again with --seed S --seeds 1 --trace.
    """

  /// What the options say.
  private struct Options {
    var seeds = 200
    var first: UInt64 = 1
    var size = RandomHousehold.Size()
    var showsTrace = false

    init?(_ words: [String]) {
      var rest = words[...]
      while let word = rest.popFirst() {
        switch word {
        case "--trace":
          showsTrace = true
          continue
        case "--lasting-rights":
          size.losesRights = false
          continue
        case "--one-owner":
          size.hasSeveralOwners = false
          continue
        case "--fixed-schema":
          size.growsSchema = false
          continue
        case "--short-life":
          size.livesLong = false
          continue
        default: break
        }
        guard let number = rest.popFirst().flatMap(UInt64.init) else { return nil }
        switch word {
        case "--seeds": seeds = Int(number)
        case "--seed": first = number
        case "--steps": size.steps = max(1, Int(number))
        case "--check-every": size.checkEvery = max(1, Int(number))
        case "--devices": size.devices = max(1, Int(number))
        default: return nil
        }
      }
      if words.contains("--seed") && !words.contains("--seeds") { seeds = 1 }
    }
  }

  /// Runs it; returns the exit code.
  package static func run(_ arguments: [String]) -> Int32 {
    precondition(
      household_sqlite_use_in_one_thread() == SQLITE_OK, "something has used SQLite before the first household")
    if arguments.first == "scenario" { return scenarios(Array(arguments.dropFirst())) }
    guard let options = Options(arguments) else {
      print(usage)
      return 64
    }
    return seeds(options)
  }

  /// Plays scenario files: one line for each, and how many passed and failed.
  private static func scenarios(_ paths: [String]) -> Int32 {
    var passed = 0
    for path in paths {
      do {
        let outcome = try ScenarioRunner.run(try Scenario(contentsOf: path))
        if outcome.holds { passed += 1 }
        print(outcome.line)
      } catch {
        print("\(path): failed: \(error)")
      }
    }
    print("\(passed) passed, \(paths.count - passed) failed")
    return passed == paths.count ? 0 : 1
  }

  /// Says it at once, so that a run that is ended has told what it found.
  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  /// Plays random households: a line for each seed that fails, then how many passed and how fast.
  private static func seeds(_ options: Options) -> Int32 {
    let clock = ContinuousClock()
    let begin = clock.now
    var (passed, failed, events, changesets) = (0, 0, 0, 0)
    for seed in options.first..<options.first + UInt64(options.seeds) {
      do {
        let trace = Trace(print: options.showsTrace ? { print($0) } : nil)
        let outcome = try RandomHousehold.run(seed: seed, size: options.size, trace: trace)
        events += outcome.events
        changesets += outcome.changesets
        if let failure = outcome.failure {
          failed += 1
          say("seed \(seed): \(failure)")
        } else {
          passed += 1
        }
        if options.showsTrace { print("checksum \(String(outcome.checksum, radix: 16))") }
      } catch {
        failed += 1
        say("seed \(seed): \(error)")
      }
      if seed % 100 == 0, !options.showsTrace { say("to \(seed): \(passed) passed, \(failed) failed") }
    }
    let seconds =
      Double((clock.now - begin).components.seconds) + Double((clock.now - begin).components.attoseconds) / 1e18
    print("\(passed) passed, \(failed) failed")
    print("\(events) events and \(changesets) changesets in \((seconds * 10).rounded() / 10) s")
    return failed == 0 ? 0 : 1
  }
}
