// Package config knows where the app keeps its files, what the user has set,
// and where keys come from.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/adrg/xdg"

	"temporal-sandbox-agent/backend/protocol"
)

// appName names our folders and our keys in the keyring.
const appName = "temporal-sandbox-agent"

// EnvDataDir moves everything, as --data-dir does.
const EnvDataDir = "TSA_DATA_DIR"

// Paths are the folders of the app. They exist, are closed to other users, and
// Data and Config can be written.
type Paths struct {
	Data   string
	Config string
	State  string
	Cache  string
	// Moved is true when all of them are in a folder of the user's choice: then
	// nothing is shared with another installation, the keyring included.
	Moved bool
}

// FindPaths finds the folders and makes them: all of them in dataDir, or in
// TSA_DATA_DIR if dataDir is empty, or else where the system wants them. What
// hinders is a *protocol.Fault.
func FindPaths(dataDir string) (Paths, error) {
	if dataDir == "" {
		dataDir = os.Getenv(EnvDataDir)
	}
	p, err := choose(dataDir)
	if err != nil {
		return Paths{}, err
	}
	for _, dir := range []string{p.Data, p.Config, p.State, p.Cache} {
		if err := makePrivate(dir); err != nil {
			return Paths{}, folderFault(dir, err)
		}
	}
	for _, dir := range []string{p.Data, p.Config} {
		if err := probe(dir); err != nil {
			return Paths{}, folderFault(dir, err)
		}
	}
	return p, nil
}

func choose(dataDir string) (Paths, error) {
	if dataDir != "" {
		dir, err := filepath.Abs(dataDir)
		if err != nil {
			return Paths{}, folderFault(dataDir, err)
		}
		return Paths{
			Data: dir, Config: filepath.Join(dir, "config"), State: filepath.Join(dir, "state"), Cache: filepath.Join(dir, "cache"),
			Moved: true,
		}, nil
	}
	// Without a home the library falls back to the root folder.
	if _, err := os.UserHomeDir(); err != nil && !allSet("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME") {
		return Paths{}, &protocol.Fault{
			Class:    protocol.ClassBadInput,
			Happened: "There is no home folder to keep the app's data in.",
			Remedy:   "Set HOME, or choose a folder with --data-dir or " + EnvDataDir + ".",
			Detail:   err.Error(),
		}
	}
	xdg.Reload() // the library read the environment when the process started
	return Paths{
		Data: filepath.Join(xdg.DataHome, appName), Config: filepath.Join(xdg.ConfigHome, appName),
		State: filepath.Join(xdg.StateHome, appName), Cache: filepath.Join(xdg.CacheHome, appName),
	}, nil
}

func allSet(names ...string) bool {
	for _, n := range names {
		if os.Getenv(n) == "" {
			return false
		}
	}
	return true
}

// errShared is a folder that others use as well.
var errShared = errors.New("other users can write to it")

// makePrivate makes a folder, or closes one that is there. A folder that is
// meant for several users (/tmp, say) is left alone.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 || info.Mode().Perm()&0o002 != 0 {
		return errShared
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}

// probe makes sure that a file can be written, not only made: a full disk still
// takes empty files.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(make([]byte, 4096))
	return errors.Join(err, f.Close())
}

// folderFault says in the user's words why a folder can't be used.
func folderFault(dir string, err error) error {
	fault := &protocol.Fault{
		Class:    protocol.ClassWorkspace,
		Happened: fmt.Sprintf("The folder %s can't be used.", dir),
		Kept:     "Nothing was changed.",
		Remedy:   "Check its permissions, or choose another one with --data-dir or " + EnvDataDir + ".",
		Detail:   err.Error(),
	}
	switch {
	case errors.Is(err, errShared):
		fault.Class = protocol.ClassBadInput
		fault.Happened = fmt.Sprintf("The folder %s is shared with other users.", dir)
		fault.Remedy = "Choose a folder of your own."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		fault.Class = protocol.ClassDiskFull
		fault.Happened = "The disk is full."
		fault.Remedy = "Free some space, then start the app again."
	case errors.Is(err, syscall.EROFS):
		fault.Happened = fmt.Sprintf("The folder %s is on a read-only file system.", dir)
	case errors.Is(err, fs.ErrPermission):
		fault.Happened = fmt.Sprintf("The folder %s can't be written.", dir)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		fault.Happened = fmt.Sprintf("%s, or what it is in, is not a folder.", dir)
	}
	return fault
}

// keyringService is the name of our entries in the keyring.
func (p Paths) keyringService() string {
	if !p.Moved {
		return appName
	}
	sum := sha256.Sum256([]byte(p.Data))
	return appName + ":" + hex.EncodeToString(sum[:6])
}
