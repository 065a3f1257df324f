//go:build linux

package local_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

// alone says that a test runs in a process of its own, where it may mount.
const alone = "SANDBOX_TEST_ALONE"

// inOwnProcess runs the calling test again in another process, set up by attr,
// and returns true there. In the first process it returns false, when the
// other has passed.
func inOwnProcess(t *testing.T, attr *syscall.SysProcAttr) bool {
	t.Helper()
	if os.Getenv(alone) == t.Name() {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), alone+"="+t.Name())
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("this system gives no namespaces to make a small disk in: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
	return false
}

// namespaces are those in which a user may mount.
func namespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

func TestFullDisk(t *testing.T) {
	if !inOwnProcess(t, namespaces()) {
		return
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	for name, holder := range map[string]bool{"native": true, "over exec": false} {
		t.Run(name, func(t *testing.T) {
			base := filepath.Join(dir, name)
			p := local.New(local.Config{WorkspacesDir: base + "/ws", StateDir: base + "/state", Holder: holder})
			defer p.Close()
			sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s"})
			if err != nil {
				t.Fatal(err)
			}
			j := journal.Open(sb)
			run := func(id, command string) (journal.Exit, string) {
				t.Helper()
				c, err := j.Start(t.Context(), journal.Spec{CallID: id, Shell: command})
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				exit, err := c.Wait(t.Context())
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				out, _, err := c.ReadOutput(t.Context(), 0, 100)
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				return exit, string(out)
			}
			// A command fills the disk, and then goes on writing: it is not held
			// up, and how it ended is known.
			exit, out := run("fills", "echo begun; sleep 0.2; cat /dev/zero >fill 2>/dev/null; yes | head -c 1000000; exit 7")
			if exit.State != journal.StateFinished || exit.Code != 7 || !exit.Cut || !strings.HasPrefix(out, "begun\n") {
				t.Errorf("the command that fills the disk: %+v, %q", exit, out)
			}
			// What is then written as a file is refused; the old content stays.
			err = sb.Files().Write(t.Context(), "fill", strings.NewReader(strings.Repeat("x", 1<<20)), 0)
			if e := (*sandbox.Error)(nil); !errors.As(err, &e) || e.Kind != sandbox.KindNoSpace || e.Remedy == "" {
				t.Errorf("Write: %v", err)
			}
			if info, err := sb.Files().Stat(t.Context(), "fill"); err != nil || info.Size < 1<<19 {
				t.Errorf("after the failed Write: %+v, %v", info, err)
			}
			if list, err := sb.Files().ReadDir(t.Context(), ""); err != nil || len(list) != 1 {
				t.Errorf("the failed Write left %v, %v", list, err)
			}
			// A start that has no room fails, and runs nothing; with room it runs.
			_, err = j.Start(t.Context(), journal.Spec{CallID: "no-room", Shell: "echo ran >>/proc/self/fd/1"})
			if sandbox.KindOf(err) != sandbox.KindNoSpace {
				t.Errorf("Start without room: %v", err)
			}
			if err := sb.Files().Remove(t.Context(), "fill"); err != nil {
				t.Fatal(err)
			}
			if exit, out := run("no-room", "echo ran"); exit.Code != 0 || out != "ran\n" || exit.Cut {
				t.Errorf("with room again: %+v, %q", exit, out)
			}
		})
	}
}

func TestReadOnlyDisk(t *testing.T) {
	if !inOwnProcess(t, namespaces()) {
		return
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	p := newProvider(t, true)
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := sb.Files().Write(t.Context(), "file", strings.NewReader("old"), 0); err != nil {
		t.Fatal(err)
	}
	if err := sb.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	other, err := p.Attach(t.Context(), sb.Ref())
	if err != nil {
		t.Fatalf("Attach to what can still be read: %v", err)
	}
	files := other.Files()
	for what, err := range map[string]error{
		"Write": files.Write(t.Context(), "file", strings.NewReader("new"), 0), "Mkdir": files.Mkdir(t.Context(), "dir", 0),
		"Remove": files.Remove(t.Context(), "file"), "Rename": files.Rename(t.Context(), "file", "other"),
		"Chmod": files.Chmod(t.Context(), "file", 0o600), "Symlink": files.Symlink(t.Context(), "x", "link"),
	} {
		if e := (*sandbox.Error)(nil); !errors.As(err, &e) || e.Kind != sandbox.KindReadOnly || e.Remedy == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = p.Create(t.Context(), sandbox.Spec{Session: "s", Root: dir})
	if e := (*sandbox.Error)(nil); !errors.As(err, &e) || e.Kind != sandbox.KindReadOnly || e.Remedy == "" {
		t.Errorf("Create in it: %v", err)
	}
}

// Without rights, not as root: permissions are checked.
func TestNoRights(t *testing.T) {
	if os.Getuid() == 0 {
		nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if !inOwnProcess(t, nobody) {
			return
		}
	}
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	p := local.New(local.Config{WorkspacesDir: closed + "/ws", StateDir: dir + "/state", Home: "/nonexistent"})
	_, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: closed})
	if e := (*sandbox.Error)(nil); !errors.As(err, &e) || e.Kind != sandbox.KindReadOnly || e.Remedy == "" {
		t.Errorf("Create in a folder that can't be written: %v", err)
	}
	_, err = p.Create(t.Context(), sandbox.Spec{Session: "s"})
	if e := (*sandbox.Error)(nil); !errors.As(err, &e) || e.Kind != sandbox.KindDenied || e.Remedy == "" {
		t.Errorf("Create below a folder that can't be written: %v", err)
	}
	if got := p.Probe(t.Context()); got.OK || got.Reason == "" || got.Remedy == "" {
		t.Errorf("Probe: %+v", got)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: open})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(open, "secret"), []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := sb.Files().Open(t.Context(), "secret", 0, -1); sandbox.KindOf(err) != sandbox.KindDenied {
		t.Errorf("Open of a file without rights: %v", err)
	}
	// What runs as another user can't be killed, and that is told at once.
	began := time.Now()
	if err := p.Destroy(t.Context(), sb.Ref()); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("Destroy: %v", err)
	}
	if _, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{open + "/secret"}}); sandbox.KindOf(err) != sandbox.KindDenied {
		t.Errorf("Exec of a file that is no program: %v", err)
	}
}
