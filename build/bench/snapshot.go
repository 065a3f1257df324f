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
	err = errors.Join(s.run(), s.provider.Close())
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

// measured is something that takes time, by its own clock, in milliseconds.
type measured func(i int) (float64, error)

// inTurn measures several things some times, one after the other in each round,
// so that an hour's noise is shared, and sets their medians.
func inTurn(times int, into []*float64, what ...measured) error {
	all := make([][]float64, len(what))
	for i := range times {
		for j, f := range what {
			if f == nil {
				continue
			}
			took, err := f(i)
			if err != nil {
				return err
			}
			all[j] = append(all[j], took)
		}
	}
	for j, values := range all {
		if len(values) > 0 {
			slices.Sort(values)
			*into[j] = values[len(values)/2]
		}
	}
	return nil
}

// restic returns nil if it is not installed, else what runs it with the
// repository that is named then.
func (s *snapshots) restic(repository *string) func(args ...string) (float64, error) {
	if _, err := exec.LookPath("restic"); err != nil {
		s.report.Note = "restic is not installed: its figures are left out"
		return nil
	}
	return func(args ...string) (float64, error) {
		return s.command("restic", append([]string{"-q", "-r", *repository}, args...)...)
	}
}

// others are what our figures are compared with.
type others struct {
	git, restic      func(args ...string) (float64, error)
	repository       string
	first, one, back measured // restic's; nil without it
}

func (s *snapshots) others() (*others, error) {
	where := []string{"--git-dir=" + s.fresh("git"), "--work-tree=" + s.tree}
	o := &others{git: func(args ...string) (float64, error) {
		return s.command("git", append(slices.Clone(where), args...)...)
	}}
	if _, err := o.git("init", "-q"); err != nil {
		return nil, err
	}
	if _, err := o.git("add", "-A"); err != nil {
		return nil, err
	}
	if o.restic = s.restic(&o.repository); o.restic == nil {
		return o, nil
	}
	o.first = func(int) (float64, error) {
		o.repository = s.fresh("restic")
		if _, err := o.restic("init"); err != nil {
			return 0, err
		}
		return o.restic("backup", s.tree)
	}
	o.one = func(i int) (float64, error) {
		if err := s.change(i); err != nil {
			return 0, err
		}
		return o.restic("backup", s.tree)
	}
	o.back = func(int) (float64, error) {
		return o.restic("restore", "latest", "--target", s.fresh("restic-restored"))
	}
	return o, nil
}

func (o *others) writeTree() (float64, error) {
	add, err := o.git("add", "-A")
	if err != nil {
		return 0, err
	}
	write, err := o.git("write-tree")
	return add + write, err
}

// ours is what is measured.
type ours struct {
	*snapshots
	tree    bulkTree
	objects *store.SQLite
	options snapshot.CaptureOptions
	root    store.ID
}

func (o *ours) capture() (float64, error) {
	began := time.Now()
	got, err := snapshot.Capture(o.ctx, o.tree, o.objects, o.options)
	o.root = got.Root
	return ms(time.Since(began)), err
}

// first captures into a fresh store, and watches the memory.
func (o *ours) first(int) (float64, error) {
	if o.objects != nil {
		if err := o.objects.Close(); err != nil {
			return 0, err
		}
	}
	var err error
	if o.objects, _, err = store.Open(o.ctx, o.fresh("store")); err != nil {
		return 0, err
	}
	o.options = snapshot.CaptureOptions{Index: o.fresh("index")}
	return o.watched(o.capture)
}

// watched notes how much memory f takes above what is there before it.
func (o *ours) watched(f func() (float64, error)) (float64, error) {
	debug.FreeOSMemory()
	idle := float64(statusKB(os.Getpid(), "RssAnon")) / 1024
	over, most := make(chan struct{}), make(chan float64, 1)
	go func() { most <- ownMemory(os.Getpid(), over) }()
	took, err := f()
	close(over)
	o.report.MemoryMB = max(o.report.MemoryMB, <-most-idle)
	return took, err
}

func (o *ours) restore(options snapshot.RestoreOptions) measured {
	return func(int) (float64, error) {
		to, err := o.place(o.fresh("restored"))
		if err != nil {
			return 0, err
		}
		took, err := o.watched(func() (float64, error) {
			began := time.Now()
			_, err := snapshot.Restore(o.ctx, bulkTree{to.(sandbox.Bulk)}, o.objects, o.root, options)
			return ms(time.Since(began)), err
		})
		return took, errors.Join(err, to.Close(o.ctx))
	}
}

// place opens a folder as a workspace.
func (s *snapshots) place(dir string) (sandbox.Sandbox, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return s.provider.Create(s.ctx, sandbox.Spec{Session: "bench", Root: dir})
}

func (s *snapshots) run() error {
	them, err := s.others()
	if err != nil {
		return err
	}
	from, err := s.place(s.tree)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close(s.ctx) }()
	us, r := &ours{snapshots: s, tree: bulkTree{from.(sandbox.Bulk)}}, s.report
	defer func() {
		if us.objects != nil {
			_ = us.objects.Close()
		}
	}()
	if err := inTurn(snapshotTries, []*float64{&r.ResticFirst, &r.First}, them.first, us.first); err != nil {
		return err
	}
	before, err := us.objects.Usage(s.ctx)
	if err != nil {
		return err
	}
	r.StoreMB = float64(before.File) / 1e6
	if them.restic != nil {
		bytes, err := size(them.repository)
		if err != nil {
			return err
		}
		r.ResticMB = float64(bytes) / 1e6
	}
	if err := inTurn(9, []*float64{&r.GitStatus, &r.NoChange},
		func(int) (float64, error) { return them.git("status", "--porcelain") },
		func(int) (float64, error) { return us.capture() }); err != nil {
		return err
	}
	// Whoever comes next has one changed file too.
	if err := inTurn(5, []*float64{&r.ResticOne, &r.GitWriteTree, &r.OneChange}, them.one,
		func(i int) (float64, error) { return s.changed(100+i, them.writeTree) },
		func(i int) (float64, error) { return s.changed(200+i, us.capture) }); err != nil {
		return err
	}
	after, err := us.objects.Usage(s.ctx)
	if err != nil {
		return err
	}
	r.OneChangeKB = float64(after.Stored-before.Stored) / 5 / 1e3
	if err := inTurn(snapshotTries, []*float64{&r.ResticRestore, &r.Restore}, them.back, us.restore(snapshot.RestoreOptions{Trust: true})); err != nil {
		return err
	}
	files, err := os.OpenRoot(s.tree)
	if err != nil {
		return err
	}
	defer files.Close()
	return inTurn(snapshotTries, []*float64{&r.CopyAll, &r.Fork},
		func(int) (float64, error) { return s.command("cp", "-a", s.tree, s.fresh("copy")) },
		us.restore(snapshot.RestoreOptions{Trust: true, Source: folder{files}}))
}

// changed measures f after a change.
func (s *snapshots) changed(n int, f func() (float64, error)) (float64, error) {
	if err := s.change(n); err != nil {
		return 0, err
	}
	return f()
}

// folder is a source of files.
type folder struct{ root *os.Root }

func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) { return f.root.Open(name) }

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
