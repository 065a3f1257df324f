package tool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == journal.HolderArg {
		os.Exit(journal.HolderMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// place is a real local sandbox with its journal.
type place struct {
	t        *testing.T
	dir      string
	provider *local.Provider
	sandbox  sandbox.Sandbox
	journal  *journal.Journal
	// files, if set, stands before the sandbox's own.
	files sandbox.FS
	calls int
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(base, "home")
	p := &place{t: t, dir: filepath.Join(base, "work")}
	for _, dir := range []string{home, p.dir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.provider = local.New(local.Config{
		WorkspacesDir: filepath.Join(base, "workspaces"), StateDir: filepath.Join(base, "state"), Home: home, Holder: true,
		Environ: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8"} },
	})
	p.sandbox, err = p.provider.Create(t.Context(), sandbox.Spec{Session: "test", Root: p.dir})
	if err != nil {
		t.Fatal(err)
	}
	p.journal = journal.Open(p.sandbox)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := p.journal.KillAll(ctx, ""); err != nil {
			t.Errorf("end commands: %v", err)
		}
		if err := p.provider.Close(); err != nil {
			t.Errorf("close the provider: %v", err)
		}
	})
	return p
}

// reopen is what is left of a place after the app was closed and opened again.
func (p *place) reopen() {
	p.t.Helper()
	sb, err := p.provider.Attach(p.t.Context(), p.sandbox.Ref())
	if err != nil {
		p.t.Fatal(err)
	}
	p.sandbox, p.journal = sb, journal.Open(sb)
}

type filed struct {
	sandbox.Sandbox
	files sandbox.FS
}

func (f filed) Files() sandbox.FS { return f.files }

func (p *place) env() Env { return Env{Backend: "local", Root: p.sandbox.Root()} }

// call makes a call with a fresh id.
func (p *place) call(args any) Call {
	p.t.Helper()
	p.calls++
	sb := p.sandbox
	if p.files != nil {
		sb = filed{sb, p.files}
	}
	return Call{ID: fmt.Sprintf("test.1-%06d", p.calls), Args: p.raw(args), Env: p.env(), Sandbox: sb, Journal: p.journal}
}

func (p *place) raw(args any) json.RawMessage {
	p.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	return raw
}

func (p *place) run(tool Tool, call Call) Outcome {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute)
	defer cancel()
	out, err := tool.Run(ctx, call)
	if err != nil {
		p.t.Fatalf("%s %s: %v", tool.Name(), call.Args, err)
	}
	return out
}

func (p *place) write(name, content string) {
	p.t.Helper()
	full := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// clear removes everything from the workspace.
func (p *place) clear() {
	p.t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(p.dir, e.Name())); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return "(" + err.Error()[strings.LastIndex(err.Error(), ": ")+2:] + ")"
	}
	return string(b)
}

// tree lists all files below the workspace with their content.
func (p *place) tree() string {
	p.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(p.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || name == p.dir {
			return err
		}
		rel, _ := filepath.Rel(p.dir, name)
		switch {
		case d.IsDir():
			fmt.Fprintf(&b, "%s/\n", rel)
		case d.Type()&os.ModeSymlink != 0:
			target, _ := os.Readlink(name)
			fmt.Fprintf(&b, "%s -> %s\n", rel, target)
		default:
			content, _ := os.ReadFile(name)
			if len(content) > 1<<16 {
				fmt.Fprintf(&b, "%s=%x\n", rel, sha256.Sum256(content))
				return nil
			}
			fmt.Fprintf(&b, "%s=%q\n", rel, content)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

// recorder keeps live output.
type recorder struct {
	mu   sync.Mutex
	data []byte
	bad  string
}

func (r *recorder) live(offset int64, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if offset != int64(len(r.data)) && r.bad == "" {
		r.bad = fmt.Sprintf("offset %d after %d bytes", offset, len(r.data))
	}
	r.data = append(r.data, data...)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.data)
}

type m map[string]any
