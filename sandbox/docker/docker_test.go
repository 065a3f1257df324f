//go:build linux

package docker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/docker"
	"temporal-sandbox-agent/sandbox/docker/dockertest"
	"temporal-sandbox-agent/sandbox/journal"
)

// engineOf is a client of the engine, to look behind the provider's back.
func engineOf(t *testing.T, host string) *client.Client {
	t.Helper()
	engine, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}

func create(t *testing.T, p *docker.Provider, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	sb, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := p.Destroy(ctx, sb.Ref()); err != nil {
			t.Errorf("Destroy: %v", err)
		}
	})
	return sb
}

func shell(t *testing.T, sb sandbox.Sandbox, command string) string {
	t.Helper()
	var out bytes.Buffer
	r, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", command}, Stdout: &out, Stderr: &out})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%s: %+v, %v\n%s", command, r, err, out.String())
	}
	return out.String()
}

func wantKind(t *testing.T, what string, err error, want sandbox.Kind) {
	t.Helper()
	if got := sandbox.KindOf(err); got != want {
		t.Errorf("%s: error %v of kind %q, want kind %q", what, err, got, want)
	}
}

func TestContainerIsConfined(t *testing.T) {
	host := dockertest.Host(t)
	t.Setenv("OPENAI_API_KEY", "canary")
	p := newProvider(t, host, func(c *docker.Config) {
		c.Memory, c.CPUs, c.PIDs, c.Network = 200<<20, 0.5, 100, "none"
	})
	sb := create(t, p, sandbox.Spec{Session: "confined", Image: dockertest.GNU(t, host, ""), Env: map[string]string{"MINE": "1"}})
	got, err := engineOf(t, host).ContainerInspect(t.Context(), sb.Ref().ID)
	if err != nil {
		t.Fatal(err)
	}
	h := got.HostConfig
	if h.Memory != 200<<20 || h.MemorySwap != 200<<20 || h.NanoCPUs != 5e8 || h.PidsLimit == nil || *h.PidsLimit != 100 {
		t.Errorf("memory %d, with swap %d, processors %d, processes %v", h.Memory, h.MemorySwap, h.NanoCPUs, h.PidsLimit)
	}
	if h.Privileged || !slices.Equal(h.CapDrop, []string{"ALL"}) || len(h.CapAdd) > 7 || !slices.Contains(h.SecurityOpt, "no-new-privileges") {
		t.Errorf("privileged %v, without %v, with %v, %v", h.Privileged, h.CapDrop, h.CapAdd, h.SecurityOpt)
	}
	if len(got.Mounts) > 0 || len(h.Binds) > 0 || len(h.Devices) > 0 || len(h.PortBindings) > 0 {
		t.Errorf("mounts %v, binds %v, devices %v, ports %v", got.Mounts, h.Binds, h.Devices, h.PortBindings)
	}
	if h.Init == nil || !*h.Init || !h.RestartPolicy.IsNone() || h.NetworkMode != "none" {
		t.Errorf("init %v, restarts %v, network %v", h.Init, h.RestartPolicy, h.NetworkMode)
	}
	if env := strings.Join(got.Config.Env, " "); strings.Contains(env, "canary") || !strings.Contains(env, "MINE=1") {
		t.Errorf("the environment is %s", env)
	}
	if l := got.Config.Labels; l["temporal-sandbox-agent.session"] != "confined" || l["temporal-sandbox-agent.owner"] != "test-"+t.Name() {
		t.Errorf("labels %v", l)
	}
	// And what the kernel says: CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, FSETID 4, KILL 5,
	// SETGID 6, SETUID 7.
	if out := shell(t, sb, "grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status"); out != "CapEff:\t00000000000000fb\nCapBnd:\t00000000000000fb\nNoNewPrivs:\t1\n" {
		t.Errorf("the kernel says %q", out)
	}
	// What package managers do works: owners, closed folders, other users.
	shell(t, sb, "mkdir closed; touch closed/x; chown -R 1000:1000 closed; chmod 0 closed; touch closed/y; chown 5:5 closed/y; rm -r closed")
	// A device can't be made.
	if out := shell(t, sb, "command -v mknod >/dev/null && mknod d b 8 0 && echo made; :"); strings.Contains(out, "made") {
		t.Errorf("a device was made: %s", out)
	}
}

