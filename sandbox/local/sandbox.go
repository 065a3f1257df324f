//go:build unix

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// Sandbox is a folder of this machine. It can watch its files
// (sandbox.Watcher) and brings its own journal host (journal.Hosted).
type Sandbox struct {
	provider *Provider
	ref      sandbox.Ref
	data     data
	files    *files
	host     journal.Host
}

var (
	_ sandbox.Provider = (*Provider)(nil)
	_ sandbox.Watcher  = (*Sandbox)(nil)
	_ journal.Hosted   = (*Sandbox)(nil)
)

func newSandbox(p *Provider, ref sandbox.Ref, d data) *Sandbox {
	s := &Sandbox{provider: p, ref: ref, data: d, files: &files{path: ref.Root}}
	if p.holder == nil {
		s.host = journal.NewExecHost(s, journal.ExecConfig{StateDir: p.cfg.StateDir, OutputCap: p.cfg.OutputCap})
	} else {
		s.host = journal.NewNative(journal.NativeConfig{
			Backend: name, StateDir: p.cfg.StateDir, OutputCap: p.cfg.OutputCap,
			WorkDir: s.workDir, Environ: s.environ, Holder: p.holder,
		})
	}
	return s
}

// Ref implements sandbox.Sandbox.
func (s *Sandbox) Ref() sandbox.Ref { return s.ref }

// Root implements sandbox.Sandbox. It is the real path, without links.
func (s *Sandbox) Root() string { return s.ref.Root }

// Files implements sandbox.Sandbox.
func (s *Sandbox) Files() sandbox.FS { return s.files }

// Journal is the journal that all local sandboxes share. Commands are started
// through their own sandbox's.
func (p *Provider) Journal() *journal.Journal {
	return journal.Open(newSandbox(p, sandbox.Ref{Backend: name}, data{}))
}

// JournalHost implements journal.Hosted. All local sandboxes share one journal.
func (s *Sandbox) JournalHost() journal.Host { return s.host }

// Close implements sandbox.Sandbox.
func (s *Sandbox) Close(context.Context) error { return wrap("close sandbox", s.files.close()) }

// workDir resolves the folder of a command, which must be there. It may be
// outside the workspace, as a command may go there anyway.
func (s *Sandbox) workDir(dir string) (string, error) {
	const op = "start command"
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.ref.Root, dir)
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return "", fail(sandbox.KindInvalid, op, "%s is not a folder", dir)
	}
	if err == nil {
		return dir, nil
	}
	if _, rootErr := os.Stat(s.ref.Root); errors.Is(rootErr, fs.ErrNotExist) {
		return "", gone(op, s.ref.Root)
	}
	return "", wrap(op, err)
}

// gone is the error of a workspace that is not there any more.
func gone(op, root string) error {
	return advise(fail(sandbox.KindGone, op, "the workspace %s is gone", root), "Put the folder back, or go on in another one.")
}
