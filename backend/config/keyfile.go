package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
)

const keyFileName = "keys.json"

// keyFile keeps what the keyring does not take, and what is no secret. It is
// readable for the user only.
type keyFile struct {
	path string
	tell func(notice string)

	mu     sync.Mutex
	seen   fileStamp
	values map[string]string
}

func (k *keyFile) get(name string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.read(); err != nil {
		return "", err
	}
	return k.values[name], nil
}

// all returns the values whose names begin with prefix.
func (k *keyFile) all(prefix string) ([]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.read(); err != nil {
		return nil, err
	}
	var out []string
	for name, value := range k.values {
		if strings.HasPrefix(name, prefix) {
			out = append(out, value)
		}
	}
	return out, nil
}

// set keeps a value; an empty one removes it.
func (k *keyFile) set(name, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.read(); err != nil {
		return err
	}
	if k.values[name] == value {
		return nil
	}
	next := map[string]string{}
	for n, v := range k.values {
		next[n] = v
	}
	next[name] = value
	if value == "" {
		delete(next, name)
	}
	content, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(k.path, append(content, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", k.path, err)
	}
	k.values, k.seen = next, stampOf(k.path)
	return nil
}

func (k *keyFile) read() error {
	stamp := stampOf(k.path)
	if k.values != nil && stamp == k.seen {
		return nil
	}
	content, err := os.ReadFile(k.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", k.path, err)
	}
	values := map[string]string{}
	if err == nil {
		// Somebody may have copied it with another mode.
		if err := os.Chmod(k.path, 0o600); err != nil {
			return err
		}
		if json.Unmarshal(content, &values) != nil {
			kept, err := setAside(k.path)
			if err != nil {
				return err
			}
			// Without the library's reason, which may quote a key.
			k.tell(fmt.Sprintf("The file of keys could not be read. It is kept as %s; the keys must be entered again.", kept))
			values, stamp = map[string]string{}, stampOf(k.path)
		}
	}
	k.values, k.seen = values, stamp
	return nil
}
