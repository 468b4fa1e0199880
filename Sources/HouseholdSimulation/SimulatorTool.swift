import Foundation

/// The command line of `household-simulator`.
package enum SimulatorTool {
  /// Runs it; returns the exit code.
  package static func run(_ arguments: [String]) -> Int32 {
    guard arguments.first == "scenario" else {
      print("usage: household-simulator scenario FILE...")
      return 64
    }
    return scenarios(Array(arguments.dropFirst()))
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
}
