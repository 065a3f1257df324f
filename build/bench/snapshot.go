package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/local"
)

// SnapshotReport tells what snapshots of a workspace cost, beside what others
// take for the same, in the same run. Times are in milliseconds, medians. A goal
// is met when its ratio is at most 1; it is 0 when the other was not there.
type SnapshotReport struct {
	Files int     `json:"files"`
	MB    float64 `json:"mb"`

	First     float64 `json:"firstCaptureMs"`
	NoChange  float64 `json:"captureWithoutChangeMs"`
	OneChange float64 `json:"captureAfterOneChangeMs"`
	Restore   float64 `json:"restoreMs"`
	Fork      float64 `json:"forkFromLocalFilesMs"`

	StoreMB     float64 `json:"storeMB"`
	OneChangeKB float64 `json:"storeGrowthAfterOneChangeKB"`
	MemoryMB    float64 `json:"memoryAboveIdleMB"`

	GitStatus     float64 `json:"gitStatusMs"`
	GitWriteTree  float64 `json:"gitAddWriteTreeOneChangeMs"`
	CopyAll       float64 `json:"cpAllMs"`
	ResticFirst   float64 `json:"resticFirstMs,omitempty"`
	ResticOne     float64 `json:"resticOneChangeMs,omitempty"`
	ResticRestore float64 `json:"resticRestoreMs,omitempty"`
	ResticMB      float64 `json:"resticStoreMB,omitempty"`

	Goals SnapshotGoals `json:"ofGoal"`
	Note  string        `json:"note,omitempty"`
}

// SnapshotGoals are parts of what is aimed at: 1 is just met, less is better.
type SnapshotGoals struct {
	NoChange   float64 `json:"noChangeVs1.5GitStatus"`
	OneGit     float64 `json:"oneChangeVs2GitWriteTree"`
	OneRestic  float64 `json:"oneChangeVsTenthOfRestic"`
	First      float64 `json:"firstVsHalfOfRestic"`
	Store      float64 `json:"storeVsRestic"`
	Restore    float64 `json:"restoreVsHalfOfRestic"`
	Fork       float64 `json:"forkVs1.5Copy"`
	MemoryOf64 float64 `json:"memoryVs64MB"`
}

// bulkTree is a sandbox as a snapshot sees it.
type bulkTree struct{ sandbox.Bulk }

func (t bulkTree) List(ctx context.Context, skip []string, each func(snapshot.Entry) error) (snapshot.Listing, error) {
	l, err := t.Bulk.List(ctx, skip, func(e sandbox.Entry) error { return each(snapshot.Entry(e)) })
	out := snapshot.Listing{Begun: l.Begun, Granularity: l.Granularity}
	for _, u := range l.Unread {
		out.Unread = append(out.Unread, snapshot.Unread(u))
	}
	return out, err
}

func (t bulkTree) ReadFiles(ctx context.Context, names []string, each func(snapshot.FileRead) error) error {
	return t.Bulk.ReadFiles(ctx, names, func(f sandbox.FileRead) error { return each(snapshot.FileRead(f)) })
}

func (t bulkTree) Apply(ctx context.Context, remove []string, makes iter.Seq2[snapshot.Make, error]) error {
	return t.Bulk.Apply(ctx, remove, func(yield func(sandbox.Make, error) bool) {
		for m, err := range makes {
			if !yield(sandbox.Make(m), err) {
				return
			}
		}
	})
}

const (
	snapshotFiles = 10_000
	snapshotMean  = 20_000 // bytes of a file
	snapshotTries = 3
)

// snapshots measures captures, restores and forks of a workspace of 10,000 files.
type snapshots struct {
	*bench
	report   *SnapshotReport
	provider *local.Provider
	tree     string
	n        int
}

// measureSnapshots measures this part alone.
func measureSnapshots(ctx context.Context) (Report, error) {
	dir, err := os.MkdirTemp("", "tsa-bench-")
	if err != nil {
		return Report{}, err
	}
	var report Report
	load, _ := os.ReadFile("/proc/loadavg") // not on every system
	report.Load = strings.TrimSpace(string(load))
	err = (&bench{ctx: ctx, dir: dir}).snapshot(&report)
	return report, errors.Join(err, os.RemoveAll(dir))
}

