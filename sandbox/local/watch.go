//go:build unix

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// watchMerge is how long changes are gathered before they are told.
	watchMerge = 150 * time.Millisecond
	// watchPoll is how often "anything may have changed" is told when not all
	// folders can be watched.
	watchPoll = 5 * time.Second
	// maxWatches bounds how many folders are watched, and maxInner when the
	// insides of inner folders no longer are.
	maxWatches = 8192
	maxInner   = 512
	// maxTold is how many folders are told by name at a time.
	maxTold = 256
)

// inner are folders whose insides change much and concern people little.
var inner = []string{".git", "node_modules"}

// Watch implements sandbox.Watcher. The root is ".". It returns nil when ctx
// ends, and fails with KindGone when the workspace is gone.
func (s *Sandbox) Watch(ctx context.Context, changed func(dirs []string)) error {
	// Nobody has told of what changed until now.
	w := &watch{root: s.ref.Root, pending: map[string]bool{}, lost: true}
	if runtime.GOOS == "linux" { // elsewhere each file costs an open file
		notify, err := fsnotify.NewWatcher()
		if err == nil {
			defer notify.Close()
			w.notify = notify
			w.partial = !w.add(w.root)
		}
	}
	w.partial = w.partial || w.notify == nil
	return w.run(ctx, changed)
}

// watch is one Watch under way.
type watch struct {
	root    string
	notify  *fsnotify.Watcher // nil where the system can't tell
	count   int               // of watched folders, at most too many
	partial bool              // not all folders are watched
	pending map[string]bool   // changed folders, relative to the root
	lost    bool              // changes were lost: anything may have changed
}

// add watches a folder and those in it. It returns false when it can't watch
// all that it should.
func (w *watch) add(dir string) bool {
	var todo, later []string
	queue := func(dir string) {
		if w.isInside(dir) {
			later = append(later, dir)
		} else {
			todo = append(todo, dir)
		}
	}
	for queue(dir); len(todo) > 0 || len(later) > 0; {
		if len(todo) == 0 {
			if w.full(maxInner) {
				return true // the insides are left out on purpose
			}
			todo, later = append(todo, later[0]), later[1:]
		}
		at := todo[0]
		todo = todo[1:]
		if w.full(maxWatches) {
			return false
		}
		if err := w.notify.Add(at); err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				continue // it was removed meanwhile, or nobody can look into it
			}
			return false // the system's limit
		}
		w.count++
		entries, err := os.ReadDir(at)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if entry.IsDir() {
				queue(filepath.Join(at, entry.Name()))
			}
		}
	}
	return true
}

// isInside tells whether dir is in an inner folder.
func (w *watch) isInside(dir string) bool {
	rel, err := filepath.Rel(w.root, filepath.Dir(dir))
	return err == nil && slices.ContainsFunc(strings.Split(rel, "/"), func(part string) bool { return slices.Contains(inner, part) })
}

// full tells whether as many folders are watched.
func (w *watch) full(limit int) bool {
	if w.count >= limit {
		w.count = len(w.notify.WatchList()) // without those that were removed
	}
	return w.count >= limit
}

func (w *watch) run(ctx context.Context, changed func([]string)) error {
	var events chan fsnotify.Event
	var lost chan error
	if w.notify != nil {
		events, lost = w.notify.Events, w.notify.Errors
	}
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	var merge <-chan time.Time
	for {
		if merge == nil && (w.lost || len(w.pending) > 0) {
			merge = time.After(watchMerge)
		}
		select {
		case <-ctx.Done():
			return nil
		case event := <-events:
			w.note(event)
		case err := <-lost:
			w.lost = w.lost || err != nil
		case <-poll.C:
			if _, err := os.Stat(w.root); errors.Is(err, fs.ErrNotExist) {
				return gone("watch", w.root)
			}
			w.lost = w.lost || w.partial
		case <-merge:
			merge = nil
			w.tell(changed)
		}
	}
}

// note notes what an event changes.
func (w *watch) note(event fsnotify.Event) {
	if event.Name == w.root {
		w.lost = true // the workspace itself
		return
	}
	w.change(filepath.Dir(event.Name))
	if !event.Has(fsnotify.Create) {
		return
	}
	if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
		// What was made in it before it was watched is told with it.
		if !w.add(event.Name) {
			w.partial = true
		}
		w.change(event.Name)
	}
}

func (w *watch) change(dir string) {
	rel, err := filepath.Rel(w.root, dir)
	if err != nil {
		w.lost = true
		return
	}
	w.pending[rel] = true
}

func (w *watch) tell(changed func([]string)) {
	var dirs []string
	if !w.lost && len(w.pending) <= maxTold {
		for dir := range w.pending {
			dirs = append(dirs, dir)
		}
		slices.Sort(dirs)
	}
	clear(w.pending)
	w.lost = false
	changed(dirs)
}
