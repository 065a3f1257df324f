//go:build linux

package docker_test

import (
	"testing"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/docker"
	"temporal-sandbox-agent/sandbox/docker/dockertest"
	"temporal-sandbox-agent/sandbox/sandboxtest"
)

// newProvider makes a provider for the engine at a host.
func newProvider(t testing.TB, host string, change func(*docker.Config)) *docker.Provider {
	t.Helper()
	cfg := docker.Config{
		Owner: "test-" + t.Name(),
		Home:  t.TempDir(),
		Getenv: func(name string) string {
			return map[string]string{"DOCKER_HOST": host}[name]
		},
	}
	if change != nil {
		change(&cfg)
	}
	p := docker.New(cfg)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p
}

// Nothing but busybox, as in Alpine.
func TestConformanceWithBusybox(t *testing.T) {
	host := dockertest.Host(t)
	sandboxtest.Run(t, sandboxtest.Factory{
		New:        func(t *testing.T) sandbox.Provider { return newProvider(t, host, nil) },
		Spec:       sandbox.Spec{Image: dockertest.Busybox(t, host)},
		NoTerminal: true, // it has no script
		Slow:       true,
	})
}

// The tools of Debian, where what is asked of an image's tools is most: the
// scripts of single files are tried with them on this machine (internal/shtree).
func TestConformanceWithGNU(t *testing.T) {
	host := dockertest.Host(t)
	f := sandboxtest.Factory{
		New:  func(t *testing.T) sandbox.Provider { return newProvider(t, host, nil) },
		Spec: sandbox.Spec{Image: dockertest.GNU(t, host, "")},
	}
	sandboxtest.RunBulk(t, f)
	sandboxtest.RunJournal(t, f)
}

// Commands that don't run as root.
func TestConformanceWithAnotherUser(t *testing.T) {
	host := dockertest.Host(t)
	sandboxtest.RunBulk(t, sandboxtest.Factory{
		New:  func(t *testing.T) sandbox.Provider { return newProvider(t, host, nil) },
		Spec: sandbox.Spec{Image: dockertest.GNU(t, host, "1000:1000")},
	})
}
