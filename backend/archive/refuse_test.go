package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/transcript"
)

// refused fails unless an archive is refused, as one that is not sound.
func refused(t *testing.T, what string, data []byte) {
	t.Helper()
	if head, err := read(t.Context(), data); !errors.Is(err, ErrInvalid) || head.ID != "" {
		t.Errorf("%s: %+v, %v", what, head, err)
	}
}

func TestRefusedForms(t *testing.T) {
	p := small(t)
	head := p.text(t)
	object := []byte("an object")
	for name, data := range map[string][]byte{
		"nothing":          {},
		"a text":           []byte("Hello, this is a letter and no session at all."),
		"a picture":        append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 100)...),
		"only a beginning": []byte(magic),
		"sent as text":     bytes.Replace(p.build(t), []byte("\r\n"), []byte("\n"), 1),
		"not packed":       append([]byte(magic), head...),
		"nothing packed":   stream(t, func(*frameWriter) {}),
		"an end":           stream(t, func(w *frameWriter) { _ = w.end() }),
		"no end":           stream(t, func(w *frameWriter) { _ = w.frame(frameHead, head) }),
		"no head":          stream(t, func(w *frameWriter) { _ = errors.Join(w.object(object), w.end()) }),
		"a late head":      stream(t, func(w *frameWriter) { _ = errors.Join(w.object(object), w.frame(frameHead, head), w.end()) }),
		"two heads":        stream(t, func(w *frameWriter) { _ = errors.Join(w.frame(frameHead, head), w.frame(frameHead, head), w.end()) }),
		"an unknown part":  stream(t, func(w *frameWriter) { _ = errors.Join(w.frame(frameHead, head), w.frame('X', object), w.end()) }),
		"a wrong count": stream(t, func(w *frameWriter) {
			w.objects = 1
			_ = errors.Join(w.frame(frameHead, head), w.end())
		}),
		"a wrong sum": stream(t, func(w *frameWriter) {
			_ = errors.Join(w.frame(frameHead, head), w.frame(frameEnd, make([]byte, 8+sha256.Size)))
		}),
		"a short end": stream(t, func(w *frameWriter) { _ = errors.Join(w.frame(frameHead, head), w.frame(frameEnd, make([]byte, 8))) }),
		"a long end":  stream(t, func(w *frameWriter) { _ = errors.Join(w.frame(frameHead, head), w.frame(frameEnd, make([]byte, 100))) }),
		"more after the end": stream(t, func(w *frameWriter) {
			_ = errors.Join(w.frame(frameHead, head), w.end0(), w.object(object))
		}),
		"more after the packing": append(p.build(t), "more"...),
		"two in one":             append(p.build(t), p.build(t)...),
		"a length that lies": stream(t, func(w *frameWriter) {
			_, _ = w.zip.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(head)+1)))
			_, _ = w.zip.Write(append([]byte{frameHead}, head...))
		}),
	} {
		refused(t, name, data)
	}
}

// end0 writes the end without closing the stream.
func (w *frameWriter) end0() error {
	return w.frame(frameEnd, w.hash.Sum(binary.LittleEndian.AppendUint64(nil, w.objects)))
}

