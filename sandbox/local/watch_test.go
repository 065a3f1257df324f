//go:build linux

package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// told gathers what a Watch tells.
type told struct {
	mu    sync.Mutex
	calls [][]string
}

func (w *told) changed(dirs []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, dirs)
}

// take returns what was told since, as one text, and forgets it.
func (w *told) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, c := range w.calls {
		if c == nil {
			all = append(all, "anything")
		}
		all = append(all, c...)
	}
	w.calls = nil
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

func watch(t *testing.T, sb sandbox.Sandbox) (*told, <-chan error) {
	t.Helper()
	w, ended := &told{}, make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- sb.(sandbox.Watcher).Watch(ctx, w.changed)
	}()
	t.Cleanup(func() { cancel(); <-done })
	wantTold(t, w, "a watch that has begun", "anything")
	return w, ended
}

func touch(t *testing.T, sb sandbox.Sandbox, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(sb.Root(), name), []byte(time.Now().String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantTold waits until the folders, and no others, were told.
func wantTold(t *testing.T, w *told, what, want string) {
	t.Helper()
	got := map[string]bool{}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		for dir := range strings.FieldsSeq(w.take()) {
			got[dir] = true
		}
		var all []string
		for dir := range got {
			all = append(all, dir)
		}
		slices.Sort(all)
		if strings.Join(all, " ") == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: told %q, want %q", what, all, want)
		}
	}
}

func TestWatch(t *testing.T) {
	sb := newSandbox(t, true)
	for _, dir := range []string{"a/b", "quiet", ".git/objects"} {
		if err := os.MkdirAll(filepath.Join(sb.Root(), dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w, ended := watch(t, sb)
	touch(t, sb, "a/b/file")
	wantTold(t, w, "a new file", "a/b")
	touch(t, sb, "a/b/file")
	touch(t, sb, "top")
	wantTold(t, w, "changed files", ". a/b")
	if err := sb.Files().Rename(t.Context(), "a/b/file", "a/file"); err != nil {
		t.Fatal(err)
	}
	wantTold(t, w, "a moved file", "a a/b")
	if err := os.MkdirAll(filepath.Join(sb.Root(), "new", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	w.take()
	touch(t, sb, "new/deep/file")
	wantTold(t, w, "a file in a new folder", "new/deep")
	if err := os.RemoveAll(filepath.Join(sb.Root(), "new")); err != nil {
		t.Fatal(err)
	}
	wantTold(t, w, "a removed folder", ". new new/deep")
	touch(t, sb, ".git/HEAD")
	wantTold(t, w, "a file of git", ".git")
	// Many changes at once are told together.
	for i := range 100 {
		touch(t, sb, fmt.Sprintf("quiet/%d", i))
	}
	wantTold(t, w, "many files", "quiet")
	if err := os.RemoveAll(sb.Root()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if sandbox.KindOf(err) != sandbox.KindGone {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it goes on without a workspace")
	}
}

// Whoever read the folder before the watch was up, and listens only then, learns
// that it may have changed meanwhile.
func TestWatchTellsThatItHasBegun(t *testing.T) {
	sb := newSandbox(t, true)
	touch(t, sb, "before")
	w, _ := watch(t, sb)
	touch(t, sb, "after")
	wantTold(t, w, "the first change", ".")
}

func TestWatchEndsWithContext(t *testing.T) {
	sb := newSandbox(t, true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sb.(sandbox.Watcher).Watch(ctx, func([]string) {}); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
