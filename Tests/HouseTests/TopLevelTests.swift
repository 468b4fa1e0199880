import Foundation
import Testing

/// What lies where in the repository.
struct TopLevelTests {
  @Test func `the top level holds what belongs there and nothing else`() throws {
    let expected: Set<String> = [
      "Package.swift", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", ".swift-format", ".editorconfig",
      ".gitignore", ".ci", "Sources", "Tests", "Certificates", "Docs", "Scripts",
    ]
    let ignored: Set<String> = [".git", ".build", ".swiftpm"]

    let found = Set(try FileManager.default.contentsOfDirectory(atPath: House.root.path)).subtracting(ignored)

    #expect(found == expected, "difference: \(found.symmetricDifference(expected).sorted())")
  }

  @Test func `every script can be run`() throws {
    let folder = House.root.appending(path: "Scripts").path
    let scripts = try FileManager.default.contentsOfDirectory(atPath: folder).map { "Scripts/\($0)" }

    #expect(Set(scripts).isSuperset(of: ["Scripts/demo", "Scripts/deps", "Scripts/test"]))
    for script in scripts + [".ci/run", "Certificates/generate"] {
      #expect(FileManager.default.isExecutableFile(atPath: House.root.appending(path: script).path), "\(script)")
      #expect(try House.file(script).text.hasPrefix("#!/"), "\(script) does not say what runs it")
    }
  }

  @Test func `no file has a name that says nothing`() throws {
    let empty = ["Util", "Helper", "Manager", "Common", "Misc"]

    for file in try House.sources() {
      let name = file.path.split(separator: "/").last.map(String.init) ?? ""
      for word in empty { #expect(!name.contains(word), "\(file.path)") }
    }
  }

  @Test func `no real key is in the repository`() throws {
    let mark = "-----BEGIN " + "PRIVATE KEY"
    let pages = try House.pages()

    for file in try House.sources() + House.tests() + pages {
      #expect(!file.text.contains(mark), "\(file.path) holds a private key")
    }
  }
}
