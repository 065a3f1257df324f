//go:build unix

package local

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
)

var _ sandbox.Bulk = (*Sandbox)(nil)

// bulkWorkers is how many goroutines work on the files of a Bulk method: the
// system is asked from all cores, but a machine with many gains little from more.
func bulkWorkers() int { return min(max(runtime.GOMAXPROCS(0), 2), 4) }

// bulkRoot opens the folder of the workspace for a Bulk method.
func (s *Sandbox) bulkRoot(op string) (*os.File, error) {
	root, err := s.files.open(op)
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err != nil {
		return nil, wrap(op, err)
	}
	return dir, nil
}

// List implements sandbox.Bulk.
func (s *Sandbox) List(ctx context.Context, skip []string, each func(sandbox.Entry) error) (sandbox.Listing, error) {
	const op = "list the workspace"
	root, err := s.bulkRoot(op)
	if err != nil {
		return sandbox.Listing{}, err
	}
	defer root.Close()
	l := &lister{root: int(root.Fd()), todo: []string{""}, skip: map[string]bool{}, found: make(chan []sandbox.Entry, 2*bulkWorkers()), stop: make(chan struct{})}
	l.wake.L = &l.mu
	for _, name := range skip {
		rel, err := s.files.bulkName(op, name)
		if err != nil {
			return sandbox.Listing{}, err
		}
		l.skip[rel] = true
	}
	listing := sandbox.Listing{Begun: time.Now(), Granularity: granularity(l.root)}
	var workers sync.WaitGroup
	for range bulkWorkers() {
		workers.Go(l.work)
	}
	go func() {
		workers.Wait()
		close(l.found)
	}()
	err = l.give(ctx, each)
	l.end()
	for range l.found { // until all have ended: they use the folder
	}
	if err == nil {
		err = wrap(op, l.err)
	}
	listing.Unread = l.unread
	return listing, err
}

// lister lists the folders of a tree on several cores.
type lister struct {
	root  int
	skip  map[string]bool
	found chan []sandbox.Entry
	stop  chan struct{} // closed when nobody wants more

	mu      sync.Mutex
	wake    sync.Cond
	todo    []string // folders; the last first, which keeps it short
	busy    int
	stopped bool
	unread  []sandbox.Unread
	err     error
}

// give calls each with what is found.
func (l *lister) give(ctx context.Context, each func(sandbox.Entry) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case list, ok := <-l.found:
			if !ok {
				return ctx.Err()
			}
			for i := range list {
				if err := each(list[i]); err != nil {
					return err
				}
			}
		}
	}
}

func (l *lister) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopped {
		l.stopped = true
		close(l.stop)
		l.wake.Broadcast()
	}
}

func (l *lister) fail(err error) {
	l.mu.Lock()
	l.err = errors.Join(l.err, err)
	l.mu.Unlock()
	l.end()
}

// work lists folders until there are no more.
func (l *lister) work() {
	buf := make([]byte, 32<<10)
	for {
		l.mu.Lock()
		for len(l.todo) == 0 && l.busy > 0 && !l.stopped {
			l.wake.Wait()
		}
		if len(l.todo) == 0 || l.stopped {
			l.mu.Unlock()
			l.wake.Broadcast()
			return
		}
		dir := l.todo[len(l.todo)-1]
		l.todo = l.todo[:len(l.todo)-1]
		l.busy++
		l.mu.Unlock()

		l.list(dir, buf)

		l.mu.Lock()
		l.busy--
		idle := l.busy == 0
		l.mu.Unlock()
		if idle {
			l.wake.Broadcast()
		}
	}
}

// list lists one folder.
func (l *lister) list(dir string, buf []byte) {
	fd, err := l.root, error(nil)
	if dir != "" {
		fd, err = openBelow(l.root, dir, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			l.missed(dir, err)
			return
		}
		defer func() { _ = unix.Close(fd) }()
	}
	prefix := dir
	if dir != "" {
		prefix += "/"
	}
	var names []string
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(fd, buf) })
		if err != nil {
			if dir == "" {
				l.fail(err)
			} else {
				l.missed(dir, err)
			}
			return
		}
		if n <= 0 {
			return
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		if !l.look(fd, prefix, names) {
			return
		}
	}
}

// look tells of the entries of a folder; false if nobody wants more.
func (l *lister) look(fd int, prefix string, names []string) bool {
	found := make([]sandbox.Entry, 0, len(names))
	var dirs []string
	for _, base := range names {
		name := prefix + base
		if l.skip[name] {
			continue
		}
		var st unix.Stat_t
		_, err := retry(func() (int, error) { return 0, unix.Fstatat(fd, base, &st, unix.AT_SYMLINK_NOFOLLOW) })
		if err != nil {
			l.missed(name, err)
			continue
		}
		e := entryOf(name, &st)
		switch statMode(&st) & unix.S_IFMT {
		case unix.S_IFDIR:
			dirs = append(dirs, name)
		case unix.S_IFLNK:
			if e.Target, err = readLink(fd, base, st.Size); err != nil {
				l.missed(name, err)
				continue
			}
		}
		found = append(found, e)
	}
	if len(dirs) > 0 {
		slices.Reverse(dirs)
		l.mu.Lock()
		l.todo = append(l.todo, dirs...)
		l.mu.Unlock()
		l.wake.Broadcast()
	}
	select {
	case l.found <- found:
		return true
	case <-l.stop:
		return false
	}
}

// missed notes what could not be looked into; what was removed meanwhile is not
// missed.
func (l *lister) missed(name string, err error) {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread = append(l.unread, sandbox.Unread{Name: name, Why: wrap("list "+name, err)})
}

// readLink returns the target of a link, which is size long as far as is known.
func readLink(dir int, base string, size int64) (string, error) {
	for room := max(int(size)+1, 64); ; room *= 2 {
		buf := make([]byte, room)
		n, err := retry(func() (int, error) { return unix.Readlinkat(dir, base, buf) })
		if err != nil {
			return "", err
		}
		if n < room {
			return string(buf[:n]), nil
		}
	}
}
