import Foundation
import HouseholdRecords
import HouseholdTrust

/// The certificates in `Certificates/`, which `Certificates/generate` makes.
enum Fixtures {
  static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Certificates")

  static func path(_ name: String) -> String { directory.appending(path: name).path }

  static func certificate(_ name: String) throws -> [UInt8] {
    try PEM.decoded(DurableFile(path: path(name)).read(), label: PEM.certificate)
  }

  static func share() throws -> ShareCertificate { try ShareCertificate(contentsOf: path("Household/share.pem")) }
}

/// A directory that goes away with the test.
final class TemporaryDirectory {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "household-trust-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(url.path): \(error)") }
  }

  func path(_ name: String) -> String { url.appending(path: name).path }
}

/// What the openssl program says, and whether it was content.
func openssl(_ arguments: String...) throws -> (succeeded: Bool, output: String) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/openssl")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = pipe
  try process.run()
  let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return (process.terminationStatus == 0, String(decoding: output, as: UTF8.self))
}

let noon = Instant(milliseconds: 1_800_000_000_000)

func someMember() -> MemberID {
  var source = SystemRandomNumberGenerator()
  return .random(from: &source)
}