func (b *bench) snapshot(report *Report) error {
	dir, err := b.folder("snapshot")
	if err != nil {
		return err
	}
	s := &snapshots{bench: b, report: &report.Snapshot, provider: local.New(local.Config{StateDir: filepath.Join(dir, "state")})}
	s.bench = &bench{ctx: b.ctx, dir: dir}
	s.tree = filepath.Join(dir, "tree")
	if err := s.generate(); err != nil {
		return fmt.Errorf("make a workspace: %w", err)
	}
	err = errors.Join(s.git(), s.copies(), s.restic(), s.ours(), s.provider.Close())
	s.compare()
	return err
}

// generate makes a workspace: most of it is text, the rest is half random, as
// pictures and archives are, and half of the kind of programs and tables.
func (s *snapshots) generate() error {
	r := rand.New(rand.NewPCG(3, 5))
	words := make([]string, 6000)
	for i := range words {
		word := make([]byte, 2+r.IntN(9))
		for j := range word {
			word[j] = byte('a' + r.IntN(26))
		}
		words[i] = string(word)
	}
	for i := range snapshotFiles {
		size := int(r.ExpFloat64() * snapshotMean)
		content := make([]byte, 0, size+16)
		switch kind := r.IntN(100); {
		case kind < 70:
			for len(content) < size {
				content = append(content, words[int(r.ExpFloat64()*400)%len(words)]...)
				content = append(content, " \n\t.("[r.IntN(5)])
			}
		case kind < 85:
			for len(content) < size {
				content = append(content, byte(r.IntN(256)))
			}
		default:
			for n := uint32(0); len(content) < size; n += uint32(r.IntN(900)) {
				content = append(content, byte(n), byte(n>>8), 0, 0, byte(r.IntN(16)), 0, 0x48, 0x8b)
			}
		}
		name := filepath.Join(s.tree, fmt.Sprintf("part%02d/pkg%d/file%05d.txt", i/200, i%10, i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
		s.report.Files++
		s.report.MB += float64(len(content)) / 1e6
	}
	time.Sleep(100 * time.Millisecond) // so that no file is as young as the first listing
	return nil
}

func (s *snapshots) change(n int) error {
	name := filepath.Join(s.tree, fmt.Sprintf("part%02d/pkg%d/file%05d.txt", 7, 3, 1403))
	err := os.WriteFile(name, fmt.Appendf(nil, "changed %d\n", n), 0o644)
	time.Sleep(30 * time.Millisecond)
	return err
}

func (s *snapshots) command(name string, args ...string) (float64, error) {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Env = append(os.Environ(), "RESTIC_PASSWORD=bench", "RESTIC_CACHE_DIR="+filepath.Join(s.dir, "restic-cache"))
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return ms(time.Since(began)), nil
}

func (s *snapshots) fresh(name string) string {
	s.n++
	return filepath.Join(s.dir, fmt.Sprintf("%s-%d", name, s.n))
}

// median measures f some times.
func median(times int, f func(i int) (float64, error)) (float64, error) {
	var all []float64
	for i := range times {
		took, err := f(i)
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

func (s *snapshots) git() error {
	where := []string{"--git-dir=" + s.fresh("git"), "--work-tree=" + s.tree}
	git := func(args ...string) (float64, error) {
		return s.command("git", append(slices.Clone(where), args...)...)
	}
	if _, err := git("init", "-q"); err != nil {
		return err
	}
	if _, err := git("add", "-A"); err != nil {
		return err
	}
	var err error
	if s.report.GitStatus, err = median(9, func(int) (float64, error) { return git("status", "--porcelain") }); err != nil {
		return err
	}
	s.report.GitWriteTree, err = median(5, func(i int) (float64, error) {
		if err := s.change(i); err != nil {
			return 0, err
		}
		add, err := git("add", "-A")
		if err != nil {
			return 0, err
		}
		write, err := git("write-tree")
		return add + write, err
	})
	return err
}

func (s *snapshots) copies() error {
	var err error
	s.report.CopyAll, err = median(snapshotTries, func(int) (float64, error) { return s.command("cp", "-a", s.tree, s.fresh("copy")) })
	return err
}

func (s *snapshots) restic() error {
	if _, err := exec.LookPath("restic"); err != nil {
		s.report.Note = "restic is not installed: its figures are left out"
		return nil
	}
	var repository string
	restic := func(args ...string) (float64, error) {
		return s.command("restic", append([]string{"-q", "-r", repository}, args...)...)
	}
	var err error
	s.report.ResticFirst, err = median(snapshotTries, func(int) (float64, error) {
		repository = s.fresh("restic")
		if _, err := restic("init"); err != nil {
			return 0, err
		}
		return restic("backup", s.tree)
	})
	if err != nil {
		return err
	}
	bytes, err := size(repository)
	if err != nil {
		return err
	}
	s.report.ResticMB = float64(bytes) / 1e6
	s.report.ResticOne, err = median(snapshotTries, func(i int) (float64, error) {
		if err := s.change(100 + i); err != nil {
			return 0, err
		}
		return restic("backup", s.tree)
	})
	if err != nil {
		return err
	}
	s.report.ResticRestore, err = median(snapshotTries, func(int) (float64, error) {
		return restic("restore", "latest", "--target", s.fresh("restic-restored"))
	})
	return err
}

// place opens a folder as a workspace.
func (s *snapshots) place(dir string) (sandbox.Sandbox, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return s.provider.Create(s.ctx, sandbox.Spec{Session: "bench", Root: dir})
}

func (s *snapshots) ours() error {
	from, err := s.place(s.tree)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close(s.ctx) }()
	var (
		objects *store.SQLite
		at      string
		options snapshot.CaptureOptions
		root    store.ID
	)
	tree := bulkTree{from.(sandbox.Bulk)}
	capture := func() (float64, error) {
		began := time.Now()
		got, err := snapshot.Capture(s.ctx, tree, objects, options)
		took := ms(time.Since(began))
		root = got.Root
		return took, err
	}
	idle := ownNow()
	over, most := make(chan struct{}), make(chan float64, 1)
	go func() { most <- ownMemory(os.Getpid(), over) }()
	s.report.First, err = median(snapshotTries, func(int) (float64, error) {
		if objects != nil {
			if err := objects.Close(); err != nil {
				return 0, err
			}
		}
		at = s.fresh("store")
		var err error
		if objects, _, err = store.Open(s.ctx, at); err != nil {
			return 0, err
		}
		options = snapshot.CaptureOptions{Index: s.fresh("index")}
		return capture()
	})
	if err != nil {
		return err
	}
	defer func() { _ = objects.Close() }()
	if s.report.StoreMB, err = s.storeMB(objects); err != nil {
		return err
	}
	if s.report.NoChange, err = median(9, func(int) (float64, error) { return capture() }); err != nil {
		return err
	}
	before, err := objects.Usage(s.ctx)
	if err != nil {
		return err
	}
	s.report.OneChange, err = median(5, func(i int) (float64, error) {
		if err := s.change(200 + i); err != nil {
			return 0, err
		}
		return capture()
	})
	if err != nil {
		return err
	}
	after, err := objects.Usage(s.ctx)
	if err != nil {
		return err
	}
	s.report.OneChangeKB = float64(after.Stored-before.Stored) / 5 / 1e3
	restore := func(o snapshot.RestoreOptions) func(int) (float64, error) {
		return func(int) (float64, error) {
			to, err := s.place(s.fresh("restored"))
			if err != nil {
				return 0, err
			}
			began := time.Now()
			_, err = snapshot.Restore(s.ctx, bulkTree{to.(sandbox.Bulk)}, objects, root, o)
			took := ms(time.Since(began))
			return took, errors.Join(err, to.Close(s.ctx))
		}
	}
	if s.report.Restore, err = median(snapshotTries, restore(snapshot.RestoreOptions{Trust: true})); err != nil {
		return err
	}
	s.report.Fork, err = median(snapshotTries, restore(snapshot.RestoreOptions{Trust: true, Source: folder(s.tree)}))
	close(over)
	s.report.MemoryMB = <-most - idle
	return err
}

// folder is a source of files.
type folder string

func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.OpenInRoot(string(f), name)
}

func (s *snapshots) storeMB(objects *store.SQLite) (float64, error) {
	u, err := objects.Usage(s.ctx)
	return float64(u.File) / 1e6, err
}

// ownNow is the process's own memory when nothing is going on, in MB.
func ownNow() float64 {
	debug.FreeOSMemory()
	return float64(statusKB(os.Getpid(), "RssAnon")) / 1024
}

func (s *snapshots) compare() {
	of := func(got, goal float64) float64 {
		if goal == 0 {
			return 0
		}
		return got / goal
	}
	r := s.report
	r.Goals = SnapshotGoals{
		NoChange: of(r.NoChange, 1.5*r.GitStatus), OneGit: of(r.OneChange, 2*r.GitWriteTree), OneRestic: of(r.OneChange, r.ResticOne/10),
		First: of(r.First, r.ResticFirst/2), Store: of(r.StoreMB, r.ResticMB), Restore: of(r.Restore, r.ResticRestore/2),
		Fork: of(r.Fork, 1.5*r.CopyAll), MemoryOf64: of(r.MemoryMB, 64),
	}
}
