//go:build unix

package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/oserr"
	"temporal-sandbox-agent/sandbox/internal/proctree"
)

// NativeConfig says where a native host works.
type NativeConfig struct {
	Backend string
	// StateDir holds the executions. It is made, for the user alone.
	StateDir string
	// WorkDir resolves the folder of a command, which must be there.
	WorkDir func(dir string) (string, error)
	// Environ returns the whole environment of a command, with extra in it.
	Environ func(extra map[string]string, tty bool) []string
	// Holder runs the commands.
	Holder *Holder
	// OutputCap is how many bytes of output are kept; 0 is DefaultOutputCap.
	OutputCap int64
}

// native is a Host on this machine. It looks at files and processes itself;
// the holder starts the commands, and is their parent when the app is gone.
type native struct {
	cfg NativeConfig
}

// NewNative returns a host on this machine.
func NewNative(cfg NativeConfig) Host {
	if cfg.OutputCap <= 0 {
		cfg.OutputCap = DefaultOutputCap
	}
	return &native{cfg: cfg}
}

// all is the folder of all executions, dir of one, file one of its files.
func (n *native) all() string                 { return filepath.Join(n.cfg.StateDir, "exec") }
func (n *native) dir(id string) string        { return filepath.Join(n.all(), id) }
func (n *native) file(id, name string) string { return filepath.Join(n.all(), id, name) }

func (n *native) Launch(ctx context.Context, l Launch) (bool, error) {
	if c, ok := n.claimOf(l.ID); ok && c.nonce != "" {
		return false, nil
	}
	work, err := n.cfg.WorkDir(l.Dir)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(n.all(), 0o700); err != nil {
		return false, n.fail("make the journal's folder", err)
	}
	shell, err := findShell()
	if err != nil {
		return false, n.fail("find a shell", err)
	}
	env := append(n.cfg.Environ(l.Env, l.TTY), "PWD="+work, proctree.Mark(proctree.CallVariable, l.ID))
	req := request{
		ID: l.ID, Nonce: rand.Text(), Folder: n.dir(l.ID),
		Shell: shell, Command: l.Shell, Dir: work, Env: env,
		TTY: l.TTY, Rows: l.Rows, Cols: l.Cols, Timeout: l.Timeout, OutputCap: n.cfg.OutputCap,
	}
	// A holder that dies with the request may have claimed before; a new one
	// finds out, as it would find any claim.
	for try := 0; ; try++ {
		rep, err := n.cfg.Holder.launch(ctx, req)
		switch {
		case err == nil && rep.Error == "":
			return rep.Fresh, nil
		case err == nil:
			return false, &sandbox.Error{
				Kind: rep.Kind, Backend: n.cfg.Backend, Op: "start command",
				Remedy: oserr.Remedy(rep.Kind), Err: errors.New(rep.Error),
			}
		case ctx.Err() != nil:
			return false, ctx.Err()
		}
		if c, ok := n.claimOf(l.ID); ok {
			return c.nonce == req.Nonce, nil
		}
		if try > 0 || !errors.Is(err, errHolderLost) {
			return false, &sandbox.Error{Kind: sandbox.KindUnavailable, Backend: n.cfg.Backend, Op: "start command", Err: err}
		}
	}
}

// findShell returns the shell that runs command lines: bash, which models
// write for, or else sh.
func findShell() (string, error) {
	if path, err := exec.LookPath("bash"); err == nil {
		return path, nil
	}
	return exec.LookPath("sh")
}

func (n *native) fail(op string, err error) error {
	kind := oserr.Kind(err)
	return &sandbox.Error{Kind: kind, Backend: n.cfg.Backend, Op: op, Remedy: oserr.Remedy(kind), Err: err}
}
