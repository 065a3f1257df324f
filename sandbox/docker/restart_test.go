//go:build linux

package docker_test

import (
	"io"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/docker/dockertest"
	"temporal-sandbox-agent/sandbox/journal"
)

// The engine stops in the middle, as with the machine, and comes back.
func TestEngineStopsAndStarts(t *testing.T) {
	engine := dockertest.Start(t)
	p := newProvider(t, engine.Host, nil)
	sb := create(t, p, sandbox.Spec{Session: "restart", Image: dockertest.Busybox(t, engine.Host)})
	j := journal.Open(sb)
	c, err := j.Start(t.Context(), journal.Spec{CallID: "restart.1", Shell: "echo begun; sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	shell(t, sb, "echo kept >file")
	out := &signalling{first: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		_, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo ready; sleep 1000"}, Stdout: out})
		ended <- err
	}()
	<-out.first
	engine.Stop(t)
	wantKind(t, "a command that ran", <-ended, sandbox.KindUnavailable)
	_, err = sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"true"}})
	wantKind(t, "Exec", err, sandbox.KindUnavailable)
	_, err = sb.Files().Stat(t.Context(), "file")
	wantKind(t, "Stat", err, sandbox.KindUnavailable)
	_, err = p.Attach(t.Context(), sb.Ref())
	wantKind(t, "Attach", err, sandbox.KindUnavailable)
	wantKind(t, "Destroy", p.Destroy(t.Context(), sb.Ref()), sandbox.KindUnavailable)
	if got := p.Probe(t.Context()); got.OK || got.Remedy == "" {
		t.Errorf("Probe: %+v", got)
	}

	engine.Restart(t)
	if got := shell(t, sb, "cat file"); got != "kept\n" {
		t.Errorf("the file holds %q", got)
	}
	exit, ended2, err := c.Exit(t.Context())
	if err != nil || !ended2 || exit.State != journal.StateBroken {
		t.Errorf("the command that ran: %+v, %v, %v", exit, ended2, err)
	}
	// From another process, after another restart.
	engine.Stop(t)
	engine.Restart(t)
	again, err := newProvider(t, engine.Host, nil).Attach(t.Context(), sb.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if got := shell(t, again, "cat file"); got != "kept\n" {
		t.Errorf("the file holds %q", got)
	}
}

// Listing a large workspace and reading what changed is what each turn waits for.
func TestLargeWorkspace(t *testing.T) {
	host := dockertest.Host(t)
	for name, image := range map[string]string{"busybox": dockertest.Busybox(t, host), "GNU": dockertest.GNU(t, host, "")} {
		t.Run(name, func(t *testing.T) {
			sb := create(t, newProvider(t, host, nil), sandbox.Spec{Session: "large", Image: image})
			shell(t, sb, `d=0; while [ $d -lt 100 ]; do mkdir dir$d; i=0; while [ $i -lt 99 ]; do echo $i >dir$d/file$i; i=$((i+1)); done; d=$((d+1)); done`)
			bulk := sb.(sandbox.Bulk)
			best := time.Hour
			for range 5 {
				began := time.Now()
				n := 0
				if _, err := bulk.List(t.Context(), nil, func(sandbox.Entry) error { n++; return nil }); err != nil || n != 10_000 {
					t.Fatalf("%d entries, %v", n, err)
				}
				listed := time.Since(began)
				var content []byte
				err := bulk.ReadFiles(t.Context(), []string{"dir7/file42"}, func(r sandbox.FileRead) error {
					if r.Err != nil {
						return r.Err
					}
					var err error
					content, err = io.ReadAll(r.Content)
					return err
				})
				if err != nil || string(content) != "42\n" {
					t.Fatalf("%q, %v", content, err)
				}
				t.Logf("listed in %v, read in %v", listed, time.Since(began)-listed)
				best = min(best, time.Since(began))
			}
			t.Logf("both in %v at best", best)
		})
	}
}
