package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/server/common/headers"
)

// serverVersion is the version of the server that is built in.
const serverVersion = headers.ServerVersion

// stamp lies beside the database and says which server wrote it. The server
// keeps no version of its own in a SQLite file, and opens any file without an
// error: what does not fit shows as calls that hang.
type stamp struct {
	// Server is the version of the Temporal server, such as "1.32.1".
	Server string `json:"server"`
	// App is the version of the app, for the reader of a bug report.
	App string `json:"app"`
	// Closed is how the file was left by an engine that closed it. While one
	// runs it is out of date, and harmless: it only says that this very state
	// of the file is sound.
	Closed fileState `json:"closed,omitzero"`
}

// fileState tells one state of a file from others.
type fileState struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

func stateOf(fi os.FileInfo) fileState { return fileState{Size: fi.Size(), Modified: fi.ModTime()} }

func (s fileState) is(fi os.FileInfo) bool {
	return s.Size == fi.Size() && s.Modified.Equal(fi.ModTime())
}

// readStamp returns a zero stamp if there is none, or none that can be read: a
// database of unknown age is treated as an old one.
func readStamp(p paths) (stamp, error) {
	b, err := os.ReadFile(p.stamp())
	if errors.Is(err, os.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, storageError(p.dir, "read the database's stamp", err)
	}
	var s stamp
	if err := json.Unmarshal(b, &s); err != nil {
		return stamp{}, nil //nolint:nilerr // as promised above
	}
	return s, nil
}

func (s stamp) write(p paths) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the database's stamp: %w", err)
	}
	return storageError(p.dir, "write the database's stamp", writeFileAtomic(p.stamp(), append(b, '\n')))
}

// age compares the stamp with the server that is built in: below zero if an
// older one wrote the database, above if a newer one did.
func (s stamp) age() int { return compareVersions(s.Server, serverVersion) }

// compareVersions compares dotted numbers. What is not a number counts as
// zero, so that an unknown version is an old one.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if d := versionPart(as, i) - versionPart(bs, i); d != 0 {
			return d
		}
	}
	return 0
}

func versionPart(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return 0
	}
	return n
}
