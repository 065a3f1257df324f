package sandboxtest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
)

func (s *suite) testBulkApply(t *testing.T) {
	dir := s.dir(t)
	folder, text := node{mode: fs.ModeDir | 0o755}, func(content string) node { return node{mode: 0o644, content: content} }
	tree := model{"file": text("1"), "folder": folder, "folder/in": text("2"), "folder/sub": folder, "folder/sub/deep": text("3"), "link": {mode: fs.ModeSymlink | 0o777, target: "file"}, "empty": text("")}
	s.apply(t, nil, tree.makes(dir, tree.names()...))
	s.same(t, dir, tree)
	// A folder is kept with what is in it; its mode changes.
	tree["folder"] = node{mode: fs.ModeDir | 0o700}
	s.apply(t, nil, tree.makes(dir, "folder"))
	s.same(t, dir, tree)
	// Each kind replaces each other, and back.
	for _, n := range []node{text("a file"), {mode: fs.ModeSymlink | 0o777, target: "folder"}, folder, text("again"), folder, {mode: fs.ModeSymlink | 0o777, target: "/"}, text("over a link to a folder"), {mode: fs.ModeSymlink | 0o777, target: "nowhere"}, {mode: fs.ModeSymlink | 0o777, target: "elsewhere"}, folder} {
		tree["thing"] = n
		s.apply(t, nil, tree.makes(dir, "thing"))
		s.same(t, dir, tree)
	}
	tree["thing/in"], tree["thing/sub"], tree["thing/sub/x"] = text("x"), folder, text("y")
	s.apply(t, nil, tree.makes(dir, "thing/in", "thing/sub", "thing/sub/x"))
	s.same(t, dir, tree)
	// A folder that is not empty gives way as a whole.
	delete(tree, "thing/in")
	delete(tree, "thing/sub")
	delete(tree, "thing/sub/x")
	tree["thing"] = text("in place of a folder")
	s.apply(t, nil, tree.makes(dir, "thing"))
	s.same(t, dir, tree)
	// Removals come first; what is not there is removed already.
	delete(tree, "folder/sub")
	delete(tree, "folder/sub/deep")
	delete(tree, "link")
	s.apply(t, []string{dir + "/folder/sub/deep", dir + "/folder/sub", dir + "/link", dir + "/none", dir + "/none/below", dir + "/file/below"}, nil)
	s.same(t, dir, tree)
	delete(tree, "folder/in")
	tree["folder"], tree["folder/new"] = folder, text("new")
	s.apply(t, []string{dir + "/folder"}, tree.makes(dir, "folder", "folder/new"))
	s.same(t, dir, tree)
	s.apply(t, nil, nil)
	s.same(t, dir, tree)
	// What is made belongs to whom commands run as.
	if got := s.sh(t, dir, `set -- $(ls -lnd folder/new); echo x >mine; a=$3/$4; set -- $(ls -lnd mine); [ "$a" = "$3/$4" ] || echo "$a, mine $3/$4"`); got != "" {
		t.Errorf("what Apply makes belongs to %s", got)
	}
}

