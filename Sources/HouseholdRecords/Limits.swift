/// Every bound of the product in one table; each is crossed by a test (rule R8).
package enum Limits {
  // MARK: Records, checked at the writer

  /// The longest id of a record, in UTF-8 bytes: ids may be any text, and stand in every index.
  package static let idBytes = 1024
  /// The longest text in one field, in UTF-8 bytes: a note, not a file.
  package static let textBytes = 1 << 20
  /// The largest record, in encoded bytes: it must travel inside one message.
  package static let recordBytes = 4 << 20
  /// The longest name of a type, field, member or device, in UTF-8 bytes.
  package static let nameBytes = 128
  /// The most fields of one type: the outbox keeps changed fields as bits of a 64-bit integer.
  package static let fieldsPerType = 62
  /// The most types of one schema.
  package static let typesPerSchema = 256
  /// The most live duplicates whose values compete for what their group shows: real ones are as many as devices.
  package static let competingDuplicates = 256

  /// The most rows of one owned set: the splits of a transaction, of which people have a handful.
  package static let rowsPerSet = 1000
  /// The largest owned set, in bytes of texts: it is sealed whole whenever one of its rows is touched.
  package static let setBytes = 1 << 20

  // MARK: Changesets and membership

  /// The most rows of one owned set that are accepted from others: rows of a deleted set and new ones may be one set.
  package static let rowsPerSetAccepted = 4 * rowsPerSet

  /// Where a large local transaction is cut into several changesets that are applied together, in encoded bytes.
  package static let changesetTargetBytes = 1 << 20
  /// The largest changeset that is accepted, in encoded bytes: one largest record and its surroundings.
  package static let changesetBytes = 6 << 20
  /// The most operations in one changeset: more than the target size can hold, far below what could hurt.
  package static let operationsPerChangeset = 1 << 20
  /// The most entries of a version vector: replicas of a household over its life.
  package static let vectorEntries = 4096
  /// The most membership heads that one changeset or hello names.
  package static let membershipHeads = 256
  /// The largest membership entry, in bytes: a schema of the largest size.
  package static let entryBytes = 256 << 10
  /// The most entries of a membership log: a household's decades, and its ancestor table stays under 32 MiB.
  package static let membershipEntries = 16_384
  /// The most entries of which it is asked whether they alone tell a device its end: whoever needs more gets all that it lacks.
  package static let endsTold = 8
  /// The longest public key, in bytes of DER: an Ed25519 key takes 44.
  package static let publicKeyBytes = 1024
  /// A private key on its way to a new owner: an Ed25519 key has 48 bytes.
  package static let shareKeyBytes = 256

  // MARK: Wire

  /// The largest payload of a control frame, in bytes.
  package static let controlFrameBytes = 64 << 10
  /// The largest payload of a data frame, in bytes.
  package static let dataFrameBytes = 4 << 20
  /// The largest message, joined from several data frames, in bytes.
  package static let messageBytes = 8 << 20
  /// The size that a batch of changesets or a snapshot page aims at, in bytes.
  package static let batchTargetBytes = 256 << 10
  /// The most bytes sent on one link and not yet acknowledged.
  package static let unacknowledgedBytes = 2 << 20
  /// The most bytes queued for one link and not yet written to its socket.
  package static let queuedBytes = 32 << 20
  /// The longest text in a goodbye or refusal, in UTF-8 bytes.
  package static let sentenceBytes = 1024
  /// The most links open at one time that have not yet said a valid hello.
  package static let strangers = 64
  /// The most links open at one time.
  package static let links = 256
  /// The most links of one device open at one time: two that were dialled at once, and what broke off unnoticed.
  package static let linksPerDevice = 8
  /// The largest message of a guest, in bytes: a stranger has nothing to say that needs more than a control frame.
  package static let guestMessageBytes = controlFrameBytes
  /// The most guests at one time that have not proved a code: an honest one has within two seconds.
  package static let unprovedGuests = 48
  /// The most bytes delivered from one link and not yet consumed before it stops reading: one largest message.
  package static let unconsumedBytes = 8 << 20
  /// How long a TCP connection may take to come about, in milliseconds: a sleeping radio needs seconds.
  package static let connectMilliseconds: Int64 = 10_000
  /// How long a TLS handshake may take, in milliseconds: a stranger holds a place no longer.
  package static let handshakeMilliseconds: Int64 = 5_000
  /// How long a link that is being closed may take to send what is queued, in milliseconds: a node stops within 5 s.
  package static let closingMilliseconds: Int64 = 3_000
  /// How long a closed link waits for the peer to close too, in milliseconds: so that our last words are not lost.
  package static let lingerMilliseconds: Int64 = 500
  /// How long one address is tried before the next is tried beside it, in milliseconds (RFC 8305).
  package static let dialStaggerMilliseconds: Int64 = 250
  /// The most addresses tried in one dial, after names were resolved.
  package static let dialCandidates = 32
  /// The most threads that wait for the name service at one time.
  package static let resolverThreads = 4
  /// The most bytes of certificates that a peer may show: one of ours has about 500.
  package static let shownCertificateBytes = 16 << 10
  /// The most addresses remembered of one device.
  package static let addressesPerDevice = 16
  /// The longest certificate or signing request, in bytes of DER: ours take about 400.
  package static let certificateBytes = 8192
  /// A device's certificate is renewed once less than this part of its life is left: of five years twenty months, in which
  /// every device that is used at all meets an owner's.
  package static let certificateRenewalPart: Int64 = 3
  /// How long before its end a certificate is worth a word in any case, in milliseconds: thirty days.
  package static let certificateNearMilliseconds: Int64 = 30 * 86_400_000
  /// The longest address `HOST:PORT`, in UTF-8 bytes: a DNS name has at most 253.
  package static let addressBytes = 300
  /// The longest invitation link, in UTF-8 bytes: it must fit into a QR code, and room is left for later keys.
  package static let linkBytes = 4096
  /// The most members that the preview of a pairing names: it is one control frame.
  package static let membersInPreview = 64
  /// The wrong tries that lock an invitation.
  package static let wrongTries = 3
  /// The most vector entries in a control frame: with their hashes 33 bytes each, so they fit whatever their values are.
  package static let vectorEntriesPerControlFrame = 1900
  /// The size that one part of a membership answer aims at, in bytes: with one largest entry it fits into a message.
  package static let membershipPartBytes = 1 << 20
  /// The most devices that one message tells of: more than a household has, and as many as there are links.
  package static let presences = links
  /// The longest datagram that may be a beacon, in bytes.
  package static let beaconBytes = 64
  /// The most beacons that are looked at in one second: a household has a few devices, a stranger any number.
  package static let beaconsPerSecond = 50
  /// The most addresses that beacons have told of one device, the newest.
  package static let foundAddresses = 4
  /// The pages of a snapshot, packed, that are kept in memory while they are put in place as they come, in bytes; larger
  /// snapshots are staged in the file, so that they can be resumed.
  package static let directSnapshotBytes = 16 << 20
  /// The longest cursor of a snapshot, in bytes: a table, a key of the longest kind, and some.
  package static let cursorBytes = 4096
  /// The changesets that one question for a fork names: three questions find it among a quarter of a million.
  package static let branchPoints = 64
  /// The newest changesets of a replica whose headers a snapshot carries, so that whoever has only a snapshot can tell a
  /// restored device's branch from the other one: more than a device seals between two backups and their peers' sync.
  package static let recentHeaders = 256
  /// The most bytes of headers on the first page of a snapshot: each names every replica that its author had seen, and all of
  /// them must fit into one page.
  package static let snapshotHeaderBytes = 6 << 20
  /// The bytes of headers at which another page of a snapshot ends: so that with all that it holds it can be read.
  package static let pageHeaderBytes = 2 << 20
  /// How many records of a type that others created one member deletes without being asked (design 2.10).
  package static let freeDeletionsOfType = 10
  /// How many records of all types that others created one member deletes without being asked.
  package static let freeDeletions = 50
  /// The most changesets received and waiting for what they depend on.
  package static let waitingChangesets = 100_000

  /// How long copies of a device's directory matter: one that is silent for so long, and of which another has seen all that
  /// it wrote, was put back and is not used beside it; and none that is older is put back. A month: whoever uses a copy
  /// opens it meanwhile, and backups are made more often.
  package static let copyRestMilliseconds: UInt64 = 30 * 86_400_000

  /// The most deleted records that lose their values in one go: everyone else waits for the transaction meanwhile.
  package static let emptiedAtOnce = 20_000

  /// The most attention items that one status names; the others are counted.
  package static let attentionShown = 20

  // MARK: Files

  /// The most fields of one line of a bank's CSV file: real ones have a few dozen, a wrong separator makes thousands.
  package static let importColumns = 1024
  /// The cache of SQLite's pages while an import or a series writes, in KiB: the pages of 100,000 transactions.
  package static let generationCacheKiB = 32 << 10
  /// The largest file that is imported, in bytes: decades of a bank's statements; it is read whole.
  package static let importBytes = 256 << 20
  /// The most lines of one file that may be no CSV before it is given up: each may be read again up to the next.
  package static let unreadableLines = 1000
}