func TestRefusedHeads(t *testing.T) {
	p := small(t)
	for name, change := range map[string]func(h *Head){
		"no version":            func(h *Head) { h.Version = 0 },
		"no content":            func(h *Head) { h.Commit, h.Snapshot, h.Turns = "", "", 0 },
		"fewer turns":           func(h *Head) { h.Turns-- },
		"more turns":            func(h *Head) { h.Turns = 1 << 40 },
		"negative turns":        func(h *Head) { h.Turns = -1 },
		"turns of nothing":      func(h *Head) { h.Commit = "" },
		"a long title":          func(h *Head) { h.Title = strings.Repeat("t", 1001) },
		"a commit that is none": func(h *Head) { h.Commit = h.Snapshot },
		"files that are none":   func(h *Head) { h.Snapshot = h.Commit },
		"no id":                 func(h *Head) { h.Commit = "../../x" },
		"no id of files":        func(h *Head) { h.Snapshot = "x" },
	} {
		c := p.clone()
		change(&c.head)
		refused(t, name, c.build(t))
	}
	refused(t, "no JSON", stream(t, func(w *frameWriter) { _ = errors.Join(w.frame(frameHead, []byte("{")), w.end()) }))

	p.head.Version = Version + 1
	if _, err := read(t.Context(), p.build(t)); !errors.Is(err, ErrNewer) || errors.Is(err, ErrInvalid) {
		t.Errorf("a newer head: %v", err)
	}
	if _, err := read(t.Context(), []byte("TSA 2\r\n\x1aanything")); !errors.Is(err, ErrNewer) || errors.Is(err, ErrInvalid) {
		t.Errorf("a newer form: %v", err)
	}
}

// Every object must be there, and be what its name says, whatever else is in the
// store; and there must be no others.
func TestRefusedObjects(t *testing.T) {
	e := export(t)
	p := take(t, e.data)
	if _, err := read(t.Context(), p.build(t)); err != nil {
		t.Fatalf("put together in another order: %v", err)
	}
	n := 0
	for id := range p.objects {
		if n++; n > 3 { // in no order: each time others
			break
		}
		c := p.clone()
		delete(c.objects, id)
		if _, err := Read(t.Context(), bytes.NewReader(c.build(t)), e.store, transcript.New(e.store)); !errors.Is(err, ErrInvalid) {
			t.Errorf("without an object that is in the store: %v", err)
		}
	}
	p = small(t)
	for id, data := range p.objects {
		c := p.clone()
		delete(c.objects, id)
		refused(t, "without an object", c.build(t))
		changed := bytes.Clone(data)
		changed[len(changed)/2] ^= 1
		c.put(changed)
		refused(t, "another content", c.build(t))
	}
	c := p.clone()
	c.put([]byte("nobody needs it"))
	refused(t, "an object too many", c.build(t))
	c = p.clone()
	twice := c.objects[c.head.Snapshot]
	refused(t, "an object twice", stream(t, func(w *frameWriter) {
		_ = w.frame(frameHead, c.text(t))
		for _, data := range c.objects {
			_ = w.object(data)
		}
		_ = errors.Join(w.object(twice), w.end())
	}))
}

