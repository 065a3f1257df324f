//go:build linux

package shtree_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/internal/shtree"
	"temporal-sandbox-agent/sandbox/local"
	"temporal-sandbox-agent/sandbox/sandboxtest"
)

// over is a folder of this machine whose files are reached by its Exec alone.
type over struct {
	sandbox.Sandbox
	tree
}

// tree lets over have the methods of both.
type tree struct{ *shtree.Tree }

func (o over) Files() sandbox.FS { return o.tree.Tree.Files() }

// provider makes them.
type provider struct{ sandbox.Provider }

func wrap(sb sandbox.Sandbox, err error) (sandbox.Sandbox, error) {
	if err != nil {
		return nil, err
	}
	return over{Sandbox: sb, tree: tree{shtree.New(sb)}}, nil
}

func (p provider) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	return wrap(p.Provider.Create(ctx, spec))
}

func (p provider) Attach(ctx context.Context, ref sandbox.Ref) (sandbox.Sandbox, error) {
	return wrap(p.Provider.Attach(ctx, ref))
}

// with makes providers whose commands have the tools of a folder.
func with(path string) func(t *testing.T) sandbox.Provider {
	return func(t *testing.T) sandbox.Provider {
		dir := t.TempDir()
		return provider{local.New(local.Config{
			WorkspacesDir: dir + "/workspaces", StateDir: dir + "/state",
			Environ: func() []string { return append(os.Environ(), "PATH="+path) },
		})}
	}
}

func TestConformanceWithGNU(t *testing.T) {
	sandboxtest.RunFiles(t, sandboxtest.Factory{New: with(os.Getenv("PATH"))})
}

func TestConformanceWithBusybox(t *testing.T) {
	sandboxtest.RunFiles(t, sandboxtest.Factory{New: with(busybox(t))})
}

// busybox is a folder with all of busybox's tools and no others.
func busybox(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("busybox")
	if err != nil && os.Getenv("TSA_REQUIRE_ALL") != "" {
		t.Fatal("busybox is not installed: run build/setup.sh test")
	}
	if err != nil {
		t.Skip("busybox is not installed")
	}
	list, err := exec.Command(program, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range strings.Fields(string(list)) {
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}
