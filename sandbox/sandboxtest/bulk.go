package sandboxtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// RunFiles runs the parts of the suite that are about files, one by one and in
// bulk.
func RunFiles(t *testing.T, f Factory) {
	s := newSuite(t, f)
	t.Run("files", s.testFiles)
	t.Run("bulk", s.testBulk)
}

// RunBulk runs the part that is about files in bulk.
func RunBulk(t *testing.T, f Factory) {
	s := newSuite(t, f)
	t.Run("bulk", s.testBulk)
}

func (s *suite) testBulk(t *testing.T) {
	if _, ok := s.sb.(sandbox.Bulk); !ok {
		t.Fatal("the sandbox is no sandbox.Bulk")
	}
	t.Run("random trees", s.testBulkRandom)
	t.Run("list", s.testBulkList)
	t.Run("skip", s.testBulkSkip)
	t.Run("read", s.testBulkRead)
	t.Run("digests", s.testBulkDigests)
	t.Run("apply", s.testBulkApply)
	t.Run("modes and times", s.testBulkModes)
	t.Run("links in the way", s.testBulkLinks)
	t.Run("many files", s.testBulkMany)
	t.Run("a large file", s.testBulkLarge)
	t.Run("it can be cut off", s.testBulkCutOff)
	t.Run("bad requests", s.testBulkBad)
}

func (s *suite) bulk() sandbox.Bulk { return s.sb.(sandbox.Bulk) }

// node is a file of a tree that a test has in mind.
type node struct {
	mode    fs.FileMode
	content string
	target  string
}

func (n node) String() string {
	if n.target != "" {
		return fmt.Sprintf("%v -> %q", n.mode, n.target)
	}
	return fmt.Sprintf("%v of %d bytes (%x)", n.mode, len(n.content), sha256.Sum256([]byte(n.content)))
}

// model is a tree, by names relative to its top.
type model map[string]node

// makes returns what makes the entries of names, parents first.
func (m model) makes(dir string, names ...string) iter.Seq2[sandbox.Make, error] {
	slices.Sort(names)
	return func(yield func(sandbox.Make, error) bool) {
		for _, name := range names {
			if !yield(m[name].make(dir+"/"+name), nil) {
				return
			}
		}
	}
}

func (n node) make(name string) sandbox.Make {
	m := sandbox.Make{Name: name, Mode: n.mode, Target: n.target}
	if n.mode.IsRegular() {
		m.Size = int64(len(n.content))
		m.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(n.content)), nil }
	}
	return m
}

func (m model) names() []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (s *suite) apply(t *testing.T, remove []string, makes iter.Seq2[sandbox.Make, error]) {
	t.Helper()
	if makes == nil {
		makes = func(func(sandbox.Make, error) bool) {}
	}
	if err := s.bulk().Apply(t.Context(), remove, makes); err != nil {
		t.Fatalf("Apply: %v", err)
	}
}

// one is a single entry to make.
func one(name string, n node) iter.Seq2[sandbox.Make, error] {
	return func(yield func(sandbox.Make, error) bool) { yield(n.make(name), nil) }
}

// list returns the entries below dir, by their names relative to it.
func (s *suite) list(t *testing.T, dir string, skip ...string) (map[string]sandbox.Entry, sandbox.Listing) {
	t.Helper()
	out := map[string]sandbox.Entry{}
	listing, err := s.bulk().List(t.Context(), skip, func(e sandbox.Entry) error {
		if name, ok := strings.CutPrefix(e.Name, dir+"/"); ok {
			if _, twice := out[name]; twice {
				t.Errorf("List tells of %q twice", e.Name)
			}
			out[name] = e
		}
		return nil
	})
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	return out, listing
}

