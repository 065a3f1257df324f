package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// runtimeFormat is the version of the runtime file; another one is not ours to
// read.
const runtimeFormat = 1

// runtimeFile tells other processes of this user how to reach the engine.
type runtimeFile struct {
	Format int `json:"format"`
	// ID is different for every start, so that a reader can tell one engine
	// from the next even if the process id is the same.
	ID         string    `json:"id"`
	PID        int       `json:"pid"`
	AppVersion string    `json:"appVersion"`
	Started    time.Time `json:"started"`
	// Frontend is host:port of the Temporal front end.
	Frontend string `json:"frontend"`
	// TokenFile is the name of the file beside this one that holds the token.
	TokenFile   string      `json:"tokenFile"`
	Credentials credentials `json:"credentials"`
	// Events is where the owner publishes live events; empty until it does.
	Events string `json:"events,omitempty"`
}

func (r runtimeFile) write(p paths) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the runtime file: %w", err)
	}
	if err := writeFileAtomic(p.runtime(), b); err != nil {
		return storageError(p.dir, "write the runtime file", err)
	}
	return nil
}

func readRuntime(p paths) (runtimeFile, error) {
	b, err := os.ReadFile(p.runtime())
	if err != nil {
		return runtimeFile{}, fmt.Errorf("read the runtime file: %w", err)
	}
	var r runtimeFile
	if err := json.Unmarshal(b, &r); err != nil {
		return runtimeFile{}, fmt.Errorf("read the runtime file: %w", err)
	}
	if r.Format != runtimeFormat {
		return runtimeFile{}, fmt.Errorf("read the runtime file: it is of another version (%d)", r.Format)
	}
	return r, nil
}

// removeRuntime takes back what an owner announced.
func removeRuntime(p paths) error {
	if err := os.Remove(p.runtime()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return storageError(p.dir, "remove the runtime file", err)
	}
	return nil
}
