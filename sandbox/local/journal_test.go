//go:build linux

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

// bothJournals runs a test with the holder and with the shell wrapper.
func bothJournals(t *testing.T, test func(t *testing.T, holder bool)) {
	t.Run("native", func(t *testing.T) { test(t, true) })
	t.Run("over exec", func(t *testing.T) { test(t, false) })
}

func TestOutputIsCapped(t *testing.T) {
	bothJournals(t, func(t *testing.T, holder bool) {
		const most = 64 << 10
		dir := t.TempDir()
		p := local.New(local.Config{WorkspacesDir: dir + "/ws", StateDir: dir + "/state", Holder: holder, OutputCap: most})
		defer p.Close()
		sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		j := journal.Open(sb)
		for i, c := range []struct {
			command string
			size    int64
			cut     bool
		}{
			{"head -c 65536 /dev/zero", most, false},
			{"head -c 65537 /dev/zero", most, true},
			// Far more than any pipe holds: the command is not held up.
			{"echo begin; head -c 30000000 /dev/zero; echo end", most, true},
			{"(sleep 0.1; head -c 70000 /dev/zero) & sleep 0.4; wait", most, true},
		} {
			c1, err := j.Start(t.Context(), journal.Spec{CallID: fmt.Sprintf("cap%d", i), Shell: c.command})
			if err != nil {
				t.Fatal(err)
			}
			exit, err := c1.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, size, err := c1.ReadOutput(t.Context(), 0, 0)
			if err != nil || size != c.size || exit.Cut != c.cut || exit.Code != 0 {
				t.Errorf("%s: %d bytes, %+v, %v, want %d bytes, cut %v", c.command, size, exit, err, c.size, c.cut)
			}
		}
		if err := os.WriteFile(filepath.Join(sb.Root(), "big"), make([]byte, 4*most), 0o644); err != nil {
			t.Fatal(err)
		}
		// The limit is the output's, not that of the files the command makes.
		c2, err := j.Start(t.Context(), journal.Spec{CallID: "files", Shell: "cp big copy && wc -c <copy"})
		if err != nil {
			t.Fatal(err)
		}
		if exit, err := c2.Wait(t.Context()); err != nil || exit.Code != 0 || exit.Cut {
			t.Errorf("a large file: %+v, %v", exit, err)
		}
	})
}

// Stop must be at once: the whole tree is dead within 200 ms. The best of some
// tries counts, as the machine may be busy with other things.
func TestKillIsImmediate(t *testing.T) {
	sb := newSandbox(t, true)
	j := journal.Open(sb)
	best := time.Hour
	for i := range 8 {
		id := fmt.Sprintf("kill%d", i)
		c, err := j.Start(t.Context(), journal.Spec{CallID: id, Shell: `trap '' TERM; for i in 1 2 3; do setsid sh -c 'trap "" TERM; sleep 1000' & done; echo up; sleep 1000`})
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if _, size, err := c.ReadOutput(t.Context(), 0, 0); err != nil || size > 0 || time.Now().After(end) {
				break
			}
		}
		time.Sleep(50 * time.Millisecond)
		began := time.Now()
		if err := j.KillAll(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(began))
		if exit, err := c.Wait(t.Context()); err != nil || !exit.Killed {
			t.Fatalf("%+v, %v", exit, err)
		}
	}
	t.Logf("the best of 8 took %v", best)
	if best > 200*time.Millisecond {
		t.Errorf("killing takes %v", best)
	}
}

// A kill that comes while a command is being started ends it, or keeps it from
// running.
func TestKillWhileStarting(t *testing.T) {
	sb := newSandbox(t, true)
	j := journal.Open(sb)
	for i := range 40 {
		id := fmt.Sprintf("race%d.x", i)
		started := make(chan journal.Command, 1)
		go func() {
			c, err := j.Start(t.Context(), journal.Spec{CallID: id, Shell: "sleep 1000"})
			if err != nil {
				t.Errorf("Start: %v", err)
			}
			started <- c
		}()
		time.Sleep(time.Duration(i%20) * 500 * time.Microsecond)
		if err := j.KillAll(t.Context(), id); err != nil {
			t.Errorf("KillAll: %v", err)
		}
		c := <-started
		if c == nil {
			continue
		}
		// It may have come before anything was there to kill.
		if err := c.Kill(t.Context()); err != nil {
			t.Errorf("Kill: %v", err)
		}
		if exit, err := c.Wait(t.Context()); err != nil || !exit.Killed || exit.State != journal.StateFinished {
			t.Errorf("%d: %+v, %v", i, exit, err)
		}
	}
}

func TestNothingLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	p := newProvider(t, true)
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	j := journal.Open(sb)
	for i := range 20 {
		c, err := j.Start(t.Context(), journal.Spec{CallID: fmt.Sprintf("leak%d", i), Shell: "echo x; sleep 0.01", TTY: i%3 == 0})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Follow(t.Context(), 0, func(int64, []byte) {}); err != nil {
			t.Error(err)
		}
		if _, err := c.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"cat"}, Stdin: strings.NewReader("x"), Stdout: &strings.Builder{}}); err != nil {
			t.Error(err)
		}
	}
	fds := func() int {
		entries, _ := os.ReadDir("/proc/self/fd")
		return len(entries)
	}
	if err := sb.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := j.Start(t.Context(), journal.Spec{CallID: "after", Shell: "true"}); sandbox.KindOf(err) != sandbox.KindUnavailable {
		t.Errorf("Start after Close: %v", err)
	}
	for end := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			buffer := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, before there were %d\n%s", runtime.NumGoroutine(), before, buffer[:runtime.Stack(buffer, true)])
		}
	}
	t.Logf("%d files are open", fds())
}

// Who is the state folder's business but the user's?
func TestStateIsPrivate(t *testing.T) {
	bothJournals(t, func(t *testing.T, holder bool) {
		dir := t.TempDir()
		p := local.New(local.Config{WorkspacesDir: dir + "/ws", StateDir: dir + "/state", Holder: holder})
		defer p.Close()
		sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := journal.Open(sb).Start(t.Context(), journal.Spec{CallID: "private", Shell: "umask; echo x >made", TTY: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir + "/state/exec/private"); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the execution's folder: %v, %v", info, err)
		}
		// The command has the user's umask all the same.
		if info, err := os.Stat(sb.Root() + "/made"); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("what the command made: %v, %v", info, err)
		}
	})
}

// A program that can't be a holder must not start itself over and over.
func TestProgramThatIsNoHolder(t *testing.T) {
	dir := t.TempDir()
	h := journal.NewHolder(journal.HolderConfig{Program: "/bin/true", StateDir: dir})
	defer h.Close()
	host := journal.NewNative(journal.NativeConfig{
		Backend: "test", StateDir: dir, Holder: h,
		WorkDir: func(string) (string, error) { return dir, nil },
		Environ: func(map[string]string, bool) []string { return nil },
	})
	_, err := journal.New(host, "test").Start(t.Context(), journal.Spec{CallID: "x", Shell: "true"})
	if sandbox.KindOf(err) != sandbox.KindUnavailable {
		t.Errorf("Start: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "exec", "x", "pid")); !os.IsNotExist(err) {
		t.Errorf("it is claimed: %v", err)
	}
	t.Setenv("TSA_HOLDER", "1")
	h = journal.NewHolder(journal.HolderConfig{StateDir: dir})
	defer h.Close()
	host = journal.NewNative(journal.NativeConfig{
		Backend: "test", StateDir: dir, Holder: h,
		WorkDir: func(string) (string, error) { return dir, nil },
		Environ: func(map[string]string, bool) []string { return nil },
	})
	if _, err := journal.New(host, "test").Start(t.Context(), journal.Spec{CallID: "x", Shell: "true"}); sandbox.KindOf(err) != sandbox.KindUnavailable {
		t.Errorf("Start in a holder: %v", err)
	}
}

// A number in the journal that now is another process's does not make the
// command run.
func TestReusedNumberIsNotRunning(t *testing.T) {
	bothJournals(t, func(t *testing.T, holder bool) {
		dir := t.TempDir()
		p := local.New(local.Config{WorkspacesDir: dir + "/ws", StateDir: dir + "/state", Holder: holder})
		defer p.Close()
		sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		j := journal.Open(sb)
		// This process's own claim, as it would be written.
		c, err := j.Start(t.Context(), journal.Spec{CallID: "model", Shell: "cat /proc/sys/kernel/random/boot_id; cut -d' ' -f22 /proc/" + fmt.Sprint(os.Getpid()) + "/stat"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		data, _, err := c.ReadOutput(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var boot string
		var start int
		if _, err := fmt.Sscan(string(data), &boot, &start); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		for id, c := range map[string]struct {
			start int
			boot  string
			want  journal.State
		}{
			"same":    {start, boot, journal.StateRunning},
			"later":   {start + 1, boot, journal.StateBroken},
			"earlier": {start - 1, boot, journal.StateBroken},
			"reboot":  {start, "00000000-0000-0000-0000-000000000000", journal.StateBroken},
		} {
			at := filepath.Join(dir, "state", "exec", id)
			if err := os.MkdirAll(at, 0o700); err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("N %d %d %s 1.0 1800000000.0\n", os.Getpid(), c.start, c.boot)
			if err := os.WriteFile(filepath.Join(at, "pid"), []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			found, err := j.Find(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if exit, _, err := found.Exit(t.Context()); err != nil || exit.State != c.want {
				t.Errorf("%s: %+v, %v, want it %s", id, exit, err, c.want)
			}
		}
	})
}

func TestWarm(t *testing.T) {
	p := newProvider(t, true)
	if err := p.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Warm(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := newProvider(t, false).Warm(t.Context()); err != nil {
		t.Errorf("without a holder: %v", err)
	}
	dir := t.TempDir()
	bad := local.New(local.Config{WorkspacesDir: dir, StateDir: dir, Holder: true, HolderProgram: "/no/such/program"})
	if err := bad.Warm(t.Context()); sandbox.KindOf(err) != sandbox.KindUnavailable {
		t.Errorf("with a program that is not there: %v", err)
	}
}
