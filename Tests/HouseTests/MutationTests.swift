import Testing

/// The planted bugs of `Tests/Mutations` are patches, which `Scripts/mutations` can only plant in the sources of today.
struct MutationTests {
  @Test func `every planted bug still has its place in the sources`() throws {
    let patches = try House.files(in: "Tests/Mutations", endingWith: ".patch")
    #expect(patches.count >= 16)
    for patch in patches { for fault in try Self.faults(of: patch.lines) { Issue.record("\(patch.path): \(fault)") } }
  }

  @Test func `a place that is not there any more is noticed`() throws {
    let place = [
      "--- a/Package.swift", "+++ b/Package.swift", "@@ -1,1 +1,1 @@", "-let nothingOfTheKind = 1", "+let it = 2",
    ]
    #expect(try Self.faults(of: place.map { $0[...] }).count == 1)
    let known = try #require(House.file("Package.swift").lines.first)
    #expect(try Self.faults(of: place.prefix(3).map { $0[...] } + ["-\(known)", "+let it = 2"]).isEmpty)
  }

  /// What of a patch has no place: the lines of a hunk that are there before it stand nowhere in its file.
  private static func faults(of patch: [Substring]) throws -> [String] {
    var faults: [String] = []
    var file: [Substring] = []
    var before: [Substring] = []
    var hunk: Substring?
    func close() {
      defer { (before, hunk) = ([], nil) }
      guard let hunk else { return }
      let isThere = file.indices.contains { file[$0...].starts(with: before) }
      if before.isEmpty || !isThere { faults.append("\(hunk) has no place") }
    }
    for line in patch {
      if line.hasPrefix("--- a/") {
        close()
        file = try House.file(String(line.dropFirst(6))).lines
      } else if line.hasPrefix("@@") {
        close()
        hunk = line
      } else if hunk != nil, line.hasPrefix(" ") || line.hasPrefix("-") {
        before.append(line.dropFirst())
      }
    }
    close()
    return faults
  }
}
