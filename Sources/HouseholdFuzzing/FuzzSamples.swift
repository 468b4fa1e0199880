import HouseholdBudget
import HouseholdRecords
import HouseholdReplica
import HouseholdSimulation
import HouseholdSync
import HouseholdTrust

/// Bytes that are right, to begin from: what the devices of a simulated household sent to each other, and a few more.
package enum FuzzSamples {
  /// The samples of a target, always the same.
  package static func of(_ target: FuzzTarget) -> [[UInt8]] {
    switch target {
    case .frames: traffic.prefix(40).map { Self.frame($0.type, $0.payload) }
    case .message: traffic.map { [$0.type] + $0.payload } + keyMessages
    case .pairing: pairing
    case .changeset:
      batches.compactMap { batch in
        read { try FuzzedEncodings.packed(batch, limit: Limits.changesetBytes) }
      }
    case .membership: entries
    case .schema: [SchemaEncoding.encode(BudgetSchema.schema)]
    case .snapshotPage: pages
    case .cells: pages.flatMap { page in read { try FuzzedEncodings.cellsOfRecords(onPage: page) } ?? [] }
    case .packed: traffic.compactMap { $0.payload.count > 300 ? $0.payload : nil } + batches
    case .invitation: invitations.map { Array($0.utf8) }
    case .certificate: certificates
    case .importFile: files.map { Array($0.utf8) }
    case .manifest: [Array(SchemaManifest.write(BudgetSchema.schema).utf8)]
    }
  }

  static let sharePublicKey = SimulatedCryptography(secret: []).key([1]).publicKey

  /// All different messages of a small household in which a device joins by snapshot.
  private static let traffic: [(type: UInt8, payload: [UInt8])] = {
    var list: [(type: UInt8, payload: [UInt8])] = []
    var seen: Set<[UInt8]> = []
    for seed in UInt64(1)...3 {
      let sent = read { try RandomHousehold.messages(seed: seed, size: .init(devices: 3, steps: 80)) } ?? []
      for message in sent where message.payload.count < 3000 && seen.insert([message.type] + message.payload).inserted {
        list.append(message)
      }
    }
    return list
  }()

  /// What goes between devices with keys of their own, which simulated ones have not.
  private static let keyMessages: [[UInt8]] = {
    let certificate = certificates.count > 1 ? certificates[1] : []
    let list: [Message] = [.shareKeyWanted, .shareKey(privateKey), .certificateWanted, .certificate(certificate)]
    return list.map { [$0.kind.rawValue] + MessageCodec.encode($0) }
  }()

  private static func messages() -> [Message] {
    traffic.compactMap { sent in
      Message.Kind(rawValue: sent.type).flatMap { kind in read { try MessageCodec.decode(kind, sent.payload) } }
    }
  }

  private static let batches: [[UInt8]] = messages().flatMap { message -> [[UInt8]] in
    guard case .batch(let batch) = message else { return [] }
    return batch.changesets.map(\.bytes)
  }

  private static let entries: [[UInt8]] = messages().flatMap { message -> [[UInt8]] in
    guard case .membership(let part) = message else { return [] }
    return part.entries
  }

  private static let pages: [[UInt8]] = messages().compactMap { message in
    guard case .snapshotPage(let part) = message else { return nil }
    return read { try FuzzedEncodings.packed(part.page.content, limit: Limits.messageBytes) }
  }

  private static let pairing: [[UInt8]] = {
    guard let member = MemberID(bytes: [UInt8](repeating: 2, count: MemberID.byteCount)),
      let household = HouseholdID(bytes: [UInt8](repeating: 3, count: HouseholdID.byteCount))
    else { return [] }
    let mac = [UInt8](repeating: 1, count: PairingMessage.macBytes)
    let preview = PairingPreview(
      household: household, householdName: "Home", shareCertificate: [1, 2, 3], inviterMember: "ana",
      inviterDevice: "laptop", member: member, memberName: "ben", role: .member, isDeviceInvitation: false,
      schemaName: "budget", recordCounts: [.init(type: "note", count: 300)], memberNames: ["ana"])
    let completion = PairingCompletion(
      deviceCertificate: [1], shareCertificate: [2], entries: [[1, 2], [3]], addresses: ["[::1]:7411"])
    let list: [PairingMessage] = [
      .welcome(version: 1, salt: [UInt8](repeating: 7, count: PairingMessage.saltBytes)), .proof(mac: mac),
      .preview(mac: mac, preview), .refused(PairingRefusal(.wrong, "No.", triesLeft: 2)),
      .request(signingRequest: [1, 2, 3], deviceName: "phone"), .complete(completion), .stored, .committed,
      .abandon(sentence: "Bye."),
    ]
    return list.map { message in
      let written = PairingMessageCodec.encode(message)
      return [written.type] + written.payload
    }
  }()

  private static let invitations: [String] = {
    var random = SeededRandom(seed: 1)
    let code = InvitationCode(from: &random)
    let household = HouseholdID(bytes: [UInt8](repeating: 3, count: HouseholdID.byteCount))
    let link = InvitationLink(code: code, addresses: ["192.168.1.2:7411", "[fe80::1]:7411"], household: household)
    return ["\(code)", "\(link)", "household://join/\(code)/?a=%5B::1%5D:1&x=y#z"]
  }()

  private static let certificates: [[UInt8]] = {
    read {
      let now = Instant(milliseconds: 1_772_442_000_000)
      let key = try KeyPair(privateKey: privateKey)
      let authority = try ShareAuthority(
        certificate: try ShareCertificate.make(name: "Home", key: key, now: now), key: key)
      guard let member = MemberID(bytes: [UInt8](repeating: 2, count: MemberID.byteCount)) else { return [] }
      let device = try authority.issue(publicKey: key.publicKey, member: member, now: now)
      return [
        authority.certificate.der, device.der, try SigningRequest.make(for: key).der, privateKey, key.publicKey,
        try GuestCertificate.make(for: key, now: now), PEM.encoded(privateKey, label: PEM.privateKey),
      ]
    } ?? []
  }()

  private static let privateKey: [UInt8] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]
    + [UInt8](repeating: 9, count: 32)

  private static let files = [
    "date,amount,payee\n2026-03-01,-12.50,\"Caf\u{e9} \"\"Roma\"\"\"\n01.03.2026,1.234,56,x\n",
    "Buchungstag;Betrag;Empf\u{e4}nger;W\u{e4}hrung\n01.03.2026;-1.234,56;Miete;EUR\n",
    """
    {"format": "household-records/1", "types": {"transaction": [
    {"id": "t", "date": "2026-03-01", "amount_minor": -5, "note": null}, {"id": "u", "payee": "\\ud83d\\ude00\\n"}]}}
    """,
    "\u{FEFF}date\tamount\r\n2026-03-01\t5\r\n",
    """
    <OFX><CURDEF>EUR<BANKACCTFROM><ACCTID>7</BANKACCTFROM>
    <STMTTRN><DTPOSTED>20260301120000[-5:EST]<TRNAMT>-3,50<FITID>a1<NAME>Tea &amp; Co<MEMO><![CDATA[two]]></STMTTRN></OFX>
    """,
    "!Type:Bank\nD31/ 1'26\nT-1,250.00\nPRoma\nLFood\nSFood\n$-1,000.00\nS[Savings]\n$-250.00\n^\n",
    """
    <?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>
    <Acct><Id><IBAN>XX00</IBAN></Id><Ccy>EUR</Ccy></Acct><Ntry><Amt Ccy="EUR">2.50</Amt><CdtDbtInd>DBIT</CdtDbtInd>
    <Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-03-01</Dt></BookgDt><AcctSvcrRef>r1</AcctSvcrRef><NtryDtls><TxDtls>
    <RltdPties><Cdtr><Pty><Nm>Roma</Nm></Pty></Cdtr></RltdPties><RmtInf><Ustrd>Tea</Ustrd></RmtInf></TxDtls></NtryDtls>
    </Ntry></Stmt></BkToCstmrStmt></Document>
    """,
    ":20:1\n:25:7/8\n:60F:C260301EUR10,00\n:61:2603010301D2,50NMSCa1//b\n:86:166?00BUY?20Tea?32Roma\n:62F:C260301EUR7,50\n-\n",
  ]

  private static func frame(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let count = payload.count
    return [UInt8(count >> 24 & 255), UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, 0]
      + payload
  }

  /// The result, or nil: a sample that cannot be made shows in the test that counts them.
  private static func read<Result>(_ body: () throws -> Result) -> Result? {
    do { return try body() } catch { return nil }
  }
}