func TestDefaultLimits(t *testing.T) {
	host := dockertest.Host(t)
	p := newProvider(t, host, nil)
	sb := create(t, p, sandbox.Spec{Session: "limits", Image: dockertest.Busybox(t, host)})
	got, err := engineOf(t, host).ContainerInspect(t.Context(), sb.Ref().ID)
	if err != nil {
		t.Fatal(err)
	}
	h := got.HostConfig
	if h.Memory < 64<<20 || h.Memory > 4<<30 || h.NanoCPUs < 1e9 || h.NanoCPUs > 4e9 || h.PidsLimit == nil || *h.PidsLimit != docker.DefaultPIDs {
		t.Errorf("memory %d, processors %d, processes %v", h.Memory, h.NanoCPUs, h.PidsLimit)
	}
}

// An image may say how it is to be run; that is not what a sandbox is for.
func TestImageSettingsDoNotMatter(t *testing.T) {
	host := dockertest.Host(t)
	p, engine := newProvider(t, host, nil), engineOf(t, host)
	base := create(t, p, sandbox.Spec{Session: "base", Image: dockertest.GNU(t, host, "")})
	shell(t, base, "mkdir /data; rm /bin/tar")
	commit := func(name string, changes ...string) string {
		t.Helper()
		if _, err := engine.ContainerCommit(t.Context(), base.Ref().ID, container.CommitOptions{Reference: name, Changes: changes}); err != nil {
			t.Fatal(err)
		}
		return name
	}
	lacking := commit("temporal-sandbox-agent-test/lacking")
	_, err := p.Create(t.Context(), sandbox.Spec{Session: "lacking", Image: lacking})
	wantKind(t, "an image without tar", err, sandbox.KindUnavailable)
	if err == nil || !strings.Contains(err.Error(), "lacks tar") {
		t.Errorf("it says %v", err)
	}

	shell(t, base, "cp /bin/cat /bin/tar") // to be found
	odd := commit("temporal-sandbox-agent-test/odd", `ENTRYPOINT ["/bin/false"]`, `CMD ["--serve"]`, `HEALTHCHECK CMD false`, "VOLUME /data", "ENV FROM_IMAGE=yes", "WORKDIR /data")
	sb := create(t, p, sandbox.Spec{Session: "odd", Image: odd})
	if got := shell(t, sb, `pwd; echo "$FROM_IMAGE"; echo kept >/data/file`); got != "/workspace\nyes\n" {
		t.Errorf("got %q", got)
	}
	found, err := engine.ContainerInspect(t.Context(), sb.Ref().ID)
	if err != nil || len(found.Mounts) != 1 {
		t.Fatalf("mounts %v, %v", found.Mounts, err)
	}
	volume := found.Mounts[0].Name
	began := time.Now()
	if err := p.Destroy(t.Context(), sb.Ref()); err != nil {
		t.Fatal(err)
	}
	t.Logf("destroyed in %v", time.Since(began))
	if _, err := engine.VolumeInspect(t.Context(), volume); err == nil {
		t.Error("the container's own volume is left")
	}
	// Nothing is left of the container that could not be made ready.
	list, err := engine.ContainerList(t.Context(), container.ListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if c.Labels["temporal-sandbox-agent.session"] == "lacking" {
			t.Error("the container that lacks tar is left")
		}
	}
}

func TestMissingImage(t *testing.T) {
	host := dockertest.Host(t)
	here := dockertest.Busybox(t, host)
	var mu sync.Mutex
	var told []docker.Progress
	p := newProvider(t, host, func(c *docker.Config) {
		c.Progress = func(progress docker.Progress) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, progress)
		}
	})
	// A registry that nobody can reach.
	_, err := p.Create(t.Context(), sandbox.Spec{Session: "missing", Image: "localhost:1/no/such:image"})
	var e *sandbox.Error
	if !errors.As(err, &e) || (e.Kind != sandbox.KindUnavailable && e.Kind != sandbox.KindNotFound) {
		t.Fatalf("Create: %v", err)
	}
	if !strings.Contains(e.Error(), "localhost:1/no/such:image") || !strings.Contains(e.Remedy, "name an image that is here") || !strings.Contains(e.Remedy, here) {
		t.Errorf("it says %q, %q", e.Error(), e.Remedy)
	}
	if len(told) == 0 || told[0].Session != "missing" || !strings.Contains(told[0].Text, "no/such:image") || told[0].Ended || !told[len(told)-1].Ended {
		t.Errorf("told was %v", told)
	}
	_, err = p.Create(t.Context(), sandbox.Spec{Session: "bad", Image: "NOT a name"})
	if kind := sandbox.KindOf(err); kind != sandbox.KindInvalid && kind != sandbox.KindNotFound {
		t.Errorf("a name that is none: %q, %v", kind, err)
	}
}