func (s *suite) testBulkModes(t *testing.T) {
	dir := s.dir(t)
	tree := model{
		"locked": {mode: fs.ModeDir | 0o555}, "locked/sub": {mode: fs.ModeDir | 0o500}, "locked/sub/file": {mode: 0o400, content: "deep"}, "locked/file": {mode: 0o444, content: "x"},
		"run": {mode: 0o755, content: "#!/bin/sh\necho ran\n"}, "closed": {mode: 0o600, content: "y"}, "open": {mode: 0o666, content: "z"},
		"shared": {mode: fs.ModeDir | fs.ModeSticky | 0o777}, "setuid": {mode: fs.ModeSetuid | 0o755, content: "s"},
	}
	s.apply(t, nil, tree.makes(dir, tree.names()...))
	s.same(t, dir, tree)
	if got := s.sh(t, dir, "./run"); got != "ran\n" {
		t.Errorf("run, it prints %q", got)
	}
	// What may not be written is written all the same, and is as it was after.
	tree["locked/new"] = node{mode: 0o644, content: "new"}
	tree["locked/file"] = node{mode: 0o444, content: "changed"}
	s.apply(t, nil, tree.makes(dir, "locked/new", "locked/file"))
	s.same(t, dir, tree)
	delete(tree, "locked/sub/file")
	s.apply(t, []string{dir + "/locked/sub/file"}, nil)
	s.same(t, dir, tree)
	delete(tree, "locked/sub")
	s.apply(t, []string{dir + "/locked/sub"}, nil)
	s.same(t, dir, tree)

	then := time.Date(2001, 2, 3, 4, 5, 6, 789_000_000, time.UTC).UnixNano()
	old, fresh := tree["run"].make(dir+"/run"), tree["run"].make(dir+"/open")
	old.Modified, fresh.Mode = then, 0o666
	tree["open"] = node{mode: 0o666, content: tree["run"].content}
	s.apply(t, nil, func(yield func(sandbox.Make, error) bool) { _ = yield(old, nil) && yield(fresh, nil) })
	s.same(t, dir, tree)
	got, listing := s.list(t, dir)
	// Not every system keeps parts of seconds.
	if m := got["run"].Modified; m != then && m != then/1e9*1e9 {
		t.Errorf("the time is %v, want %v", time.Unix(0, m).UTC(), time.Unix(0, then).UTC())
	}
	if d := listing.Begun.Sub(time.Unix(0, got["open"].Modified)); d < -5*time.Second || d > s.Patience {
		t.Errorf("without a time it is %v old", d)
	}
	if err := s.sb.Files().RemoveAll(t.Context(), dir); err != nil {
		t.Errorf("RemoveAll of folders that may not be written: %v", err)
	}
}

func (s *suite) testBulkLinks(t *testing.T) {
	dir := s.dir(t)
	outside := strings.TrimSpace(s.sh(t, "", "mktemp -d"))
	defer s.sh(t, "", "rm -rf '"+outside+"'")
	s.sh(t, "", "cd '"+outside+"'; printf secret >secret; mkdir sub; printf deep >sub/deep")
	untouched := func(after string) {
		t.Helper()
		if got := s.sh(t, "", "cd '"+outside+"'; cat secret sub/deep; find . | sort"); got != "secretdeep.\n./secret\n./sub\n./sub/deep\n" {
			t.Fatalf("after %s, outside there is %q", after, got)
		}
	}
	reset := func() {
		t.Helper()
		s.sh(t, dir, "rm -rf ./*; mkdir real; echo in >real/file; ln -s '"+outside+"' out; ln -s '"+outside+"/secret' secret; ln -s real inner; ln -s '"+outside+"/sub' real/out")
	}
	reset()
	got, _ := s.list(t, dir)
	if len(got) != 6 || got["out"].Target != outside {
		t.Errorf("links are followed: %v", got)
	}
	for name, f := range s.readFiles(t, []string{dir + "/out/secret", dir + "/secret", dir + "/inner/file", dir + "/real/out/deep", dir + "/real/file"}) {
		if name == dir+"/real/file" {
			if f.err != nil || f.content != "in\n" {
				t.Errorf("%s: %+v", name, f)
			}
		} else if f.err == nil || f.content != "" {
			t.Errorf("%s is read through a link: %q", name, f.content)
		}
	}
	sums, err := s.bulk().Digests(t.Context(), []string{dir + "/out/secret", dir + "/secret", dir + "/inner/file", dir + "/real/out/deep"})
	for i, sum := range sums {
		if err != nil || sum != [32]byte{} {
			t.Errorf("digest %d is taken through a link: %x, %v", i, sum, err)
		}
	}
	s.apply(t, []string{dir + "/out/secret", dir + "/out/sub", dir + "/real/out/deep", dir + "/inner/file"}, nil)
	untouched("removing through links")
	if got := s.read(t, dir+"/real/file"); got != "in\n" {
		t.Errorf("a file was removed through a link: %q", got)
	}
	s.apply(t, []string{dir + "/out", dir + "/secret"}, nil)
	untouched("removing links")

	file, folder := node{mode: 0o644, content: "written"}, node{mode: fs.ModeDir | 0o755}
	reset()
	tree := model{"out": folder, "out/secret": file, "out/sub": folder, "out/sub/deep": file, "secret": file}
	s.apply(t, nil, tree.makes(dir, tree.names()...))
	untouched("making a folder where a link is")
	if got := s.read(t, dir+"/out/sub/deep") + s.read(t, dir+"/secret"); got != "writtenwritten" {
		t.Errorf("in the folder there is %q", got)
	}
	reset()
	s.apply(t, []string{dir + "/out/secret"}, tree.makes(dir, tree.names()...))
	untouched("removing through a link that becomes a folder")
	reset()
	// Without the folder on the way, there is no way.
	for _, name := range []string{"out/new", "out/secret", "inner/new", "real/out/new"} {
		if err := s.bulk().Apply(t.Context(), nil, one(dir+"/"+name, file)); err == nil && !s.plain(t, dir, path.Dir(name)) {
			t.Errorf("%s is made through a link", name)
		}
	}
	untouched("making through links")
}

