//go:build unix

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
)

const (
	pickRemedy  = "Choose the folder of a project: the agent changes what is in it, and a snapshot holds all of it."
	writeRemedy = "Make the folder writable for you, or choose another one."
)

// pickedRoot checks a folder that the user picked and returns its real path.
func (p *Provider) pickedRoot(root string) (string, error) {
	const op = "use folder"
	real, err := p.checkRoot(op, root)
	if sandbox.KindOf(err) == sandbox.KindNotFound {
		return "", advise(fail(sandbox.KindNotFound, op, "there is no folder %s", root), "Make the folder first, or choose one that exists.")
	}
	if err != nil {
		return "", err
	}
	if err := unix.Access(real, unix.W_OK|unix.X_OK); err != nil {
		return "", advise(fail(sandbox.KindReadOnly, op, "%s can't be written: %w", root, err), writeRemedy)
	}
	return real, nil
}

// checkRoot tells whether a folder can be a workspace at all.
func (p *Provider) checkRoot(op, root string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", advise(fail(sandbox.KindInvalid, op, "%s %s", root, why), pickRemedy)
	}
	if !filepath.IsAbs(root) || strings.Contains(root, "\x00") {
		return refuse("is not an absolute path")
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", wrap(op, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", wrap(op, err)
	}
	if !info.IsDir() {
		return refuse("is not a folder")
	}
	if real == "/" {
		return refuse("is the whole machine")
	}
	home := p.cfg.Home
	if home == "" {
		home, _ = os.UserHomeDir() // without one there is nothing to keep out
	}
	if at, err := filepath.EvalSymlinks(home); err == nil && home != "" && holds(real, at) {
		if real == at {
			return refuse("is your home folder")
		}
		return refuse("holds your home folder")
	}
	if at, err := filepath.EvalSymlinks(p.cfg.StateDir); err == nil && (holds(real, at) || holds(at, real)) {
		return refuse("holds the app's own data, or is in it")
	}
	return real, nil
}

// holds tells whether path is dir or in it; both are real paths.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// maxFresh is how many workspaces one session may have.
const maxFresh = 10_000

// freshRoot makes a new folder of the wanted name, else named after the session.
func (p *Provider) freshRoot(session, folder string) (string, error) {
	const op = "make workspace"
	remedy := "Make the folder writable, or start the app with another data folder."
	if !filepath.IsAbs(p.cfg.WorkspacesDir) {
		return "", fail(sandbox.KindInvalid, op, "%q is not an absolute folder for workspaces", p.cfg.WorkspacesDir)
	}
	if err := os.MkdirAll(p.cfg.WorkspacesDir, 0o700); err != nil {
		return "", advise(wrap(op, err), remedy)
	}
	parent, err := filepath.EvalSymlinks(p.cfg.WorkspacesDir)
	if err != nil {
		return "", wrap(op, err)
	}
	wanted := session
	if folder != "" {
		wanted = slug(folder)
	}
	for n := 1; n <= maxFresh; n++ {
		root := filepath.Join(parent, wanted)
		if n > 1 {
			root = fmt.Sprintf("%s-%d", root, n)
		}
		err := os.Mkdir(root, 0o755)
		if err == nil || errors.Is(err, fs.ErrExist) && folder != "" && n == 1 && isEmpty(root) {
			return root, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", advise(wrap(op, err), remedy)
		}
	}
	return "", fail(sandbox.KindExists, op, "%s has %d workspaces of session %s", parent, maxFresh, session)
}

// isEmpty tells whether a path is a folder, and no link to one, with nothing in it.
func isEmpty(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// slug makes the name of a file from any text.
func slug(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, text)
	text = strings.Trim(text, "-.")
	if text == "" {
		return "workspace"
	}
	return text[:min(len(text), 80)]
}