func TestRemovedBehindTheBack(t *testing.T) {
	host := dockertest.Host(t)
	p, engine := newProvider(t, host, nil), engineOf(t, host)
	sb := create(t, p, sandbox.Spec{Session: "removed", Image: dockertest.Busybox(t, host)})
	ended := make(chan error, 1)
	out := &signalling{first: make(chan struct{})}
	go func() {
		_, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo ready; sleep 1000"}, Stdout: out})
		ended <- err
	}()
	<-out.first
	if err := engine.ContainerRemove(t.Context(), sb.Ref().ID, container.RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	err := <-ended
	if kind := sandbox.KindOf(err); kind != sandbox.KindGone && kind != sandbox.KindUnavailable {
		t.Errorf("a command that ran: %v of kind %q", err, kind)
	}
	_, err = sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"true"}})
	wantKind(t, "Exec", err, sandbox.KindGone)
	_, err = sb.Files().ReadDir(t.Context(), "")
	wantKind(t, "ReadDir", err, sandbox.KindGone)
	_, err = sb.(sandbox.Bulk).List(t.Context(), nil, func(sandbox.Entry) error { return nil })
	wantKind(t, "List", err, sandbox.KindGone)
	_, err = p.Attach(t.Context(), sb.Ref())
	wantKind(t, "Attach", err, sandbox.KindGone)
	if err := p.Destroy(t.Context(), sb.Ref()); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	// One that is not ours is left alone.
	made, err := engine.ContainerCreate(t.Context(), &container.Config{Image: dockertest.Busybox(t, host), Cmd: []string{"true"}}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.ContainerRemove(context.WithoutCancel(t.Context()), made.ID, container.RemoveOptions{Force: true})
	other := sandbox.Ref{Backend: docker.Name, ID: made.ID, Root: docker.Root}
	wantKind(t, "Destroy of another's container", p.Destroy(t.Context(), other), sandbox.KindInvalid)
	_, err = p.Attach(t.Context(), other)
	wantKind(t, "Attach to another's container", err, sandbox.KindInvalid)
}

// signalling tells when something is written.
type signalling struct {
	once  sync.Once
	first chan struct{}
}

func (s *signalling) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.first) })
	return len(p), nil
}

// A container that the user stopped or paused is there when it is needed.
func TestStoppedContainerIsStarted(t *testing.T) {
	host := dockertest.Host(t)
	p, engine := newProvider(t, host, nil), engineOf(t, host)
	sb := create(t, p, sandbox.Spec{Session: "stopped", Image: dockertest.Busybox(t, host)})
	shell(t, sb, "echo kept >file")
	began := time.Now()
	if err := engine.ContainerStop(t.Context(), sb.Ref().ID, container.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("stopped in %v", time.Since(began))
	if got := shell(t, sb, "cat file"); got != "kept\n" {
		t.Errorf("after the stop the file holds %q", got)
	}
	if err := engine.ContainerPause(t.Context(), sb.Ref().ID); err != nil {
		t.Fatal(err)
	}
	again, err := p.Attach(t.Context(), sb.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if got := shell(t, again, "cat file"); got != "kept\n" {
		t.Errorf("after the pause the file holds %q", got)
	}
	// While a command runs.
	out := &signalling{first: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		_, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo ready; sleep 1000"}, Stdout: out})
		ended <- err
	}()
	<-out.first
	if err := engine.ContainerStop(t.Context(), sb.Ref().ID, container.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "a command whose container is stopped", <-ended, sandbox.KindUnavailable)
}

func TestSweep(t *testing.T) {
	host := dockertest.Host(t)
	image := dockertest.Busybox(t, host)
	mine := newProvider(t, host, func(c *docker.Config) { c.Owner = "sweep-mine" })
	others := newProvider(t, host, func(c *docker.Config) { c.Owner = "sweep-others" })
	kept, lost := create(t, mine, sandbox.Spec{Session: "kept", Image: image}), create(t, mine, sandbox.Spec{Session: "lost", Image: image})
	moved := create(t, mine, sandbox.Spec{Session: "kept", Image: image}) // of a move that was cut off
	other := create(t, others, sandbox.Spec{Session: "lost", Image: image})
	keep := func(session, id string) bool { return session == "kept" && id == kept.Ref().ID }
	if n, err := mine.Sweep(t.Context(), time.Hour, keep); n != 0 || err != nil {
		t.Errorf("of what is young, %d were removed, %v", n, err)
	}
	if n, err := mine.Sweep(t.Context(), 0, keep); n != 2 || err != nil {
		t.Errorf("%d were removed, %v", n, err)
	}
	for _, sb := range []sandbox.Sandbox{kept, other} {
		if _, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"true"}}); err != nil {
			t.Errorf("one that is needed: %v", err)
		}
	}
	for _, sb := range []sandbox.Sandbox{lost, moved} {
		_, err := mine.Attach(t.Context(), sb.Ref())
		wantKind(t, "one that nobody needs", err, sandbox.KindGone)
	}
	_, err := newProvider(t, host, func(c *docker.Config) { c.Owner = "" }).Sweep(t.Context(), 0, keep)
	wantKind(t, "Sweep of no owner", err, sandbox.KindInvalid)
}

