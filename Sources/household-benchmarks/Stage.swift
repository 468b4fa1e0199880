import Foundation
import HouseholdNode

/// The household that is measured: Ana's device with all transactions, and guests that join one after another.
final class Stage {
  let options: BenchmarkOptions
  /// The transactions, in the order in which a program writes them.
  let rows: [TransactionData.Row]
  /// The same in the order of their ids, in which snapshots bring them and SQLite likes them best.
  let sortedRows: [TransactionData.Row]
  private let folder: URL
  private var devices: [Device] = []
  private var guests = 0
  private var files = 0
  private var founder: Device?
  private var partner: Device?

  init(_ options: BenchmarkOptions) throws {
    self.options = options
    rows = TransactionData.rows(options.rows)
    sortedRows = rows.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    folder = FileManager.default.temporaryDirectory.appending(path: "household-benchmarks-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Stops every node that was started, and removes everything that was made.
  func tearDown() {
    for device in devices { device.stopNode() }
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      FileHandle.standardError.write(Data("household-benchmarks: \(folder.path) is left: \(error)\n".utf8))
    }
  }

  private func device(_ name: String) -> Device {
    let device = Device(name, program: options.program, folder: folder)
    devices.append(device)
    return device
  }

  /// A new household of its own, without transactions and without a node.
  func newHousehold() throws -> Device {
    guests += 1
    let device = device("founder\(guests)")
    try device.run("init", "Measured", "--member", "ana", "--device", device.name)
    return device
  }

  /// Takes a device away that is not needed any more.
  func remove(_ device: Device) throws {
    device.stopNode()
    try FileManager.default.removeItem(atPath: device.directory.path)
  }

  /// A new empty folder, removed at the end.
  func newFolder() throws -> URL {
    files += 1
    let made = folder.appending(path: "folder\(files)")
    try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
    return made
  }

  /// A new plain file with the table of transactions.
  func newPlainFile() throws -> (file: PlainFile, path: String) {
    files += 1
    let path = folder.appending(path: "plain\(files).sqlite").path
    let file = try PlainFile(path)
    try file.makeTable()
    return (file, path)
  }

  /// Ana's device, whose node runs and has sealed all transactions.
  func ana() throws -> Device {
    if let founder { return founder }
    let ana = try newHousehold()
    let file = try ana.file()
    try file.insert(rows)
    try ana.startNode()
    try Patience.wait(for: "Ana's node to seal", microseconds: 20_000) {
      try file.run("SELECT 1 FROM sync_outbox LIMIT 1") == nil
    }
    founder = ana
    return ana
  }

  /// A device that has joined Ana's household and has no records yet; its node does not run.
  func newGuest() throws -> Device { try newGuest(of: try ana()) }

  /// A device that has joined the household of this one, whose node runs.
  func newGuest(of ana: Device) throws -> Device {
    guests += 1
    let guest = device("guest\(guests)")
    let invitation = try JSONDecoder().decode(
      [String: StringOrNumber].self, from: Data(try ana.run("--json", "invite", guest.name).utf8))
    guard case .string(let link)? = invitation["link"] else {
      throw BenchmarkError(description: "the invitation holds no link")
    }
    try guest.run("join", link, "--address", ana.address, "--device", guest.name, "--yes")
    return guest
  }

  /// A guest that has all records and whose node runs beside Ana's.
  func syncedPartner() throws -> (ana: Device, partner: Device) {
    let ana = try ana()
    if let partner { return (ana, partner) }
    let guest = try newGuest()
    try guest.startNode(peer: ana)
    try settle(guest, with: ana)
    partner = guest
    return (ana, guest)
  }

  /// Waits until both have everything.
  func settle(_ device: Device, with other: Device) throws {
    try Patience.wait(for: "\(device.name) and \(other.name) to be in sync", microseconds: 5000) {
      try device.isInSync(with: other) && other.isInSync(with: device)
    }
  }
}

/// A member of a JSON object that is flat.
private enum StringOrNumber: Decodable {
  case string(String)
  case other

  init(from decoder: any Decoder) throws {
    do {
      self = .string(try decoder.singleValueContainer().decode(String.self))
    } catch DecodingError.typeMismatch {
      self = .other
    }
  }
}
