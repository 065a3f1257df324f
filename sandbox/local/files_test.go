//go:build linux

package local_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
)

func newSandbox(t testing.TB, holder bool) sandbox.Sandbox {
	t.Helper()
	sb, err := newProvider(t, holder).Create(t.Context(), sandbox.Spec{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return sb
}

// A folder that is swapped for a link to the outside while it is used must not
// lead there, whatever the instant.
func TestNoRaceLeadsOut(t *testing.T) {
	sb := newSandbox(t, true)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(sb.Root(), "dir")
	if err := os.MkdirAll(filepath.Join(sb.Root(), "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sb.Root(), "real", "file"), []byte("inside"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", at); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			target := outside
			if i%2 == 0 {
				target = "real"
			}
			next := filepath.Join(sb.Root(), "next")
			if err := errors.Join(os.Symlink(target, next), os.Rename(next, at)); err != nil {
				t.Errorf("swap: %v", err)
				return
			}
		}
	})
	files, inside := sb.Files(), 0
	for ctx.Err() == nil {
		if r, err := files.Open(t.Context(), "dir/file", 0, -1); err == nil {
			data, _ := io.ReadAll(r)
			_ = r.Close()
			if string(data) == "outside" {
				t.Error("a read led out")
				break
			}
			inside++
		}
		_ = files.Write(t.Context(), "dir/made", strings.NewReader("x"), 0)
		_ = files.Mkdir(t.Context(), "dir/folder", 0)
		_ = files.Symlink(t.Context(), "x", "dir/link")
		_ = files.Rename(t.Context(), "real/file", "dir/renamed")
		_ = files.Rename(t.Context(), "dir/renamed", "real/file")
		_ = files.RemoveAll(t.Context(), "dir/file-not-there")
	}
	wg.Wait()
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there are now %v, %v", entries, err)
	}
	if inside == 0 {
		t.Error("nothing was read inside: the test tries nothing")
	}
}

func TestVanishedWorkspace(t *testing.T) {
	sb := newSandbox(t, true)
	files := sb.Files()
	write := func() error { return files.Write(t.Context(), "a/b", strings.NewReader("x"), 0) }
	if err := write(); err != nil {
		t.Fatal(err)
	}
	moved := sb.Root() + "-moved"
	if err := os.Rename(sb.Root(), moved); err != nil {
		t.Fatal(err)
	}
	_, statErr := files.Stat(t.Context(), "a/b")
	_, execErr := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"true"}})
	for what, err := range map[string]error{"Write": write(), "Stat": statErr, "Exec": execErr} {
		var e *sandbox.Error
		if !errors.As(err, &e) || e.Kind != sandbox.KindGone || e.Remedy == "" {
			t.Errorf("%s in a workspace that was moved away: %v", what, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(moved, "a")); err != nil || len(entries) != 1 {
		t.Errorf("the moved folder was touched: %v, %v", entries, err)
	}
	// Another folder in its place is the workspace, for files as for commands.
	if err := os.Mkdir(sb.Root(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("Write after the folder came back: %v", err)
	}
	if _, err := os.Stat(filepath.Join(sb.Root(), "a", "b")); err != nil {
		t.Error(err)
	}
}

func TestSpecialFilesAreRefused(t *testing.T) {
	sb := newSandbox(t, true)
	if err := syscall.Mkfifo(filepath.Join(sb.Root(), "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	go func() {
		_, err := sb.Files().Open(t.Context(), "fifo", 0, -1)
		done <- err
		done <- sb.Files().Write(t.Context(), "fifo", strings.NewReader("x"), 0)
	}()
	for range 2 {
		select {
		case err := <-done:
			if sandbox.KindOf(err) != sandbox.KindInvalid {
				t.Errorf("a FIFO: %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("a FIFO blocks")
		}
	}
}
