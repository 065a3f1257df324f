package transcript

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

func indexed(t testing.TB) *Transcript {
	t.Helper()
	dir := t.TempDir()
	s := openStore(t, dir)
	x := store.NewTextIndex(dir)
	t.Cleanup(func() { _ = x.Close() })
	return patient(New(s, WithIndex(x)))
}

// patient lets searches take their time, however slow the machine is.
func patient(tr *Transcript) *Transcript {
	tr.searchFor = time.Minute
	return tr
}

// session commits a conversation of (user, assistant) pairs and saves it.
func session(t testing.TB, tr *Transcript, id, title string, used time.Duration, said ...string) protocol.Session {
	t.Helper()
	head := store.ID("")
	for n := 0; n < len(said); n += 2 {
		turn := ref(id, n/2+1, head)
		write(t, tr, turn, user(0, said[n]), toolItem(1, protocol.ToolDone, "printed: xylophone"), assistant(2, said[n+1]))
		head = commit(t, tr, turn)
	}
	s := protocol.Session{ID: id, Version: 1, Title: title, Head: string(head), Updated: epoch.Add(used)}
	save(t, tr, s)
	return s
}

func find(t testing.TB, tr *Transcript, query string) []protocol.SearchHit {
	t.Helper()
	hits, err := tr.Search(t.Context(), query, 0)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func TestSearch(t *testing.T) {
	for name, tr := range map[string]*Transcript{"with an index": indexed(t), "without one": patient(newTranscript(t))} {
		a := session(t, tr, "a", "Fix the Build", time.Hour, "the tests fail with ENOSPC", "Freed some room.", "thanks", "You are welcome. Straße und Über.")
		session(t, tr, "b", "Notes", 2*time.Hour, "修复编译器错误 please", "The compiler is fixed; the build\nis green.")
		open := protocol.Session{ID: "c", Version: 1, Title: "Under way", Updated: epoch, Turn: &protocol.OpenTurn{ID: "c.1"}}
		save(t, tr, open)
		write(t, tr, ref("c", 1, ""), user(0, "draw a zeppelin"))

		for query, want := range map[string][]protocol.SearchHit{
			"BUILD":              {{SessionID: "a", Title: "Fix the Build"}, {SessionID: "b", Title: "Notes", Item: "b.1/000002", Snippet: "The compiler is fixed; the build is green."}},
			"build green":        {{SessionID: "b", Title: "Notes", Item: "b.1/000002", Snippet: "The compiler is fixed; the build is green."}},
			"enospc room":        {{SessionID: "a", Title: "Fix the Build", Item: "a.1/000000", Snippet: "the tests fail with ENOSPC"}},
			"über":               {{SessionID: "a", Title: "Fix the Build", Item: "a.2/000002", Snippet: "You are welcome. Straße und Über."}},
			"编译":                 {{SessionID: "b", Title: "Notes", Item: "b.1/000000", Snippet: "修复编译器错误 please"}},
			"编译器错误":              {{SessionID: "b", Title: "Notes", Item: "b.1/000000", Snippet: "修复编译器错误 please"}},
			"make":               {{SessionID: "b", Title: "Notes", Item: "b.1/000001", Snippet: "make"}, {SessionID: "a", Title: "Fix the Build", Item: "a.2/000001", Snippet: "make"}},
			"zepp":               {{SessionID: "c", Title: "Under way", Item: "c.1/000000", Snippet: "draw a zeppelin"}},
			"xylophone":          {}, // what other tools than commands return is not searched
			"enospc thanks":      {}, // not in one turn
			"  ":                 {},
			`" OR 1=1 -- * NEAR`: {},
		} {
			if got := find(t, tr, query); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %q: %+v\nwant %+v", name, query, got, want)
			}
		}
		// A turn that was rewound is not found any more.
		first := ancestor(t, tr, store.ID(a.Head), 1)
		a.Version, a.Head = 2, string(first)
		save(t, tr, a)
		if got := find(t, tr, "welcome"); len(got) != 0 {
			t.Errorf("%s: a rewound turn is found: %+v", name, got)
		}
		// A fork is found by what it shares once the original is gone.
		save(t, tr, protocol.Session{ID: "d", Version: 1, Title: "Fork", Parent: "a", Head: string(first), Updated: epoch})
		if err := tr.RemoveSession(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got := find(t, tr, "enospc"); len(got) != 1 || got[0].SessionID != "d" || got[0].Item != "a.1/000000" {
			t.Errorf("%s: the fork: %+v", name, got)
		}
		if err := tr.RemoveSession(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if got := find(t, tr, "compiler"); len(got) != 0 {
			t.Errorf("%s: a removed session is found: %+v", name, got)
		}
	}
}

func TestSearchCatchesUp(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	// Made by a process without the index, as after an index was lost.
	session(t, New(s), "a", "Title", 0, "find the walrus", "ok")
	x := store.NewTextIndex(dir)
	defer func() { _ = x.Close() }()
	tr := patient(New(s, WithIndex(x)))
	if got := find(t, tr, "walrus"); len(got) != 1 {
		t.Errorf("a turn of before the index: %+v", got)
	}
	source, rev, err := x.Mark(t.Context())
	if err != nil || source == "" || rev == 0 {
		t.Fatal(source, rev, err)
	}
	// An index of another store, which has counted further.
	if err := x.Add(t.Context(), "another store", rev+1000, store.Doc{Key: "z.1", Text: "of another store"}); err != nil {
		t.Fatal(err)
	}
	if got := find(t, patient(New(s, WithIndex(x))), "walrus"); len(got) != 1 {
		t.Errorf("after another store's: %+v", got)
	}
	if err := New(s).Reindex(t.Context()); err != nil {
		t.Errorf("reindex without an index: %v", err)
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("lorem ipsum ", 30)
	for _, c := range []struct{ text, term, want string }{
		{"short", "short", "short"},
		{"İstanbul İ and then NEEDLE", "needle", "İstanbul İ and then NEEDLE"},
		{"bad \xff byte needle", "needle", "bad \uFFFD byte needle"},
		{"no match", "zzz", "no match"},
	} {
		if got := snippet(c.text, []string{c.term}); got != c.want {
			t.Errorf("snippet of %q: %q, want %q", c.text, got, c.want)
		}
	}
	got := snippet(long+"İİİneedle"+long, []string{"needle"})
	if !strings.Contains(got, "needle") || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") || len([]rune(got)) > 2*snippetRunes+2 {
		t.Errorf("snippet of a long text: %q", got)
	}
}

// A session with many turns that match does not hide the others.
func TestSearchOfCommonWords(t *testing.T) {
	tr := indexed(t)
	session(t, tr, "other", "", time.Hour, "a common word", "ok")
	var said []string
	for range candidates + 5 {
		said = append(said, "common word", "ok")
	}
	session(t, tr, "long", "", 0, said...)
	hits := find(t, tr, "common")
	if len(hits) != 2 || hits[0].SessionID != "long" || hits[1].SessionID != "other" {
		t.Errorf("%+v", hits)
	}
	// Out of time, it returns what it has.
	tr.searchFor = 0
	if hits := find(t, tr, "common"); len(hits) != 0 {
		t.Errorf("without any time: %+v", hits)
	}
}

func TestSearchLimit(t *testing.T) {
	tr := indexed(t)
	for n := range 5 {
		session(t, tr, fmt.Sprint("s", n), "", time.Duration(n), "common word", "ok")
	}
	hits, err := tr.Search(t.Context(), "common", 3)
	if err != nil || len(hits) != 3 || hits[0].SessionID != "s4" {
		t.Errorf("%+v, %v", hits, err)
	}
}

func TestSearchWhatCommandsPrinted(t *testing.T) {
	for name, tr := range map[string]*Transcript{"with an index": indexed(t), "without one": patient(newTranscript(t))} {
		turn := ref("a", 1, "")
		filler := strings.Repeat("compiling something\n", 1000)
		command := func(seq int, line, output string) protocol.Item {
			i := toolItem(seq, protocol.ToolDone, output)
			i.Tool.Ask.Title, i.Tool.Ask.Detail = "make …", line
			i.Tool.Result.Log = fmt.Sprintf("a.1-%06d", seq)
			return i
		}
		items := []protocol.Item{user(0, "make it"), command(1, "make all --directory=giraffe", "begins with an aardvark\n"+filler+"undefined reference to `walrus'\n")}
		for n := range 30 { // more than counts of one turn
			items = append(items, command(2+n, "make", filler))
		}
		items = append(items, assistant(32, "It is a linker error of a pelican."))
		write(t, tr, turn, items...)
		head := commit(t, tr, turn)
		save(t, tr, protocol.Session{ID: "a", Version: 1, Title: "Title", Head: string(head), Updated: epoch})

		for query, item := range map[string]string{
			"aardvark": "a.1/000001", "Undefined Reference": "a.1/000001", "giraffe": "a.1/000001",
			"pelican": "a.1/000032", "walrus linker": "a.1/000032",
		} {
			if got := find(t, tr, query); len(got) != 1 || got[0].Item != item || got[0].Snippet == "" {
				t.Errorf("%s: %q: %+v, want item %s", name, query, got, item)
			}
		}
	}
}
