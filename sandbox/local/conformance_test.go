//go:build linux

package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/local"
	"temporal-sandbox-agent/sandbox/sandboxtest"
)

// newProvider makes a provider that keeps everything in a folder of the test.
func newProvider(t testing.TB, holder bool) *local.Provider {
	t.Helper()
	dir := t.TempDir()
	p := local.New(local.Config{
		WorkspacesDir: filepath.Join(dir, "workspaces"),
		StateDir:      filepath.Join(dir, "state"),
		Holder:        holder,
	})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p
}

func TestConformance(t *testing.T) {
	sandboxtest.Run(t, sandboxtest.Factory{New: func(t *testing.T) sandbox.Provider { return newProvider(t, true) }})
}

// The journal of all other backends: nothing but Exec and a POSIX shell.
func TestConformanceOverExec(t *testing.T) {
	sandboxtest.Run(t, sandboxtest.Factory{New: func(t *testing.T) sandbox.Provider { return newProvider(t, false) }})
}

// shell finds a shell that a developer's machine may lack.
func shell(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("TSA_REQUIRE_ALL") != "" {
		t.Fatalf("%s is not installed: run build/setup.sh test", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// The shell wrapper is for any POSIX shell and small tools: here those of
// Alpine, and bash where it is sh, as on Fedora and Arch.
func TestConformanceOverOtherShells(t *testing.T) {
	t.Run("busybox", func(t *testing.T) {
		busybox := shell(t, "busybox")
		list, err := exec.Command(busybox, "--list").Output()
		if err != nil {
			t.Fatal(err)
		}
		overShell(t, busybox, strings.Fields(string(list)), false)
	})
	t.Run("bash", func(t *testing.T) {
		bash := shell(t, "bash")
		overShell(t, bash, []string{"sh"}, true)
	})
}

// overShell runs the journal's part with program under these names first in, or
// for all of, PATH.
func overShell(t *testing.T, program string, names []string, others bool) {
	bin := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	path := bin
	if others {
		path += ":" + os.Getenv("PATH")
	}
	_, err := os.Stat(filepath.Join(bin, "script"))
	sandboxtest.RunJournal(t, sandboxtest.Factory{
		NoTerminal: err != nil && !others,
		New: func(t *testing.T) sandbox.Provider {
			dir := t.TempDir()
			return local.New(local.Config{
				WorkspacesDir: dir + "/workspaces", StateDir: dir + "/state",
				Environ: func() []string { return append(os.Environ(), "PATH="+path) },
			})
		},
	})
}