// same fails unless dir holds what the model does: by the listing, by its
// content and by its digests.
func (s *suite) same(t *testing.T, dir string, want model) {
	t.Helper()
	entries, listing := s.list(t, dir)
	if len(listing.Unread) > 0 {
		t.Errorf("not looked into: %v", listing.Unread)
	}
	got := model{}
	var files []string
	for name, e := range entries {
		n := node{mode: e.Mode, target: e.Target}
		if e.Mode.IsRegular() {
			files = append(files, dir+"/"+name)
			if w := want[name]; int64(len(w.content)) != e.Size {
				t.Errorf("%q has %d bytes, want %d", name, e.Size, len(w.content))
			}
		}
		got[name] = n
	}
	slices.Sort(files)
	for name, file := range s.readFiles(t, files) {
		name = strings.TrimPrefix(name, dir+"/")
		n := got[name]
		n.content = file.content
		got[name] = n
		if file.err != nil {
			t.Errorf("%q can't be read: %v", name, file.err)
		} else if e := entries[name]; file.Modified != e.Modified || file.Mode.Perm() != e.Mode.Perm() || file.Size != e.Size {
			t.Errorf("%q is read as %v %d %d, listed as %v %d %d", name, file.Mode, file.Size, file.Modified, e.Mode, e.Size, e.Modified)
		}
	}
	for _, name := range want.names() {
		if _, ok := got[name]; !ok {
			t.Errorf("%q is missing", name)
		} else if got[name].String() != want[name].String() {
			t.Errorf("%q is %v, want %v", name, got[name], want[name])
		}
	}
	for _, name := range got.names() {
		if _, ok := want[name]; !ok {
			t.Errorf("%q is too much", name)
		}
	}
	sums, err := s.bulk().Digests(t.Context(), files)
	if err != nil || len(sums) != len(files) {
		t.Fatalf("Digests: %d of %d, %v", len(sums), len(files), err)
	}
	for i, name := range files {
		if sum := sha256.Sum256([]byte(want[strings.TrimPrefix(name, dir+"/")].content)); sums[i] != sum {
			t.Errorf("%q has the digest %x, want %x", name, sums[i], sum)
		}
	}
}

// fileRead is a FileRead with its content.
type fileRead struct {
	sandbox.FileRead
	content string
	err     error
}

func (s *suite) readFiles(t *testing.T, names []string) map[string]fileRead {
	t.Helper()
	out := map[string]fileRead{}
	err := s.bulk().ReadFiles(t.Context(), names, func(r sandbox.FileRead) error {
		if _, twice := out[r.Name]; twice {
			t.Errorf("ReadFiles gives %q twice", r.Name)
		}
		if r.Err != nil {
			out[r.Name] = fileRead{FileRead: r, err: r.Err}
			return nil
		}
		content, err := io.ReadAll(r.Content)
		if err != nil {
			return err
		}
		out[r.Name] = fileRead{FileRead: r, content: string(content)}
		return nil
	})
	if err != nil {
		t.Fatalf("ReadFiles: %v", err)
	}
	for _, name := range names {
		if _, ok := out[name]; !ok {
			t.Errorf("ReadFiles does not give %q", name)
		}
	}
	if len(out) > len(names) {
		t.Errorf("ReadFiles gives %d files for %d names", len(out), len(names))
	}
	return out
}

