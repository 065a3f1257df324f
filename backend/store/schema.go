package store

import "bytes"

// schemaVersion is stamped into the file (user_version). A file with a higher
// one was written by a newer app; one with a lower is brought up to it.
const schemaVersion = 2

// schema makes an empty database.
//
// What is known of an object lies apart from its content, so that looking for
// one, marking it as used and looking for those that are not used read and
// write little.
//
// The row id of a record is its revision: AUTOINCREMENT never gives a number
// twice, a rewritten record moves to the end of the table, and what was
// written since a revision is a range of row ids.
const schema = objectsSchema + `
CREATE TABLE records (
	rev   INTEGER PRIMARY KEY AUTOINCREMENT,
	key   BLOB NOT NULL UNIQUE,
	codec INTEGER NOT NULL,
	value BLOB NOT NULL
);
`

// size is what the content takes as it is stored; used is the Unix time of the
// last use. The content is a row of contents (place), or lies in a pack from
// place on; pack is 0 for a row. The name tells the packs of this database from
// those of another one. The epoch is drawn anew whenever objects are removed.
const objectsSchema = `
CREATE TABLE objects (
	id    BLOB PRIMARY KEY,
	codec INTEGER NOT NULL,
	size  INTEGER NOT NULL,
	used  INTEGER NOT NULL,
	pack  INTEGER NOT NULL,
	place INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE contents (
	row  INTEGER PRIMARY KEY,
	data BLOB NOT NULL
);
CREATE TABLE packs (num INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TABLE store (name TEXT NOT NULL, epoch TEXT NOT NULL);
INSERT INTO store VALUES (hex(randomblob(8)), hex(randomblob(16)));
`

// fromVersion1 turns the one table of objects into two. It is run in one
// transaction.
const fromVersion1 = `
ALTER TABLE objects RENAME TO objects1;
` + objectsSchema + `
INSERT INTO contents (row, data) SELECT rowid, data FROM objects1;
INSERT INTO objects (id, codec, size, used, pack, place)
	SELECT id, codec, length(data), unixepoch(), 0, rowid FROM objects1;
DROP TABLE objects1;
`

const (
	sqlGet  = `SELECT codec, size, pack, place, CASE pack WHEN 0 THEN (SELECT data FROM contents WHERE row = place) END FROM objects WHERE id = ?`
	sqlUsed = `SELECT used FROM objects WHERE id = ?`

	sqlSize = `SELECT size FROM objects WHERE id = ?`

	sqlKnown = `SELECT id, size, used FROM objects WHERE id > ? ORDER BY id LIMIT ?`
	sqlUsage = `SELECT count(*), coalesce(sum(size), 0), (SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size) FROM objects`

	sqlName     = `SELECT name FROM store`
	sqlEpoch    = `SELECT epoch FROM store`
	sqlNewEpoch = `UPDATE store SET epoch = hex(randomblob(16))`

	// Rows are numbered by whoever writes, in its transaction.
	sqlLastRow = `SELECT coalesce(max(row), 0) FROM contents`
	sqlPut     = `INSERT INTO objects (id, codec, size, used, pack, place) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	sqlContent = `INSERT INTO contents (row, data) VALUES (?, ?)`
	sqlUse     = `UPDATE objects SET used = max(used, ?) WHERE id = ?`

	// An object that was used since is not taken.
	sqlTake        = `DELETE FROM objects WHERE id = ? AND used < ? RETURNING size, pack, place`
	sqlTakeContent = `DELETE FROM contents WHERE row = ?`

	sqlAddPack    = `INSERT INTO packs DEFAULT VALUES`
	sqlPacks      = `SELECT num FROM packs ORDER BY num`
	sqlRemovePack = `DELETE FROM packs WHERE num = ?`
	sqlPacked     = `SELECT pack, sum(size) FROM objects WHERE pack > 0 GROUP BY pack`
	sqlOfPack     = `SELECT id, size, place FROM objects WHERE pack = ? AND id > ? ORDER BY id LIMIT ?`
	sqlMove       = `UPDATE objects SET pack = ?, place = ? WHERE id = ? AND pack = ? AND place = ?`

	sqlFree   = `PRAGMA freelist_count`
	sqlVacuum = `PRAGMA incremental_vacuum(512)` // vacuumPages

	sqlSet    = `INSERT OR REPLACE INTO records (key, codec, value) VALUES (?, ?, ?)`
	sqlLookup = `SELECT rev, codec, value FROM records WHERE key = ?`

	// The two ways through the records: along the keys, or (NOT INDEXED: along
	// the row ids) over what is newer than a revision. That is little, and
	// sorted by the caller: SQLite's sorter costs more than the reading.
	sqlListAll   = `SELECT rev, key, codec, value FROM records WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`
	sqlListSince = `SELECT rev, key, codec, value FROM records NOT INDEXED WHERE rev > ? AND key >= ? AND key < ?`

	sqlDelete = `DELETE FROM records WHERE key >= ? AND key < ?`
)

// keyRange returns the half-open range of the keys that begin with prefix.
// Keys are compared as bytes, so any byte is literal.
func keyRange(prefix string) (from, to []byte) {
	from = []byte(prefix)
	for i := len(from) - 1; i >= 0; i-- {
		if from[i] != 0xff {
			to = make([]byte, i+1)
			copy(to, from)
			to[i]++
			return from, to
		}
	}
	// Above all keys, which are shorter.
	return from, bytes.Repeat([]byte{0xff}, MaxKeyBytes+1)
}