func TestRefusedConversations(t *testing.T) {
	p := take(t, export(t).data)
	same := p.clone()
	same.rechain(t, func(int, *transcript.Commit) {})
	if same.head.Commit != p.head.Commit {
		t.Fatal("a chain made anew is another one")
	}
	p = small(t)
	for name, change := range map[string]func(i int, c *transcript.Commit){
		"all further on":          func(_ int, c *transcript.Commit) { c.Index++ },
		"a gap":                   func(i int, c *transcript.Commit) { c.Index += i / 4 },
		"no index":                func(i int, c *transcript.Commit) { c.Index *= min(i-1, 1) },
		"negative":                func(_ int, c *transcript.Commit) { c.Index = -c.Index },
		"a skip to another":       func(i int, c *transcript.Commit) { c.SkipIndex -= i / 7 },
		"a skip to nowhere":       func(i int, c *transcript.Commit) { c.Skip = store.Sum([]byte("nowhere")) },
		"a skip to itself":        func(i int, c *transcript.Commit) { c.SkipIndex = c.Index },
		"a negative skip":         func(i int, c *transcript.Commit) { c.SkipIndex = -1 },
		"more turns than lines":   func(i int, c *transcript.Commit) { c.Turns += i },
		"fewer turns than before": func(i int, c *transcript.Commit) { c.Turns -= 2 * (i / 6) },
		"negative turns":          func(i int, c *transcript.Commit) { c.Turns = -1 },
		"a summary to come":       func(i int, c *transcript.Commit) { c.SummaryAt = 100 },
		"a summary that is none":  func(i int, c *transcript.Commit) { c.SummaryAt = i / 7 * 2 },
		"a negative summary":      func(i int, c *transcript.Commit) { c.SummaryAt = -1 },
		"no chunks":               func(i int, c *transcript.Commit) { c.Chunks = nil },
		"a chunk twice":           func(i int, c *transcript.Commit) { c.Chunks = append(c.Chunks, c.Chunks...); c.Items *= 2 },
		"a chunk without a name":  func(i int, c *transcript.Commit) { c.Chunks[0].ID = "x" },
		"a chunk that is none":    func(i int, c *transcript.Commit) { c.Chunks[0].ID = store.ID(c.Snapshot) },
		"a negative count":        func(i int, c *transcript.Commit) { c.Chunks[0].Count = -1 },
		"a huge count":            func(i int, c *transcript.Commit) { c.Chunks[0].Count = 1 << 50 },
		"a count less":            func(i int, c *transcript.Commit) { c.Chunks[0].Count--; c.Items-- },
		"negative bytes":          func(i int, c *transcript.Commit) { c.Chunks[0].Bytes = -1 << 40 },
		"another first":           func(i int, c *transcript.Commit) { c.Chunks[0].First++ },
		"another last":            func(i int, c *transcript.Commit) { c.Chunks[0].Last++ },
		"negative items":          func(i int, c *transcript.Commit) { c.Items = -1 },
		"huge items":              func(i int, c *transcript.Commit) { c.Items = 1 << 50 },
		"no version":              func(i int, c *transcript.Commit) { c.Version = 0 },
		"other files":             func(i int, c *transcript.Commit) { c.Snapshot = string(store.Sum([]byte("other"))) },
		"files without a name":    func(i int, c *transcript.Commit) { c.Snapshot = "x" },
		"files that are a turn": func(i int, c *transcript.Commit) {
			c.Snapshot = string(c.Parent) + strings.Repeat("0", 1-min(len(c.Parent), 1))
		},
		"files before without name": func(i int, c *transcript.Commit) { c.Base = strings.Repeat("z", 64) },
	} {
		c := p.clone()
		c.rechain(t, change)
		refused(t, name, c.build(t))
	}
	newer := p.clone()
	newer.rechain(t, func(_ int, c *transcript.Commit) { c.Version = 99 })
	_, err := read(t.Context(), newer.build(t))
	if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Class != protocol.ClassIncompatible {
		t.Errorf("a newer commit: %v", err)
	}
}

