//go:build linux

package local_test

import (
	"path/filepath"
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
