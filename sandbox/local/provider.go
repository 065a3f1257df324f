//go:build unix

package local

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/proctree"
	"temporal-sandbox-agent/sandbox/journal"
)

// Provider makes local sandboxes.
type Provider struct {
	cfg    Config
	holder *journal.Holder // nil without Config.Holder
}

// New returns a provider. Close it in the end.
func New(cfg Config) *Provider {
	p := &Provider{cfg: cfg}
	if cfg.Holder {
		p.holder = journal.NewHolder(journal.HolderConfig{
			Program: cfg.HolderProgram, Environ: cfg.userEnv(), StateDir: cfg.StateDir,
		})
	}
	return p
}

// Warm has the process ready that runs commands. It is started by the first
// command otherwise, which then has to wait for it.
func (p *Provider) Warm(ctx context.Context) error {
	if p.holder == nil {
		return nil
	}
	if err := p.holder.Warm(ctx); err != nil && ctx.Err() == nil {
		return &sandbox.Error{Kind: sandbox.KindUnavailable, Backend: name, Op: "get ready to run commands", Err: err}
	}
	return ctx.Err()
}

// Close lets go of the process that runs commands. Those that run go on.
func (p *Provider) Close() error {
	if p.holder == nil {
		return nil
	}
	if err := p.holder.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return wrap("close", err)
	}
	return nil
}

// Name implements sandbox.Provider.
func (p *Provider) Name() string { return name }

// Probe implements sandbox.Provider.
func (p *Provider) Probe(context.Context) sandbox.Availability {
	no := func(reason, remedy string) sandbox.Availability {
		return sandbox.Availability{Reason: reason, Remedy: remedy}
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		shell, err = exec.LookPath("sh")
	}
	if err != nil {
		return no("There is no shell on this machine.", "Install bash, or make sure that PATH names the folder that holds it.")
	}
	for _, dir := range []string{p.cfg.StateDir, p.cfg.WorkspacesDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return no(fmt.Sprintf("The app's folder %s can't be made: %v.", dir, err), "Make its parent folder writable, or start the app with another data folder.")
		}
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return no(fmt.Sprintf("The app's folder %s can't be written: %v.", dir, err), "Make it writable, or start the app with another data folder.")
		}
	}
	return sandbox.Availability{OK: true, Version: runtime.GOOS + ", " + shell}
}

// data is what a Ref of ours carries.
type data struct {
	Env map[string]string `json:"env,omitempty"`
}

// Create implements sandbox.Provider. Image is not used.
func (p *Provider) Create(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	const op = "create sandbox"
	session := slug(spec.Session)
	root, own := spec.Root, false
	var err error
	if root == "" {
		root, err = p.freshRoot(session, spec.Folder)
		own = true
	} else {
		root, err = p.pickedRoot(root)
	}
	if err != nil {
		return nil, err
	}
	d := data{Env: spec.Env}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, wrap(op, err)
	}
	// The same session may have two sandboxes while it moves from one to the other.
	var unique [6]byte
	rand.Read(unique[:])
	ref := sandbox.Ref{Backend: name, ID: session + "-" + hex.EncodeToString(unique[:]), Root: root, OwnRoot: own, Data: raw}
	return newSandbox(p, ref, d), nil
}

// Attach implements sandbox.Provider.
func (p *Provider) Attach(_ context.Context, ref sandbox.Ref) (sandbox.Sandbox, error) {
	const op = "attach to sandbox"
	if ref.Backend != name {
		return nil, fail(sandbox.KindInvalid, op, "it is one of %q", ref.Backend)
	}
	root, err := p.checkRoot(op, ref.Root)
	if sandbox.KindOf(err) == sandbox.KindNotFound {
		return nil, advise(fail(sandbox.KindGone, op, "the workspace %s is gone", ref.Root), "Put the folder back, or go on in another one.")
	}
	if err != nil {
		return nil, err
	}
	var d data
	if len(ref.Data) > 0 {
		if err := json.Unmarshal(ref.Data, &d); err != nil {
			return nil, fail(sandbox.KindInvalid, op, "read its settings: %w", err)
		}
	}
	ref.Root = root
	return newSandbox(p, ref, d), nil
}

// destroyTime bounds how long Destroy waits for processes to die.
const destroyTime = 10 * time.Second

// Destroy implements sandbox.Provider.
func (p *Provider) Destroy(ctx context.Context, ref sandbox.Ref) error {
	const op = "destroy sandbox"
	if ref.Backend != name || ref.ID == "" {
		return fail(sandbox.KindInvalid, op, "%q of %q is not a local sandbox", ref.ID, ref.Backend)
	}
	ctx, cancel := context.WithTimeout(ctx, destroyTime)
	defer cancel()
	if err := proctree.Kill(ctx, proctree.Target{Marker: proctree.Mark(proctree.SandboxVariable, ref.ID)}); err != nil {
		return wrap(op, err)
	}
	if !ref.OwnRoot {
		return nil
	}
	if !p.madeHere(ref.Root) {
		return fail(sandbox.KindInvalid, op, "%s is not a workspace that the app made: it is not removed", ref.Root)
	}
	return wrap(op, removeTree(ref.Root))
}

// madeHere tells whether root can be a workspace of freshRoot.
func (p *Provider) madeHere(root string) bool {
	parent, err := filepath.EvalSymlinks(p.cfg.WorkspacesDir)
	if errors.Is(err, fs.ErrNotExist) {
		return true // nothing to remove, then
	}
	return err == nil && filepath.IsAbs(root) && filepath.Dir(filepath.Clean(root)) == parent
}

// removeTree removes a tree, also the folders in it that were made unwritable,
// as package managers do.
func removeTree(root string) error {
	err := os.RemoveAll(root)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walkErr := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	return errors.Join(os.RemoveAll(root), walkErr)
}