func (s *suite) testBulkList(t *testing.T) {
	dir := s.dir(t)
	before := time.Now()
	s.write(t, dir+"/file", "12345")
	s.sh(t, dir, "mkfifo pipe; ln -s file link; mkdir empty; dd if=/dev/null of=holes bs=1 seek=5000000 2>/dev/null; dd if=/dev/zero of=full bs=65536 count=4 2>/dev/null; ln full second")
	got, listing := s.list(t, dir)
	if len(got) != 7 {
		t.Errorf("it holds %v", got)
	}
	e := got["file"]
	if e.Size != 5 || !e.Mode.IsRegular() || e.Inode == 0 || e.Modified == 0 || e.Changed == 0 {
		t.Errorf("a file: %+v", e)
	}
	if e := got["pipe"]; e.Mode.Type() != fs.ModeNamedPipe {
		t.Errorf("a FIFO: %+v", e)
	}
	if e := got["link"]; e.Mode.Type() != fs.ModeSymlink || e.Target != "file" {
		t.Errorf("a link: %+v", e)
	}
	if e := got["empty"]; !e.Mode.IsDir() || e.Size != 0 {
		t.Errorf("a folder: %+v", e)
	}
	if e := got["holes"]; e.Size != 5_000_000 || e.Held >= e.Size {
		t.Errorf("a file with a hole: %+v", e)
	}
	if e := got["full"]; e.Size != 4*65536 || e.Held < e.Size || got["second"].Inode != e.Inode {
		t.Errorf("a file with two names: %+v, %+v", e, got["second"])
	}
	if listing.Granularity <= 0 || listing.Granularity > 2*time.Second {
		t.Errorf("the granularity is %v", listing.Granularity)
	}
	// The clock is the one that stamps the files.
	s.write(t, dir+"/file", "54321")
	again, later := s.list(t, dir)
	changed := time.Unix(0, again["file"].Changed)
	if changed.Before(listing.Begun.Add(-listing.Granularity)) || changed.After(later.Begun.Add(later.Granularity)) {
		t.Errorf("what was changed between listings that began at %v and %v is of %v", listing.Begun, later.Begun, changed)
	}
	if d := listing.Begun.Sub(before); d < -time.Minute || d > time.Minute+s.Patience {
		t.Errorf("it began at %v, want about %v", listing.Begun, before)
	}
	if again["file"].Inode == e.Inode && again["file"].Changed == e.Changed {
		t.Errorf("a change can't be seen: %+v, then %+v", e, again["file"])
	}
	// Root may look into what is closed.
	s.sh(t, dir, "mkdir shut; echo x >shut/in; chmod 0 shut")
	closed, shut := s.list(t, dir)
	if s.sh(t, dir, "ls shut 2>/dev/null || echo no") == "no\n" {
		if len(shut.Unread) != 1 || shut.Unread[0].Name != dir+"/shut" || sandbox.KindOf(shut.Unread[0].Why) != sandbox.KindDenied {
			t.Errorf("of a folder that may not be read it says %v", shut.Unread)
		}
	} else if _, ok := closed["shut/in"]; !ok || len(shut.Unread) > 0 {
		t.Errorf("of a folder that only root may read it says %v, %v", closed, shut.Unread)
	}
	if _, ok := closed["shut"]; !ok {
		t.Error("the folder itself is not listed")
	}
	s.sh(t, dir, "chmod 755 shut")
	wanted := errors.New("enough")
	n := 0
	if _, err := s.bulk().List(t.Context(), nil, func(sandbox.Entry) error { n++; return wanted }); !errors.Is(err, wanted) || n != 1 {
		t.Errorf("List goes on after an error: %d entries, %v", n, err)
	}
}