// Commands go on while nobody is connected, and another process finds them.
func TestCommandsGoOn(t *testing.T) {
	host := dockertest.Host(t)
	first := newProvider(t, host, nil)
	sb := create(t, first, sandbox.Spec{Session: "goon", Image: dockertest.Busybox(t, host)})
	_, err := journal.Open(sb).Start(t.Context(), journal.Spec{CallID: "goon.1", Shell: "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over; exit 4"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sb.Close(t.Context()), first.Close()); err != nil {
		t.Fatal(err)
	}
	second := newProvider(t, host, nil)
	again, err := second.Attach(t.Context(), sb.Ref())
	if err != nil {
		t.Fatal(err)
	}
	c, err := journal.Open(again).Find(t.Context(), "goon.1")
	if err != nil {
		t.Fatal(err)
	}
	if _, ended, err := c.Exit(t.Context()); ended || err != nil {
		t.Fatalf("it does not run: %v", err)
	}
	shell(t, again, "touch go")
	exit, err := c.Wait(t.Context())
	if err != nil || exit.State != journal.StateFinished || exit.Code != 4 {
		t.Errorf("%+v, %v", exit, err)
	}
	if out, _, err := c.ReadOutput(t.Context(), 0, 100); err != nil || string(out) != "begun\nover\n" {
		t.Errorf("output %q, %v", out, err)
	}
}

// A write that is canceled leaves the old file and nothing else.
func TestCanceledWrite(t *testing.T) {
	host := dockertest.Host(t)
	sb := create(t, newProvider(t, host, nil), sandbox.Spec{Session: "write", Image: dockertest.Busybox(t, host)})
	shell(t, sb, "echo old >file")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	source, feed := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- sb.Files().Write(ctx, "file", source, 0) }()
	if _, err := feed.Write(bytes.Repeat([]byte("new"), 100_000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Write: %v", err)
	}
	_ = feed.Close()
	if got := shell(t, sb, "cat file; ls -A"); got != "old\nfile\n" {
		t.Errorf("left is %q", got)
	}
}

// What is no text reaches commands all the same: the engine's language is JSON.
func TestBytesThatAreNoText(t *testing.T) {
	host := dockertest.Host(t)
	for name, image := range map[string]string{"busybox": dockertest.Busybox(t, host), "GNU": dockertest.GNU(t, host, "")} {
		t.Run(name, func(t *testing.T) {
			sb := create(t, newProvider(t, host, nil), sandbox.Spec{Session: "bytes", Image: image})
			every := make([]byte, 0, 256)
			for c := 1; c < 256; c++ {
				every = append(every, byte(c))
			}
			dir := "d\xff\\0101\n"
			if err := sb.Files().Mkdir(t.Context(), dir, 0); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			_, err := sb.Exec(t.Context(), sandbox.Cmd{
				Args: []string{"sh", "-c", `printf '%s|' "$@" "$ODD" "$PWD"`, "sh", string(every), "", "\xe4\n\n", `\n\0101%s`},
				Env:  map[string]string{"ODD": string(every), "PLAIN": "a b"}, Dir: dir, Stdout: &out,
			})
			if want := string(every) + "||\xe4\n\n|" + `\n\0101%s|` + string(every) + "|/workspace/" + dir + "|"; err != nil || out.String() != want {
				t.Errorf("got %q, want %q, %v", out.String(), want, err)
			}
			if got := shell(t, sb, "for f in *; do printf %s \"$f\"; done"); got != dir {
				t.Errorf("the folder is %q, want %q", got, dir)
			}
		})
	}
}
