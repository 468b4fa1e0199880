/// One row of the fault matrix: something that goes wrong around a running pair, and what status says of it.
///
/// `Docs/Operating.md` shows the same rows, and a test compares the two.
struct Fault: Sendable {
  /// What happens to an edit that ana makes while it lasts.
  enum Edit: Sendable {
    /// It cannot arrive at ben's, so ana's status may not say `inSync`.
    case held
    /// It arrives all the same.
    case arrives
    /// It has nothing to do with edits.
    case none
  }

  /// As people would tell it.
  let name: String
  /// Whose status is asked: `ana`, `ben`, or `kim`, who comes for this row only.
  var told = "ana"
  let verdict: String
  /// Also of an error, where there is no household to judge.
  let reason: String
  /// The first words of the next step.
  var remedy = ""
  /// What makes it go: nothing but the end of the fault, or what a person does.
  var clears = "by itself"
  var edit = Edit.none
  /// Something that is to be read in the report.
  var mentions = ""
  /// Whether it is part of every run of the tests; all are with `HOUSEHOLD_FAULTS=all`.
  var isQuick = false
  /// Makes it happen; returns what ends it.
  let happen: @Sendable (FaultStage) throws -> FaultEnd

  /// The row of the table in the documents.
  var row: String {
    let told = verdict == "error" ? "exit 1" : "`\(verdict)`"
    let isHarmless = verdict == "inSync" && clears == "by itself"
    return "| \(name) | \(told) | `\(reason)` | \(remedy.isEmpty ? "none" : remedy) | \(isHarmless ? "" : clears) |"
  }
}

/// Ends a fault.
typealias FaultEnd = () throws -> Void