func (s *suite) testBulkSkip(t *testing.T) {
	dir := s.dir(t)
	tree := model{
		"keep": {mode: 0o644, content: "1"}, "skip": {mode: fs.ModeDir | 0o755}, "skip/in": {mode: 0o644},
		"skipper": {mode: 0o644}, "[a]*?\\": {mode: fs.ModeDir | 0o755}, "[a]*?\\/x": {mode: 0o644}, "[a]": {mode: 0o644}, "a": {mode: 0o644},
		"deep": {mode: fs.ModeDir | 0o755}, "deep/skip": {mode: 0o644}, "deep/file": {mode: 0o644}, "-name": {mode: 0o644},
	}
	s.apply(t, nil, tree.makes(dir, tree.names()...))
	got, _ := s.list(t, dir, dir+"/skip", dir+"/[a]*?\\", dir+"/deep/file", dir+"/none", dir+"/-name")
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"[a]", "a", "deep", "deep/skip", "keep", "skipper"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func (s *suite) testBulkRead(t *testing.T) {
	dir := s.dir(t)
	s.write(t, dir+"/real/file", "content")
	s.write(t, dir+"/empty", "")
	s.sh(t, dir, "ln -s real/file link; ln -s real linked; ln real/file second; mkfifo pipe; printf secret >closed; chmod 0 closed")
	names := []string{"real/file", "second", "empty", "none", "none/below", "real", "link", "linked/file", "pipe", "closed", "empty/below"}
	for i, name := range names {
		names[i] = dir + "/" + name
	}
	got := s.readFiles(t, names)
	for name, want := range map[string]string{"real/file": "content", "second": "content", "empty": ""} {
		if f := got[dir+"/"+name]; f.err != nil || f.content != want || f.Size != int64(len(want)) || f.Modified == 0 || !f.Mode.IsRegular() {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, name := range []string{"none", "none/below", "real", "link", "linked/file", "pipe", "empty/below"} {
		f := got[dir+"/"+name]
		if kind := sandbox.KindOf(f.err); kind == "" || f.content != "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if kind := sandbox.KindOf(got[dir+"/none"].err); kind != sandbox.KindNotFound {
		t.Errorf("what is not there is told as %q", kind)
	}
	// Root may read what is closed.
	if s.sh(t, dir, "cat closed 2>/dev/null || echo no") == "no\n" {
		wantKind(t, "a file that may not be read", got[dir+"/closed"].err, sandbox.KindDenied)
	} else if f := got[dir+"/closed"]; f.err != nil || f.content != "secret" {
		t.Errorf("a file that only root may read: %+v", f)
	}
	wanted := errors.New("enough")
	n := 0
	if err := s.bulk().ReadFiles(t.Context(), names, func(sandbox.FileRead) error { n++; return wanted }); !errors.Is(err, wanted) || n != 1 {
		t.Errorf("ReadFiles goes on after an error: %d files, %v", n, err)
	}
	// Content that is not read to its end is skipped.
	n = 0
	if err := s.bulk().ReadFiles(t.Context(), names, func(sandbox.FileRead) error { n++; return nil }); err != nil || n != len(names) {
		t.Errorf("without a look at the content: %d files, %v", n, err)
	}
	if err := s.bulk().ReadFiles(t.Context(), nil, func(sandbox.FileRead) error { return wanted }); err != nil {
		t.Errorf("of no names: %v", err)
	}
}

func (s *suite) testBulkDigests(t *testing.T) {
	dir := s.dir(t)
	s.write(t, dir+"/a", "1")
	s.write(t, dir+"/a\nb", "2")
	s.write(t, dir+"/sub/back\\slash", "3")
	s.write(t, dir+"/empty", "")
	s.sh(t, dir, "ln -s a link; ln -s sub linked")
	sum := func(text string) [32]byte { return sha256.Sum256([]byte(text)) }
	var none [32]byte
	names := []string{"sub/back\\slash", "none", "a\nb", "link", "a", "sub", "linked/back\\slash", "empty", "a"}
	want := [][32]byte{sum("3"), none, sum("2"), none, sum("1"), none, none, sum(""), sum("1")}
	for i, name := range names {
		names[i] = dir + "/" + name
	}
	got, err := s.bulk().Digests(t.Context(), names)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d digests, %v", len(got), err)
	}
	for i := range names {
		if got[i] != want[i] {
			t.Errorf("%q has %x, want %x", names[i], got[i], want[i])
		}
	}
	if got, err := s.bulk().Digests(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("of no names: %v, %v", got, err)
	}
}

func (s *suite) testBulkMany(t *testing.T) {
	dir := s.dir(t)
	tree := model{}
	for i := range 2000 {
		if i%100 == 0 {
			tree[fmt.Sprintf("folder %02d", i/100)] = node{mode: fs.ModeDir | 0o755}
		}
		tree[fmt.Sprintf("folder %02d/file %04d", i/100, i)] = node{mode: 0o644, content: fmt.Sprintf("content %d\n", i)}
	}
	s.apply(t, nil, tree.makes(dir, tree.names()...))
	s.same(t, dir, tree)
	var remove []string
	for _, name := range tree.names() {
		if !tree[name].mode.IsDir() && strings.HasSuffix(name, "7") {
			remove = append(remove, dir+"/"+name)
			delete(tree, name)
		}
	}
	s.apply(t, remove, nil)
	s.same(t, dir, tree)
}

func (s *suite) testBulkLarge(t *testing.T) {
	dir := s.dir(t)
	tree := model{"before": {mode: 0o644, content: "b"}, "big": {mode: 0o600, content: noise(5<<20 + 123)}, "zero": {mode: 0o644, content: string(bytes.Repeat([]byte{0}, 1<<20))}}
	s.apply(t, nil, tree.makes(dir, tree.names()...))
	s.same(t, dir, tree)
}

func (s *suite) testBulkCutOff(t *testing.T) {
	dir := s.dir(t)
	broken := errors.New("the source broke")
	// The list of what is to be made breaks off.
	err := s.bulk().Apply(t.Context(), nil, func(yield func(sandbox.Make, error) bool) {
		if yield(node{mode: 0o644, content: "x"}.make(dir+"/first"), nil) {
			yield(sandbox.Make{}, broken)
		}
	})
	if !errors.Is(err, broken) {
		t.Errorf("a list that breaks off: %v", err)
	}
	// A content does.
	half := node{mode: 0o644, content: strings.Repeat("x", 100_000)}.make(dir + "/half")
	half.Open = func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(&failing{data: "half of the", err: broken}), nil
	}
	whole := node{mode: 0o644, content: "whole"}
	makes := func(yield func(sandbox.Make, error) bool) {
		_ = yield(whole.make(dir+"/a"), nil) && yield(half, nil) && yield(whole.make(dir+"/z"), nil)
	}
	if err := s.bulk().Apply(t.Context(), nil, makes); !errors.Is(err, broken) {
		t.Errorf("a content that breaks off: %v", err)
	}
	// It is shorter or longer than it was said to be.
	for _, size := range []int64{3, 7} {
		wrong := whole.make(dir + "/wrong")
		wrong.Size = size
		err := s.bulk().Apply(t.Context(), nil, func(yield func(sandbox.Make, error) bool) { yield(wrong, nil) })
		if err == nil {
			t.Errorf("a content of 5 bytes is taken for one of %d", size)
		}
	}
	// And again, as after a crash.
	tree := model{"a": whole, "half": {mode: 0o644, content: "now whole"}, "first": whole, "wrong": whole, "z": whole}
	s.apply(t, nil, tree.makes(dir, tree.names()...))
	s.same(t, dir, tree)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.bulk().Apply(ctx, []string{dir + "/a"}, one(dir+"/b", whole)); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply with a context that ended: %v", err)
	}
	if _, err := s.bulk().List(ctx, nil, func(sandbox.Entry) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("List with a context that ended: %v", err)
	}
	s.same(t, dir, tree)
}

func (s *suite) testBulkBad(t *testing.T) {
	dir := s.dir(t)
	s.write(t, dir+"/kept", "kept")
	file := node{mode: 0o644, content: "x"}
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", dir + "/../../x", dir + "/nul\x00byte"} {
		bulk := s.bulk()
		if err := bulk.Apply(t.Context(), []string{name}, func(func(sandbox.Make, error) bool) {}); sandbox.KindOf(err) == "" {
			t.Errorf("removing %q: %v", name, err)
		}
		if err := bulk.Apply(t.Context(), nil, one(name, file)); sandbox.KindOf(err) == "" {
			t.Errorf("making %q: %v", name, err)
		}
	}
	if err := s.bulk().Apply(t.Context(), nil, one(dir+"/fifo", node{mode: fs.ModeNamedPipe | 0o644})); sandbox.KindOf(err) == "" {
		t.Errorf("making a FIFO: %v", err)
	}
	if got := s.read(t, dir+"/kept"); got != "kept" {
		t.Errorf("the file holds %q", got)
	}
	if s.exists(t, dir+"/fifo") {
		t.Error("there is a FIFO")
	}
}