func TestRefusedItems(t *testing.T) {
	p := small(t)
	// onlyItems makes them an archive of one turn with these items.
	onlyItems := func(text string, count, last int) []byte {
		c := &parts{head: p.head, objects: map[store.ID][]byte{}}
		commit := transcript.Commit{Version: 1, Index: 1, Turns: 1, Turn: "s.1", Items: count, Outcome: protocol.OutcomeDone, Time: epoch}
		commit.Chunks = []transcript.Chunk{{ID: c.put([]byte(text)), Count: count, Bytes: len(text), Last: last}}
		data, err := json.Marshal(commit)
		if err != nil {
			t.Fatal(err)
		}
		c.head.Commit, c.head.Snapshot, c.head.Turns = c.put(data), "", 1
		return c.build(t)
	}
	const sound = `{"seq":0,"kind":"user","user":{"text":"hello"}}`
	if _, err := read(t.Context(), onlyItems("["+sound+"]", 1, 0)); err != nil {
		t.Fatalf("one sound item: %v", err)
	}
	for name, text := range map[string]string{
		"no JSON": "[", "no list": sound, "nothing": "null", "an empty list": "[]",
		"an item without its part":  `[{"seq":0,"kind":"user"}]`,
		"an item with another part": `[{"seq":0,"kind":"assistant","user":{"text":"hello"}}]`,
		"an item of no kind":        `[{"seq":0,"kind":"","user":{"text":"hello"}}]`,
		"an item of another place":  `[{"seq":-1,"kind":"user","user":{"text":"hello"}}]`,
	} {
		refused(t, name, onlyItems(text, 1, 0))
	}
	refused(t, "two of one place", onlyItems("["+sound+","+sound+"]", 2, 0))
	for _, kind := range []protocol.ItemKind{
		protocol.KindUser, protocol.KindAssistant, protocol.KindReasoning, protocol.KindTool,
		protocol.KindNotice, protocol.KindFault, protocol.KindSummary, protocol.KindTurnEnd,
	} {
		part := string(kind)
		if kind == protocol.KindTurnEnd {
			part = "turnEnd"
		}
		item := `[{"seq":0,"kind":"` + string(kind) + `"`
		refused(t, "an empty "+part, onlyItems(item+"}]", 1, 0))
		if _, err := read(t.Context(), onlyItems(item+`,"`+part+`":{}}]`, 1, 0)); err != nil {
			t.Errorf("a sound %s: %v", part, err)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	hello, large := []byte("hello"), noise(1<<20+10)
	sum, largeSum := store.Sum(hello), store.Sum(large)
	half := [][]byte{large[:1<<19], large[1<<19:]}
	list := func(contents ...[]byte) []byte {
		b := binary.AppendUvarint([]byte("tsc1"), uint64(len(contents)))
		for _, c := range contents {
			b = append(binary.AppendUvarint(b, uint64(len(c))), raw(store.Sum(c))...)
		}
		return b
	}
	build := func(size int, contents [][]byte, entries ...entry) []byte {
		p := &parts{head: Head{Version: Version, ID: "s"}, objects: map[store.ID][]byte{}}
		for _, c := range contents {
			p.put(c)
		}
		p.onlyFiles(size, entries...)
		return p.build(t)
	}
	with := [][]byte{hello}
	parted := [][]byte{half[0], half[1], list(half...)}
	for name, data := range map[string][]byte{
		"a file":           build(5, with, aFile("a", sum, 5)),
		"a file in chunks": build(len(large), parted, inChunks("a", largeSum, len(large), store.Sum(parted[2]))),
	} {
		if _, err := read(t.Context(), data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	swapped := [][]byte{half[0], half[1], list(half[1], half[0])}
	tests := map[string][]byte{
		"twice":             build(10, with, aFile("a", sum, 5), aFile("a", sum, 5)),
		"not in order":      build(10, with, aFile("b", sum, 5), aFile("a", sum, 5)),
		"below a file":      build(10, with, aFile("a", sum, 5), aFile("a/b", sum, 5)),
		"below a link":      build(5, with, aLink("a", "b"), aFile("a/b", sum, 5)),
		"below nothing":     build(5, with, aFile("a/b", sum, 5)),
		"another size":      build(6, with, aFile("a", sum, 6)),
		"another whole":     build(6, with, aFile("a", sum, 5)),
		"another size once": build(11, with, aFile("a", sum, 5), aFile("b", sum, 6)),
		"other chunks":      build(len(large), swapped, inChunks("a", largeSum, len(large), store.Sum(swapped[2]))),
		"chunks too short":  build(len(large)+1, parted, inChunks("a", largeSum, len(large)+1, store.Sum(parted[2]))),
		"chunks of a small": build(5, [][]byte{hello, list(hello)}, inChunks("a", sum, 5, store.Sum(list(hello)))),
		"a link outside":    build(0, nil, aLink("a", "../b")), // not marked as such
		"a link to nothing": build(0, nil, aLink("a", "")),
		"a link with NUL":   build(0, nil, aLink("a", "b\x00")),
	}
	for _, name := range []string{"..", ".", "../a", "a/..", "a/../b", "/", "/a", "a/", "a//b", "", "a\x00", "\x00", strings.Repeat("a", 64<<10+1)} {
		tests["the name "+name[:min(len(name), 10)]] = build(5, with, aFile(name, sum, 5))
	}
	for name, data := range tests {
		if _, err := read(t.Context(), data); !errors.Is(err, ErrInvalid) || !errors.Is(err, snapshot.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
