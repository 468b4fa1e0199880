import Foundation
import Testing

/// The test certificates stay what Certificates/README.md says, judged by the openssl program.
struct CertificateTests {
  private struct Outcome {
    let code: Int32
    let output: String
  }

  private static func openssl(_ words: String...) throws -> Outcome {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = words
    process.currentDirectoryURL = House.root.appending(path: "Certificates")
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(code: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
  }

  @Test(arguments: ["anna", "bert"])
  func `a device of the test household is signed by its share`(device: String) throws {
    let outcome = try Self.openssl("verify", "-CAfile", "Household/share.pem", "Household/\(device).pem")

    #expect(outcome.code == 0, "\(outcome.output)")
  }

  @Test(arguments: ["share", "anna", "bert"])
  func `a certificate of the test household is valid for ten years more`(name: String) throws {
    let tenYears = String(10 * 365 * 24 * 60 * 60)

    let outcome = try Self.openssl("x509", "-noout", "-in", "Household/\(name).pem", "-checkend", tenYears)

    #expect(outcome.code == 0, "Certificates/generate makes new ones. \(outcome.output)")
  }

  @Test(arguments: ["share", "anna", "bert"])
  func `a key of the test household fits its certificate`(name: String) throws {
    let certificate = try Self.openssl("x509", "-noout", "-pubkey", "-in", "Household/\(name).pem")
    let key = try Self.openssl("pkey", "-pubout", "-in", "Household/\(name).key")

    #expect(certificate.code == 0 && certificate.output == key.output)
  }

  @Test func `every hostile certificate is shown to a node by a test`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: House.root.path + "/Certificates/Hostile")
    let tests = ["HostileCertificateTests", "TLSSessionTests"].map { "Tests/HouseholdTransportTests/\($0).swift" }
    let text = try tests.map { try String(contentsOf: House.root.appending(path: $0), encoding: .utf8) }.joined()
    // Other shares are no device's; what they signed is shown.
    let shares = ["other-share.pem", "impostor.pem"]

    for file in files where !file.hasSuffix(".key") && !shares.contains(file) {
      let name = file.hasSuffix(".pem") ? String(file.dropLast(4)) : file
      #expect(text.contains("\"\(name)\"") || text.contains("Hostile/\(name)\""), "\(file)")
    }
  }

  @Test(arguments: [
    "signed-by-other-share", "signed-by-impostor", "signed-by-device", "self-signed", "changed-signature",
    "changed-number",
  ])
  func `a hostile certificate is not signed by the share`(name: String) throws {
    let outcome = try Self.openssl("verify", "-CAfile", "Household/share.pem", "Hostile/\(name).pem")

    #expect(outcome.code != 0)
  }
}
