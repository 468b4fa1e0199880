/// The engine's own tables, each with what a row means. A released migration is never edited; a change is a new one.
enum EngineTables {
  /// The version of the file's layout, kept in `PRAGMA user_version`.
  static let version: Int64 = 2

  /// Marks the file as a household replica, kept in `PRAGMA application_id` ("HHLD").
  static let applicationID: Int64 = 0x4848_4C44

  /// Throws unless the file is a replica whose layout is known here: what a newer program wrote must not be read as if
  /// it meant the same, nor written into.
  static func require(on connection: Connection) throws {
    guard try connection.integer("PRAGMA application_id") == applicationID else {
      throw ReplicaError(.notAReplica, "\(connection.path) is not a household replica.")
    }
    try requireKnown(on: connection)
  }

  /// Throws if the layout is a newer one.
  static func requireKnown(on connection: Connection) throws {
    guard try connection.integer("PRAGMA user_version") ?? 0 <= version else {
      throw ReplicaError(.newerVersion, "\(connection.path) was written by a newer version of household.")
    }
  }

  /// The migrations in order; number n takes a file of version n to n + 1.
  static let migrations = [first, second]

  private static let first = """
    -- One fact about this replica under its name: who we are, which schema is in place, the last stamp.
    CREATE TABLE sync_meta(
      name TEXT PRIMARY KEY,
      value ANY
    ) STRICT, WITHOUT ROWID;

    -- A type's name and the number that stands for it in this file; types that the schema does not know have one too.
    CREATE TABLE sync_type(
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE
    ) STRICT;

    -- Facts that two records of one type are one thing, as records of a type of the engine's own; see AliasFact.
    INSERT INTO sync_type(number, name) VALUES (1, 'sync_alias');
    CREATE TABLE sync_alias(
      id TEXT PRIMARY KEY NOT NULL,
      type TEXT,
      first TEXT,
      second TEXT
    ) STRICT, WITHOUT ROWID;

    -- A record that is one thing with another one, which shows in its place. `hides` 1: the one that shows is hidden
    -- (its field `hidden` is 1) though not every member of the group is.
    CREATE TABLE sync_merged(
      type INTEGER NOT NULL,
      id TEXT NOT NULL,
      survivor TEXT NOT NULL,
      hides INTEGER NOT NULL,
      PRIMARY KEY(type, id)
    ) STRICT, WITHOUT ROWID;

    -- The key of a record that shows, by one of its type's rules of uniqueness: equal keys are duplicates.
    CREATE TABLE sync_unique(
      type INTEGER NOT NULL,
      rule INTEGER NOT NULL,
      key BLOB NOT NULL,
      id TEXT NOT NULL,
      PRIMARY KEY(type, rule, key, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sync_unique_of_record ON sync_unique(type, id);

    -- A replica that we heard of, or a branch of one (D4): whose it is, and up to which seq its changesets are received
    -- (stored here), applied (in the cells) and in the base (no longer held one by one). `root` is the replica id in the
    -- bytes of its changesets. A branch has a `parent`, with which it shares the changesets up to the seq `fork`; `first`
    -- is the hash of its first changeset after that. `begun`: the membership heads of the first
    -- changeset, which say what entries bind it.
    CREATE TABLE sync_replica(
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      device BLOB NOT NULL,
      nonce BLOB NOT NULL,
      begun BLOB NOT NULL,
      received INTEGER NOT NULL,
      applied INTEGER NOT NULL,
      base INTEGER NOT NULL,
      root BLOB NOT NULL,
      parent INTEGER,
      fork INTEGER NOT NULL,
      first BLOB
    ) STRICT;

    -- A changeset in the order in which it came to this replica. `body` holds the author's bytes, perhaps compressed
    -- (first byte 1); null for one that came by snapshot, of which only the header is known. `state` 0: received and
    -- waiting for what it depends on, 1: applied, 2: held until somebody approves what it deletes, 3: rejected, as its
    -- author had no right to write it, 4: rejected, and somebody here has decided what becomes of it. `dependencies` are
    -- complete, not only what changed.
    CREATE TABLE sync_changeset(
      position INTEGER PRIMARY KEY,
      replica INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      state INTEGER NOT NULL,
      hash BLOB NOT NULL,
      stamp INTEGER NOT NULL,
      edited_at INTEGER NOT NULL,
      schema_version INTEGER NOT NULL,
      continues INTEGER NOT NULL,
      dependencies BLOB NOT NULL,
      heads BLOB NOT NULL,
      body BLOB,
      UNIQUE(replica, seq)
    ) STRICT;
    CREATE INDEX sync_changeset_waiting ON sync_changeset(position) WHERE state = 0;
    CREATE INDEX sync_changeset_rejected ON sync_changeset(replica, seq) WHERE state >= 3;
    CREATE INDEX sync_changeset_held ON sync_changeset(position) WHERE state = 2;

    -- A changeset whose deletions somebody approved, by its hash; it may be here already or still come.
    CREATE TABLE sync_approval(
      hash BLOB PRIMARY KEY
    ) STRICT, WITHOUT ROWID;

    -- What decides one record. `writer` is the position of the changeset that wrote every cell not named in `cells`,
    -- and whose values the row of the type's table shows; it made the record alive. `modified` is the position of the
    -- last change that shows. `flags` 1: the writer's operation was weak, 2: a value does not fit its column, 4: an
    -- edit is listed in sync_conflict, 8: the record has owned sets, 16: alive and merged into another record, so that it
    -- has no row. `cells`
    -- is null, or names the cells that other changesets wrote and the concurrent writes that lost (see CellVersions).
    CREATE TABLE sync_record(
      type INTEGER NOT NULL,
      id TEXT NOT NULL,
      writer INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      flags INTEGER NOT NULL,
      life INTEGER NOT NULL,
      alive INTEGER NOT NULL,
      cells BLOB,
      PRIMARY KEY(type, id)
    ) STRICT, WITHOUT ROWID;

    -- A local edit that is not sealed yet, written by the capture triggers. `kind` 0: a row is about to be replaced,
    -- 1: inserted, 2: updated, 3: deleted, 4: a person has seen an edit that lost against the deletion. From 100 on it is
    -- a decision about a held changeset, named in `id`: 100 approved, 101 rejected. `fields` has a bit for each changed
    -- field. `image` is the row before a replacement or deletion, or what an update overwrote.
    -- `weak` 1: generated, not written by a person.
    CREATE TABLE sync_outbox(
      number INTEGER PRIMARY KEY,
      type INTEGER NOT NULL,
      id TEXT NOT NULL,
      kind INTEGER NOT NULL,
      fields INTEGER NOT NULL,
      at INTEGER NOT NULL,
      image TEXT,
      weak INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    -- A signed statement about who belongs.
    CREATE TABLE sync_membership(
      number INTEGER PRIMARY KEY,
      hash BLOB NOT NULL UNIQUE,
      bytes BLOB NOT NULL
    ) STRICT;

    -- A member as the membership log says now; for reading.
    CREATE TABLE sync_member(
      id BLOB PRIMARY KEY,
      name TEXT NOT NULL,
      role TEXT NOT NULL,
      state TEXT NOT NULL
    ) STRICT;

    -- A device as the membership log says now; for reading.
    CREATE TABLE sync_device(
      id BLOB PRIMARY KEY,
      member BLOB NOT NULL,
      name TEXT NOT NULL,
      state TEXT NOT NULL
    ) STRICT;

    -- What is remembered of a peer: where reading its log goes on, what it has confirmed, when it was last here.
    -- `contact` is a JSON object for status: addresses and what came of trying them, clock, counters.
    CREATE TABLE sync_peer(
      device BLOB PRIMARY KEY,
      token BLOB,
      acknowledged BLOB,
      last_seen INTEGER,
      last_sync INTEGER,
      contact TEXT
    ) STRICT;

    -- An invitation made here. `state`: open, used, expired, cancelled or locked. `guest_key`: the key of the guest to
    -- whom a join was signed; only it may use the invitation from then on.
    CREATE TABLE sync_invitation(
      id BLOB PRIMARY KEY,
      code TEXT NOT NULL,
      member BLOB NOT NULL,
      member_name TEXT NOT NULL,
      role TEXT NOT NULL,
      entry BLOB NOT NULL,
      expires_at INTEGER NOT NULL,
      state TEXT NOT NULL,
      wrong_tries INTEGER NOT NULL DEFAULT 0,
      guest_key BLOB
    ) STRICT;

    -- A change of one field (of all fields of its cell), or with `field` null a deletion, or with field `id` the making
    -- of a record that had been there before. `change` is its name, the same on every device. Records that were made
    -- once and for all have no row here: sync_changes shows their making from sync_record.
    CREATE TABLE sync_change(
      number INTEGER PRIMARY KEY,
      change TEXT NOT NULL,
      type INTEGER NOT NULL,
      id TEXT NOT NULL,
      field TEXT,
      before ANY,
      after ANY,
      position INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sync_change_of_record ON sync_change(type, id);

    -- An edit that lost against a concurrent one. `kept` and `lost` are the fields of the cell as a JSON object (`kept`
    -- null: the record is deleted), the positions say whose they are. `open` 0: somebody has seen both since.
    CREATE TABLE sync_conflict(
      conflict TEXT PRIMARY KEY,
      type INTEGER NOT NULL,
      id TEXT NOT NULL,
      field TEXT NOT NULL,
      kept TEXT,
      kept_position INTEGER,
      lost TEXT NOT NULL,
      lost_position INTEGER NOT NULL,
      open INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sync_conflict_of_record ON sync_conflict(type, id);

    -- That the set which decides at an owner holds a row: derived from the owner's cells. `position` is the set's
    -- changeset, `made` the one with which the row came here first, `changed` the one that changed it last. `shown` 0:
    -- another set, or a record of its own, holds the row with a greater claim.
    CREATE TABLE sync_owned(
      type INTEGER NOT NULL,
      id TEXT NOT NULL,
      owner TEXT NOT NULL,
      position INTEGER NOT NULL,
      made INTEGER NOT NULL,
      changed INTEGER NOT NULL,
      shown INTEGER NOT NULL,
      PRIMARY KEY(type, id, owner)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sync_owned_of_owner ON sync_owned(type, owner);

    -- Something about a record that a person should look at; derived, the same on every device, gone when it is no
    -- longer so. `since` is when the edit was made that brought it about, in milliseconds since 1970.
    CREATE TABLE sync_attention(
      type INTEGER NOT NULL,
      id TEXT NOT NULL,
      code TEXT NOT NULL,
      text TEXT NOT NULL,
      since INTEGER NOT NULL,
      PRIMARY KEY(type, id, code)
    ) STRICT, WITHOUT ROWID;

    -- A page of a snapshot that is being received.
    CREATE TABLE sync_snapshot_page(
      number INTEGER PRIMARY KEY,
      snapshot BLOB NOT NULL,
      cursor BLOB NOT NULL,
      is_last INTEGER NOT NULL,
      content BLOB NOT NULL
    ) STRICT;

    -- Who sealed a changeset, by name; for reading.
    CREATE VIEW sync_author AS
      SELECT c.position, c.edited_at, d.name AS device, m.name AS member,
             lower(hex(substr(p.id, 1, 4))) || '-' || c.seq AS name
      FROM sync_changeset c
      JOIN sync_replica p ON p.number = c.replica
      LEFT JOIN sync_device d ON d.id = p.device
      LEFT JOIN sync_member m ON m.id = d.member;

    -- The history, one row per changed field; for reading.
    CREATE VIEW sync_changes AS
      SELECT h.change, t.name AS type, h.id, h.field, h.before AS "from", h.after AS "to",
             a.member, a.device, a.edited_at AS at_ms, h.position
      FROM sync_change h
      JOIN sync_type t ON t.number = h.type
      JOIN sync_author a ON a.position = h.position
      UNION ALL
      SELECT a.name || '-' || t.name || '-' || r.id, t.name, r.id, 'id', NULL, r.id,
             a.member, a.device, a.edited_at, r.writer
      FROM sync_record r
      JOIN sync_type t ON t.number = r.type
      JOIN sync_author a ON a.position = r.writer
      WHERE r.alive = 1 AND r.life = 1 AND substr(t.name, 1, 5) <> 'sync_'
      UNION ALL
      SELECT a.name || '-' || t.name || '-' || o.id, t.name, o.id, 'id', NULL, o.id,
             a.member, a.device, a.edited_at, o.made
      FROM sync_owned o
      JOIN sync_type t ON t.number = o.type
      JOIN sync_author a ON a.position = o.made
      WHERE o.shown = 1
      UNION ALL
      SELECT a.name || '-sync_alias-' || f.id, f.type, f.second, 'id', f.second, f.first,
             a.member, a.device, a.edited_at, r.writer
      FROM sync_alias f
      JOIN sync_record r ON r.type = 1 AND r.id = f.id
      JOIN sync_author a ON a.position = r.writer
      WHERE r.life = 1;

    -- Who made each record and who changed it last; for reading.
    CREATE VIEW sync_provenance AS
      SELECT t.name AS type, r.id AS id,
             a.member AS created_member, a.device AS created_device, a.edited_at AS created_at_ms,
             b.member AS modified_member, b.device AS modified_device, b.edited_at AS modified_at_ms
      FROM sync_record r
      JOIN sync_type t ON t.number = r.type
      JOIN sync_author a ON a.position = r.writer
      JOIN sync_author b ON b.position = r.modified
      WHERE r.alive = 1
      UNION ALL
      SELECT t.name, o.id, a.member, a.device, a.edited_at, b.member, b.device, b.edited_at
      FROM sync_owned o
      JOIN sync_type t ON t.number = o.type
      JOIN sync_author a ON a.position = o.made
      JOIN sync_author b ON b.position = o.changed
      WHERE o.shown = 1;

    PRAGMA user_version = 1;
    """

  private static let second = """
    -- A write of one cell of a record that another write has taken the place of, kept until every active device has
    -- confirmed that other one: it may turn out not to count. `writer` is the position of the changeset that wrote it,
    -- `displacer` that of the first one which displaced it; `content` is its value (see DisplacedContent).
    CREATE TABLE sync_displaced(
      type INTEGER NOT NULL,
      id TEXT NOT NULL,
      cell TEXT NOT NULL,
      writer INTEGER NOT NULL,
      life INTEGER NOT NULL,
      displacer INTEGER NOT NULL,
      content BLOB NOT NULL,
      PRIMARY KEY(type, id, cell, writer, life)
    ) STRICT, WITHOUT ROWID;

    PRAGMA user_version = 2;
    """
}
