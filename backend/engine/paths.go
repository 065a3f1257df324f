package engine

import (
	"errors"
	"os"
	"path/filepath"
)

// Names inside the data folder.
const (
	folderName   = "engine"
	databaseName = "temporal.db"
	stampName    = "temporal.stamp.json"
	lockName     = "lock"
	runtimeName  = "runtime.json"
	tokenName    = "token"
	logName      = "engine.log"
)

// paths are the engine's files in a data folder.
type paths struct{ dir string }

func (p paths) database() string { return filepath.Join(p.dir, databaseName) }
func (p paths) stamp() string    { return filepath.Join(p.dir, stampName) }
func (p paths) lock() string     { return filepath.Join(p.dir, lockName) }
func (p paths) runtime() string  { return filepath.Join(p.dir, runtimeName) }
func (p paths) token() string    { return filepath.Join(p.dir, tokenName) }
func (p paths) log() string      { return filepath.Join(p.dir, logName) }

// probeBytes is the room that a start needs at least: a grown write-ahead log
// (4 MiB) and some to go on with.
const probeBytes = 8 << 20

// preparePaths makes the engine's folder, closed to other users, and makes sure
// that it can be written.
func preparePaths(dataDir string) (paths, error) {
	if dataDir == "" {
		return paths{}, errors.New("open the engine: no data folder given")
	}
	dir, err := filepath.Abs(filepath.Join(dataDir, folderName))
	if err != nil {
		return paths{}, storageError(dataDir, "find the data folder", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return paths{}, storageError(dataDir, "make the data folder", err)
	}
	// MkdirAll leaves the mode of folders that were there.
	for _, d := range []string{dataDir, dir} {
		if err := os.Chmod(d, 0o700); err != nil {
			return paths{}, storageError(dataDir, "protect the data folder", err)
		}
	}
	return paths{dir: dir}, nil
}

// probe writes and removes a file, so that a full disk is told apart before
// the server half starts on it.
func (p paths) probe() error {
	f, err := os.CreateTemp(p.dir, "probe.*.tmp")
	if err != nil {
		return storageError(p.dir, "write to the data folder", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	chunk := make([]byte, 1<<20)
	for written := 0; written < probeBytes && err == nil; written += len(chunk) {
		_, err = f.Write(chunk)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return storageError(p.dir, "write to the data folder", err)
}
