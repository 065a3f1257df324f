package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tokenBytes is the length of the token before encoding.
const tokenBytes = 32

// token is the secret of one installation. Whoever may read the data folder
// may use the engine, nobody else. It never appears in an argument list, an
// environment or a log.
type token string

// String keeps the token out of logs that print values.
func (token) String() string { return "(hidden)" }

// GoString keeps it out of %#v too.
func (token) GoString() string { return "(hidden)" }

// header is the value of the authorization header.
func (t token) header() string { return "Bearer " + string(t) }

// GetHeaders makes the token a client.HeadersProvider of the SDK.
func (t token) GetHeaders(context.Context) (map[string]string, error) {
	return map[string]string{"authorization": t.header()}, nil
}

// ensureToken reads the token of the installation, or makes it. A file that
// does not hold a whole token (cut by a crash) is written anew. Only the holder
// of the lock may call it.
func ensureToken(path string) (token, error) {
	t, err := readToken(path)
	if err == nil {
		return t, nil
	}
	if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errBadToken) {
		return "", err
	}
	raw := make([]byte, tokenBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("make the engine's token: %w", err)
	}
	t = token(hex.EncodeToString(raw))
	if err := writeFileAtomic(path, []byte(string(t)+"\n")); err != nil {
		return "", fmt.Errorf("keep the engine's token: %w", err)
	}
	return t, nil
}

var errBadToken = errors.New("not a token")

// readToken reads the token and closes the file to other users if it is open
// to them.
func readToken(path string) (token, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the engine's token: %w", err)
	}
	s := strings.TrimSpace(string(b))
	if raw, err := hex.DecodeString(s); err != nil || len(raw) != tokenBytes {
		return "", fmt.Errorf("read the engine's token: %w", errBadToken)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return "", fmt.Errorf("protect the engine's token: %w", err)
	}
	return token(s), nil
}

// writeFileAtomic writes a file of mode 0600 so that a reader sees the old or
// the new content, never a part, also after a crash.
func writeFileAtomic(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
