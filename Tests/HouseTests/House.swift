import Foundation

/// The repository as it lies on the disk, for the tests of its own shape.
enum House {
  /// The folder of the package.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// A text file with its path from the root.
  struct File {
    let path: String
    let text: String

    /// The lines without their ends.
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The text without comments and quoted texts.
    var code: SourceText { House.codes.code(of: self) }

    /// The name of the target that the file belongs to, such as `HouseholdRecords`.
    var target: String { String(path.split(separator: "/")[1]) }
  }

  /// Files that were read already, as reading them again takes time: one reader for all tests of the run.
  static let codes = CodeCache()

  /// All files below a folder whose names end with one of these, in the order of their paths.
  static func files(in folder: String, endingWith endings: String...) throws -> [File] {
    let base = root.appending(path: folder)
    guard let enumerator = FileManager.default.enumerator(atPath: base.path) else { return [] }
    let paths = enumerator.compactMap { $0 as? String }.filter { path in endings.contains(where: path.hasSuffix) }
    return try paths.sorted().map { try file("\(folder)/\($0)") }
  }

  /// The file at this path from the root.
  static func file(_ path: String) throws -> File {
    File(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
  }

  /// Whether there is a file or folder at this path from the root.
  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: path).standardized.path)
  }

  /// All Swift files of the sources.
  static func sources() throws -> [File] { try files(in: "Sources", endingWith: ".swift") }

  /// All Swift files of the tests but these ones, which speak of rules without proving them.
  static func tests() throws -> [File] {
    try files(in: "Tests", endingWith: ".swift").filter { $0.target != "HouseTests" }
  }

  /// All pages for people.
  static func pages() throws -> [File] {
    let top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Certificates/README.md"]
    return try top.map(file) + files(in: "Docs", endingWith: ".md") + files(in: "Sources", endingWith: ".md")
  }
}

/// Keeps what was read of each file. Unchecked: everything is behind the lock.
final class CodeCache: @unchecked Sendable {
  private let lock = NSLock()
  private var known: [String: SourceText] = [:]

  /// The code of the file.
  func code(of file: House.File) -> SourceText {
    lock.withLock {
      if let code = known[file.path] { return code }
      let code = SourceText(file.text)
      known[file.path] = code
      return code
    }
  }
}
