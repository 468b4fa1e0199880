import HouseholdRecords

/// SHA-256 in plain Swift, and signatures that anyone can make but that fit one key and message only: the membership
/// rules need no more of cryptography; the real one is tested in HouseholdTrust.
struct PlainCryptography: Cryptography {
  func sha256(_ bytes: [UInt8]) -> [UInt8] { plainSHA256(bytes) }

  func isValid(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool {
    signature == self.signature(of: message, key: publicKey)
  }

  func isDeviceCertificate(_ certificate: [UInt8], publicKey: [UInt8], sharePublicKey: [UInt8]) -> Bool { false }

  func signature(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    let half = sha256(key + message)
    return half + sha256(half)
  }
}

/// A generator whose numbers follow from its seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
  var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}

/// Builds signed entries of one household, by names.
struct MembershipHousehold {
  let cryptography = PlainCryptography()
  let shareKey: [UInt8]
  var entries: [[UInt8]] = []
  private var clock: Int64 = 1_700_000_000_000

  init(share: String = "share") { shareKey = Array(share.utf8) }

  var household: HouseholdID { cryptography.householdID(sharePublicKey: shareKey) }

  func key(_ device: String) -> [UInt8] { Array("key of \(device)".utf8) }
  func device(_ name: String) -> DeviceID { cryptography.deviceID(publicKey: key(name)) }
  func member(_ name: String) -> MemberID { MemberID(bytes: cryptography.sha256(Array(name.utf8)).prefix(16))! }

  /// Signs an entry and puts it beside the others; returns its hash.
  @discardableResult
  mutating func write(
    _ device: String, after parents: [EntryHash], _ statement: MembershipEntry.Statement
  ) -> EntryHash {
    clock += 1000
    let entry = MembershipEntry(
      author: self.device(device), parents: parents.sorted(), at: Instant(milliseconds: clock), statement: statement)
    var key = self.key(device)
    if case .genesis = statement { key = shareKey }
    let signed = signed(entry, key: key)
    entries.append(signed.bytes)
    return signed.hash(cryptography)
  }

  func signed(_ entry: MembershipEntry, key: [UInt8]) -> SignedEntry {
    SignedEntry(
      bytes: MembershipEncoding.message(entry)
        + cryptography.signature(of: MembershipEncoding.message(entry), key: key))
  }

  mutating func begin(_ member: String = "Ann", on device: String = "ann") -> EntryHash {
    write(
      device, after: [],
      .genesis(
        MembershipEntry.Genesis(
          householdName: "Home", sharePublicKey: shareKey, member: self.member(member), memberName: member,
          device: MembershipEntry.DeviceDescription(name: device, publicKey: key(device)))))
  }

  mutating func invite(
    _ member: String, as role: Role = .member, by device: String, after parents: [EntryHash], name: String? = nil
  ) -> EntryHash {
    let invitation = InvitationID(bytes: cryptography.sha256(Array("\(entries.count)".utf8)).prefix(16))!
    return write(
      device, after: parents,
      .invite(
        MembershipEntry.Invite(
          invitation: invitation, member: self.member(member), memberName: name ?? member, role: role,
          expiresAt: Instant(milliseconds: clock + 600_000))))
  }

  mutating func join(
    _ device: String, with invite: EntryHash, by inviter: String, after parents: [EntryHash]? = nil,
    name: String? = nil, replacing replaced: [String] = []
  ) -> EntryHash {
    write(
      inviter, after: parents ?? [invite],
      .join(
        MembershipEntry.Join(
          invite: invite,
          device: MembershipEntry.DeviceDescription(name: name ?? device, publicKey: key(device)),
          replaces: replaced.map { MembershipEntry.Cutoffs(device: self.device($0), through: Dependencies()) })))
  }

  /// Invites and admits a new member in one go.
  mutating func admit(
    _ member: String, on device: String, as role: Role = .member, by inviter: String, after parents: [EntryHash]
  ) -> EntryHash {
    join(device, with: invite(member, as: role, by: inviter, after: parents), by: inviter)
  }

  mutating func remove(_ member: String, by device: String, after parents: [EntryHash]) -> EntryHash {
    write(
      device, after: parents,
      .removal(MembershipEntry.Removal(subject: .member(self.member(member)), reason: .removed, cutoffs: [])))
  }

  /// The end of one device.
  @discardableResult
  mutating func end(
    _ device: String, _ reason: MembershipEntry.Removal.Reason, by author: String, after parents: [EntryHash]
  ) -> EntryHash {
    write(
      author, after: parents,
      .removal(MembershipEntry.Removal(subject: .device(self.device(device)), reason: reason, cutoffs: [])))
  }

  mutating func setRole(_ member: String, _ role: Role, by device: String, after parents: [EntryHash]) -> EntryHash {
    write(device, after: parents, .role(MembershipEntry.RoleChange(member: self.member(member), role: role)))
  }

  /// The log of all entries.
  func log() throws -> MembershipLog {
    var log = MembershipLog(household: household)
    _ = try log.add(entries, cryptography: cryptography)
    return log
  }

  /// What the log of all entries amounts to.
  func state() throws -> MembershipState { MembershipEvaluation.state(of: try log()) }
}

private func plainSHA256(_ bytes: [UInt8]) -> [UInt8] {
  var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  var padded = bytes + [0x80]
  while padded.count % 64 != 56 { padded.append(0) }
  for shift in stride(from: 56, through: 0, by: -8) {
    padded.append(UInt8(truncatingIfNeeded: UInt64(bytes.count) * 8 >> UInt64(shift)))
  }
  for start in stride(from: 0, to: padded.count, by: 64) { compress(padded[start..<start + 64], into: &state) }
  return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
}

private func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
  func rotate(_ x: UInt32, _ n: UInt32) -> UInt32 { x >> n | x << (32 - n) }
  var w = (0..<16).map { index in
    (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(block[block.startIndex + index * 4 + $1]) }
  }
  for i in 16..<64 {
    let a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3
    let b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10
    w.append(w[i - 16] &+ a &+ w[i - 7] &+ b)
  }
  var (a, b, c, d) = (state[0], state[1], state[2], state[3])
  var (e, f, g, h) = (state[4], state[5], state[6], state[7])
  for i in 0..<64 {
    let s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    let choice = e & f ^ ~e & g
    let t1 = h &+ s1 &+ choice &+ roundConstants[i] &+ w[i]
    let s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    let majority = a & b ^ a & c ^ b & c
    (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ s0 &+ majority)
  }
  for (i, word) in [a, b, c, d, e, f, g, h].enumerated() { state[i] &+= word }
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4).
private let roundConstants: [UInt32] = {
  var primes: [UInt64] = []
  var candidate: UInt64 = 2
  while primes.count < 64 {
    if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
    candidate += 1
  }
  return primes.map { prime in
    // The greatest r with r^3 <= prime * 2^96, of which the lower 32 bits are the fraction.
    var low: UInt64 = 0
    var high: UInt64 = 1 << 36
    while high - low > 1 {
      let middle = (low + high) / 2
      let square = middle.multipliedFullWidth(by: middle)
      let cube = square.low.multipliedFullWidth(by: middle)
      let upper = square.high * middle + cube.high
      if upper < prime << 32 || (upper == prime << 32 && cube.low == 0) { low = middle } else { high = middle }
    }
    return UInt32(truncatingIfNeeded: low)
  }
}()
