import HouseholdSync

/// The wires between the devices: they keep order, and may be cut, held, or deaf in one direction.
struct SimulatedNetwork {
  /// What travels on a link.
  enum Parcel {
    case message(type: UInt8, flags: UInt8, payload: [UInt8])
    /// The other end has closed.
    case end
  }

  /// One link.
  struct Wire {
    /// The indices of the devices; the first has dialled.
    var ends: [Int]
    /// By the end that receives, 0 or 1.
    var queues: [[Parcel]] = [[], []]
    /// By the end that receives: packets vanish and nobody is told.
    var isDeaf = [false, false]

    /// Which end the device is.
    func end(of device: Int) -> Int { ends[0] == device ? 0 : 1 }
  }

  private(set) var wires: [LinkNumber: Wire] = [:]
  private var nextLink: UInt64 = 1
  /// Pairs of devices that cannot reach each other, the smaller index first.
  private var partitions: Set<[Int]> = []
  /// Devices that do not take anything in: what is sent to them waits.
  var frozen: Set<Int> = []
  /// Devices that are where nobody reaches them.
  var away: Set<Int> = []

  /// How many links were ever opened.
  var openedCount: UInt64 { nextLink - 1 }

  /// All links in ascending order.
  var links: [LinkNumber] { wires.keys.sorted() }

  subscript(link: LinkNumber) -> Wire? { wires[link] }

  mutating func open(_ a: Int, _ b: Int) -> LinkNumber {
    let link = LinkNumber(rawValue: nextLink)
    nextLink += 1
    wires[link] = Wire(ends: [a, b])
    return link
  }

  /// Takes the wire out; what was under way is lost.
  mutating func cut(_ link: LinkNumber) -> Wire? { wires.removeValue(forKey: link) }

  /// Puts a parcel on its way to the other end.
  mutating func send(_ parcel: Parcel, on link: LinkNumber, from device: Int) {
    guard let wire = wires[link] else { return }
    let receiver = 1 - wire.end(of: device)
    if !wire.isDeaf[receiver] { wires[link]?.queues[receiver].append(parcel) }
  }

  /// Where something waits to be delivered: link and receiving end, in ascending order.
  var waiting: [(link: LinkNumber, end: Int)] {
    var found: [(link: LinkNumber, end: Int)] = []
    for link in links {
      guard let wire = wires[link] else { continue }
      for end in 0..<2 where !wire.queues[end].isEmpty && !frozen.contains(wire.ends[end]) { found.append((link, end)) }
    }
    return found
  }

  /// The next parcel for this end, without taking it.
  func first(_ link: LinkNumber, end: Int) -> Parcel? { wires[link]?.queues[end].first }

  /// Takes the next parcel for this end.
  mutating func take(_ link: LinkNumber, end: Int) -> Parcel? {
    guard wires[link]?.queues[end].isEmpty == false else { return nil }
    return wires[link]?.queues[end].removeFirst()
  }

  /// From now on nothing arrives at this end, and nobody is told.
  mutating func deafen(_ link: LinkNumber, end: Int) {
    wires[link]?.isDeaf[end] = true
    wires[link]?.queues[end] = []
  }

  /// Whether the two can reach each other.
  func canReach(_ a: Int, _ b: Int) -> Bool {
    !away.contains(a) && !away.contains(b) && !partitions.contains([min(a, b), max(a, b)])
  }

  mutating func partition(_ a: Int, _ b: Int) { partitions.insert([min(a, b), max(a, b)]) }

  mutating func heal(_ a: Int, _ b: Int) { partitions.remove([min(a, b), max(a, b)]) }

  mutating func healAll() { partitions = [] }

  /// The links between two devices.
  func links(between a: Int, and b: Int) -> [LinkNumber] {
    links.filter { wires[$0].map { Set($0.ends) == Set([a, b]) } ?? false }
  }

  /// The links of one device.
  func links(of device: Int) -> [LinkNumber] { links.filter { wires[$0]?.ends.contains(device) ?? false } }
}
