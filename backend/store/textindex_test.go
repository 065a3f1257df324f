package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func newIndex(t testing.TB) *TextIndex {
	t.Helper()
	x := NewTextIndex(t.TempDir())
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func add(t testing.TB, x *TextIndex, source string, rev int64, docs ...Doc) {
	t.Helper()
	if err := x.Add(t.Context(), source, rev, docs...); err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, x *TextIndex, before int64, limit int, terms ...string) []string {
	t.Helper()
	found, err := x.Find(t.Context(), terms, before, limit)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range found {
		out = append(out, f.Key)
	}
	return out
}

func TestTextIndex(t *testing.T) {
	x := newIndex(t)
	if source, rev, err := x.Mark(t.Context()); source != "" || rev != 0 || err != nil {
		t.Errorf("mark of an empty index: %q, %d, %v", source, rev, err)
	}
	add(t, x, "a", 7,
		Doc{"s.1", "The Quick brown fox"}, Doc{"s.2", "ÜBERSCHRIFT \"quoted\" text"},
		Doc{"t.1", "编译器出错 quick"}, Doc{"t.2", ""}, Doc{"u%.1", "bad \xff bytes -rf\n"})
	if source, rev, err := x.Mark(t.Context()); source != "a" || rev != 7 || err != nil {
		t.Errorf("mark: %q, %d, %v", source, rev, err)
	}
	for _, c := range []struct {
		terms []string
		want  []string
	}{
		{[]string{"quick"}, []string{"t.1", "s.1"}},
		{[]string{"UICK", "fox"}, []string{"s.1"}},
		{[]string{"überschrift"}, []string{"s.2"}},
		{[]string{`"quoted"`}, []string{"s.2"}},
		{[]string{"编译器"}, []string{"t.1"}},
		{[]string{"-rf"}, []string{"u%.1"}},
		{[]string{"nothing of it"}, []string{}},
		{[]string{"NOT", "OR"}, []string{}},
		{[]string{"qu"}, []string{"u%.1", "t.2", "t.1", "s.2", "s.1"}},
		{nil, []string{"u%.1", "t.2", "t.1", "s.2", "s.1"}},
	} {
		if got := find(t, x, 0, 10, c.terms...); !slices.Equal(got, c.want) {
			t.Errorf("find %q: %q, want %q", c.terms, got, c.want)
		}
	}
	page, err := x.Find(t.Context(), []string{"quick"}, 0, 1)
	if err != nil || len(page) != 1 {
		t.Fatal(page, err)
	}
	if got := find(t, x, page[0].At, 10, "quick"); !slices.Equal(got, []string{"s.1"}) {
		t.Errorf("the next page: %q", got)
	}

	for prefix, want := range map[string][]string{"s.": {"s.1"}, "t.": {"t.1"}, "u%.": nil, "x": nil} {
		found, err := x.FindUnder(t.Context(), prefix, []string{"quick"}, 10)
		if err != nil || len(found) != len(want) || len(found) == 1 && found[0].Key != want[0] {
			t.Errorf("find under %q: %+v, %v", prefix, found, err)
		}
	}
	if found, err := x.FindUnder(t.Context(), "s.", []string{"qu"}, 1); err != nil || len(found) != 1 || found[0].Key != "s.2" {
		t.Errorf("find any under s.: %+v, %v", found, err)
	}

	add(t, x, "a", 8, Doc{"s.1", "replaced"})
	if got := find(t, x, 0, 10, "quick"); !slices.Equal(got, []string{"t.1"}) {
		t.Errorf("after replacing: %q", got)
	}
	if err := x.Remove(t.Context(), "s."); err != nil {
		t.Fatal(err)
	}
	if got := find(t, x, 0, 10); !slices.Equal(got, []string{"u%.1", "t.2", "t.1"}) {
		t.Errorf("after removing: %q", got)
	}
	add(t, x, "another", 1, Doc{"n.1", "new source"})
	if got := find(t, x, 0, 10); !slices.Equal(got, []string{"n.1"}) {
		t.Errorf("of another source: %q", got)
	}
}

func TestGrams(t *testing.T) {
	for _, c := range []struct {
		terms []string
		want  string
	}{
		{nil, ""},
		{[]string{"ab", ""}, ""},
		{[]string{"abc"}, `"abc"`},
		{[]string{"abcd"}, `"abc" AND "bcd"`},
		{[]string{"abcdef", "äöü"}, `"abc" AND "def" AND "äöü"`},
		{[]string{`a"b`}, `"a""b"`},
		{[]string{strings.Repeat("x", 100)}, strings.TrimSuffix(strings.Repeat(`"xxx" AND `, maxGrams), " AND ")},
	} {
		if got := grams(c.terms); got != c.want {
			t.Errorf("%q: %s, want %s", c.terms, got, c.want)
		}
	}
}

func TestTextIndexStays(t *testing.T) {
	dir := t.TempDir()
	x := NewTextIndex(dir)
	add(t, x, "a", 3, Doc{"s.1", "kept text"})
	y := NewTextIndex(dir) // another process
	add(t, y, "a", 4, Doc{"s.2", "kept as well"})
	if got := find(t, x, 0, 10, "kept"); !slices.Equal(got, []string{"s.2", "s.1"}) {
		t.Errorf("both: %q", got)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if err := y.Close(); err != nil {
		t.Fatal(err)
	}
	if got := find(t, x, 0, 10, "kept"); !slices.Equal(got, []string{"s.2", "s.1"}) {
		t.Errorf("after reopening: %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, indexName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: %v, %v", info.Mode(), err)
	}
	_ = x.Close()
}

func TestDamagedTextIndexIsMadeAnew(t *testing.T) {
	for name, content := range map[string]string{
		"garbage": strings.Repeat("garbage ", 2000),
		"short":   "SQLite",
	} {
		x := newIndex(t)
		if err := os.WriteFile(x.path(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if source, rev, err := x.Mark(t.Context()); source != "" || rev != 0 || err != nil {
			t.Errorf("%s: mark: %q, %d, %v", name, source, rev, err)
		}
		add(t, x, "a", 1, Doc{"s.1", "works again"})
		if got := find(t, x, 0, 10, "works"); !slices.Equal(got, []string{"s.1"}) {
			t.Errorf("%s: find: %q", name, got)
		}
	}
}

// BenchmarkFind searches what 300 sessions of 200 turns leave behind.
func BenchmarkFind(b *testing.B) {
	x := newIndex(b)
	words := strings.Fields("build test error file function return value server client handle request config module version release update compile install package format")
	var docs []Doc
	bytes := 0
	for n := range 60_000 {
		var text strings.Builder
		for i := range 60 {
			h := uint32(n*2654435761+i*40503) ^ uint32(n*i+i*i*7919)
			fmt.Fprintf(&text, "%s%x ", words[h%uint32(len(words))], h>>7%997)
		}
		bytes += text.Len()
		docs = append(docs, Doc{fmt.Sprintf("%08d-0000-4000-8000-%012d.%d", n/200, n/200, n%200), text.String()})
		if len(docs) == 2000 {
			add(b, x, "a", int64(n), docs...)
			docs = nil
		}
	}
	_ = x.Close()
	if info, err := os.Stat(x.path()); err == nil {
		fmt.Printf("%d bytes of text a document, %d bytes of index\n", bytes/60_000, info.Size()/60_000)
	}
	for _, term := range []string{"function", "compile1a3", "release12 version7", "xyzzy"} {
		b.Run(term, func(b *testing.B) {
			for b.Loop() {
				find(b, x, 0, 200, strings.Fields(term)...)
			}
		})
	}
}

func BenchmarkAddOne(b *testing.B) {
	x := newIndex(b)
	for n := 0; b.Loop(); n++ {
		add(b, x, "a", int64(n), Doc{fmt.Sprint("s.", n), string(text(1500, n))})
	}
}
