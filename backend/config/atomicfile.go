package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// writeFile replaces a file so that a reader, or a crash, finds the old or the
// new content and nothing between. Only the user can read it.
func writeFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	// A file system that can't sync a folder keeps the rename in its own time.
	_ = dir.Sync()
	return dir.Close()
}

// setAside renames a file that can't be read and returns its new name.
func setAside(path string) (string, error) {
	kept := path + ".broken-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Rename(path, kept); err != nil {
		return "", fmt.Errorf("set %s aside: %w", path, err)
	}
	return kept, nil
}
