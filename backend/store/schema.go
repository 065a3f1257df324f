package store

import "bytes"

// schemaVersion is stamped into the file (user_version). A file with a higher
// one was written by a newer app.
const schemaVersion = 1

// schema makes an empty database.
//
// The row id of a record is its revision: AUTOINCREMENT never gives a number
// twice, a rewritten record moves to the end of the table, and what was
// written since a revision is a range of row ids.
const schema = `
CREATE TABLE objects (
	id    BLOB NOT NULL UNIQUE,
	codec INTEGER NOT NULL,
	data  BLOB NOT NULL
);
CREATE TABLE records (
	rev   INTEGER PRIMARY KEY AUTOINCREMENT,
	key   BLOB NOT NULL UNIQUE,
	codec INTEGER NOT NULL,
	value BLOB NOT NULL
);
`

const (
	sqlPut = `INSERT INTO objects (id, codec, data) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING`
	sqlGet = `SELECT codec, data FROM objects WHERE id = ?`
	sqlOut = `DELETE FROM objects WHERE id = ?`
	sqlHas = `SELECT 1 FROM objects WHERE id = ?`

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
