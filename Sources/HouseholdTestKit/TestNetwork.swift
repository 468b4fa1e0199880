internal import HouseholdRecords
internal import HouseholdSync

/// The wires between the devices of a test's household: they keep order, take their time, and may be cut.
struct TestNetwork {
  /// What travels on a link.
  enum Content {
    case message(type: UInt8, flags: UInt8, payload: [UInt8])
    /// The other end has closed.
    case end
  }

  /// Something on its way.
  struct Parcel {
    var link: LinkNumber
    /// The index of the device that receives it.
    var receiver: Int
    var due: Instant
    /// Counts all parcels: of those that are due at one time the first sent comes first.
    var number: Int
    var content: Content
  }

  /// Two devices, whichever is named first.
  private struct Pair: Hashable {
    var low: Int
    var high: Int

    init(_ a: Int, _ b: Int) { (low, high) = (min(a, b), max(a, b)) }
  }

  private var wires: [LinkNumber: Pair] = [:]
  private var parcels: [Parcel] = []
  private var lastLink: UInt64 = 0
  private var lastParcel = 0
  private var cutOff: Set<Pair> = []
  private var delays: [Pair: Int64] = [:]

  /// The links between two devices, or all of one, in ascending order.
  func links(of a: Int, and b: Int? = nil) -> [LinkNumber] {
    wires.filter { wire in
      let ends = [wire.value.low, wire.value.high]
      return ends.contains(a) && (b.map { ends.contains($0) } ?? true)
    }.keys.sorted()
  }

  /// The device at the other end; nil if the link is no more.
  func other(than device: Int, on link: LinkNumber) -> Int? {
    wires[link].map { $0.low == device ? $0.high : $0.low }
  }

  mutating func open(_ a: Int, _ b: Int) -> LinkNumber {
    lastLink += 1
    let link = LinkNumber(rawValue: lastLink)
    wires[link] = Pair(a, b)
    return link
  }

  /// Takes the link away; what was on its way is lost.
  mutating func cut(_ link: LinkNumber) {
    wires[link] = nil
    parcels.removeAll { $0.link == link }
  }

  mutating func send(_ content: Content, on link: LinkNumber, from device: Int, at now: Instant) {
    guard let wire = wires[link], let receiver = other(than: device, on: link) else { return }
    // A wire keeps order: nothing overtakes what was sent while the way took longer.
    let before = parcels.last { $0.link == link && $0.receiver == receiver }?.due ?? now
    lastParcel += 1
    parcels.append(
      Parcel(
        link: link, receiver: receiver, due: max(before, now.advanced(byMilliseconds: delays[wire] ?? 0)),
        number: lastParcel, content: content))
  }

  /// Takes what arrives next until this time; nil if nothing does.
  mutating func takeDue(at now: Instant) -> Parcel? {
    let due = parcels.indices.filter { parcels[$0].due <= now }
    let next = due.min { (parcels[$0].due, parcels[$0].number) < (parcels[$1].due, parcels[$1].number) }
    return next.map { parcels.remove(at: $0) }
  }

  /// When the next parcel arrives; nil if none is on its way.
  var nextDue: Instant? { parcels.map(\.due).min() }

  func canReach(_ a: Int, _ b: Int) -> Bool { !cutOff.contains(Pair(a, b)) }
  mutating func disconnect(_ a: Int, _ b: Int) { cutOff.insert(Pair(a, b)) }
  mutating func connect(_ a: Int, _ b: Int) { cutOff.remove(Pair(a, b)) }
  mutating func delay(_ a: Int, _ b: Int, milliseconds: Int64) { delays[Pair(a, b)] = milliseconds }
}
