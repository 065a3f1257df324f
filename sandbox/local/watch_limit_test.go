//go:build linux

package local

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fsnotify/fsnotify"
)

func TestWatchLeavesInsidesOut(t *testing.T) {
	root := t.TempDir()
	for i := range maxInner {
		if err := os.MkdirAll(filepath.Join(root, "node_modules", "p"+strconv.Itoa(i), "lib"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"src/deep/er", "zzz", ".git/objects/aa"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()
	w := &watch{root: root, notify: notify, pending: map[string]bool{}}
	if !w.add(root) {
		t.Error("leaving insides out on purpose counts as a failure")
	}
	watched := map[string]bool{}
	for _, name := range notify.WatchList() {
		watched[name] = true
	}
	if len(watched) > maxInner {
		t.Errorf("%d folders are watched, want at most %d with insides", len(watched), maxInner)
	}
	for _, dir := range []string{"", "src/deep/er", "zzz", ".git", "node_modules"} {
		if !watched[filepath.Join(root, dir)] {
			t.Errorf("%q is not watched", dir)
		}
	}
	if watched[filepath.Join(root, "node_modules", "p"+strconv.Itoa(maxInner-1), "lib")] {
		t.Error("all insides are watched")
	}
	// Where the system gives no more watches, that is told.
	w.count = maxWatches
	if w.full(maxWatches) {
		t.Error("it is full with folders that are not watched")
	}
	if err := notify.Close(); err != nil {
		t.Fatal(err)
	}
	if w.add(filepath.Join(root, "src")) {
		t.Error("a watch that fails is not noticed")
	}
}