// plain tells whether there is a folder, and no link.
func (s *suite) plain(t *testing.T, dir, name string) bool {
	t.Helper()
	info, err := s.sb.Files().Stat(t.Context(), dir+"/"+name)
	return err == nil && info.Mode.IsDir()
}

func (s *suite) testBulkRandom(t *testing.T) {
	dir := s.dir(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	parts := append(slices.Clone(oddNames), "a", "b", "c.txt", ".git", "é", "e\u0301", "\u212b", "\u00c5", "-", "--help", "line\n", "\n", "trailing ", "tab\t")
	tree := model{}
	for round := range 4 {
		// Some go, with all that is below them.
		var remove []string
		gone := map[string]bool{}
		for _, name := range tree.names() {
			if rng.IntN(6) == 0 {
				remove = append(remove, dir+"/"+name)
				gone[name] = true
			}
		}
		tree.drop(func(name string) bool { return gone[name] })
		changed := map[string]bool{}
		for range 60 {
			name := parts[rng.IntN(len(parts))]
			if parents := tree.folders(); len(parents) > 0 && rng.IntN(3) > 0 {
				name = parents[rng.IntN(len(parents))] + "/" + name
			}
			// What is in a folder that something else takes the place of would still be
			// there after another turn to a folder: an Apply knows the last one only.
			if len(dir)+len(name) > 3000 || changed[name] {
				continue
			}
			n := randomNode(rng)
			if !n.mode.IsDir() {
				tree.drop(func(other string) bool { return other == name })
			}
			tree[name] = n
			changed[name] = true
		}
		var make []string
		for name := range changed {
			if _, ok := tree[name]; ok {
				make = append(make, name)
			}
		}
		s.apply(t, remove, tree.makes(dir, make...))
		s.same(t, dir, tree)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// drop removes what is and all that is below it.
func (m model) drop(is func(string) bool) {
	for name := range m {
		for at := name; at != "."; at = path.Dir(at) {
			if is(at) {
				delete(m, name)
				break
			}
		}
	}
}

func (m model) folders() []string {
	var out []string
	for _, name := range m.names() {
		if m[name].mode.IsDir() {
			out = append(out, name)
		}
	}
	return out
}

func randomNode(rng *rand.Rand) node {
	switch rng.IntN(8) {
	case 0, 1, 2:
		return node{mode: fs.ModeDir | []fs.FileMode{0o755, 0o755, 0o700, 0o555, 0o775}[rng.IntN(5)]}
	case 3:
		targets := []string{"a", "../..", "/etc/passwd", "no\nwhere", "\xff\xfe", strings.Repeat("long/", 60), "' -> '", "//\n", "-rf"}
		return node{mode: fs.ModeSymlink | 0o777, target: targets[rng.IntN(len(targets))]}
	}
	content := ""
	for range rng.IntN(4) {
		content += fmt.Sprintf("line %d\n\x00", rng.IntN(1000)) + strings.Repeat("x", rng.IntN(3000))
	}
	return node{mode: []fs.FileMode{0o644, 0o644, 0o600, 0o755, 0o444, 0o664}[rng.IntN(6)], content: content}
}
