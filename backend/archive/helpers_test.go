package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/reach"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/transcript"
	"temporal-sandbox-agent/backend/workplace"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/local"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// memory keeps objects without a disk; most is the most that came at once.
type memory struct {
	store.Store
	objects map[store.ID][]byte
	most    int
}

func newMemory() *memory { return &memory{objects: map[store.ID][]byte{}} }

func (m *memory) PutMany(_ context.Context, contents [][]byte) ([]store.ID, error) {
	m.most = max(m.most, len(contents))
	var ids []store.ID
	for _, content := range contents {
		id := store.Sum(content)
		m.objects[id] = bytes.Clone(content)
		ids = append(ids, id)
	}
	return ids, nil
}

func (m *memory) Get(_ context.Context, id store.ID) ([]byte, error) {
	if content, ok := m.objects[id]; ok {
		return content, nil
	}
	return nil, fmt.Errorf("get %s: %w", id, store.ErrNotFound)
}

// read reads an archive into a store that holds nothing else.
func read(ctx context.Context, data []byte) (Head, error) {
	m := newMemory()
	return Read(ctx, bytes.NewReader(data), m, transcript.New(m))
}

func openStore(t testing.TB) *store.SQLite {
	t.Helper()
	s, _, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// folder is a workspace.
func folder(t testing.TB) (root string, tree snapshot.Tree) {
	t.Helper()
	p := local.New(local.Config{StateDir: t.TempDir()})
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(sb.Close(context.WithoutCancel(t.Context())), p.Close()) })
	if tree, err = (&workplace.Place{Sandbox: sb}).Tree(); err != nil {
		t.Fatal(err)
	}
	return sb.Root(), tree
}

// noise is what can't be compressed.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// exported is a session in a real store, and what Write made of it.
type exported struct {
	store *store.SQLite
	root  string // the workspace, as it was captured last
	head  Head
	data  []byte
}

// export makes a session of a few turns and a line between two of them.
func export(t testing.TB) *exported {
	t.Helper()
	ctx := t.Context()
	e := &exported{store: openStore(t)}
	tr := transcript.New(e.store)
	root, tree := folder(t)
	e.root = root
	index := filepath.Join(t.TempDir(), "index")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(text string) string {
		id, err := e.store.Put(ctx, []byte(text))
		must(err)
		return string(id)
	}
	capture := func() string {
		got, err := snapshot.Capture(ctx, tree, e.store, snapshot.CaptureOptions{Index: index})
		must(err)
		return string(got.Root)
	}
	must(os.WriteFile(filepath.Join(root, "large"), noise(1<<20+1), 0o600))
	must(os.Mkdir(filepath.Join(root, "folder"), 0o755))
	must(os.Symlink("folder", filepath.Join(root, "link")))
	head, before := "", capture()
	for n := 1; n <= 6; n++ {
		must(os.WriteFile(filepath.Join(root, "folder", fmt.Sprintf("file %d", n)), fmt.Appendf(nil, "content %d", n), 0o755))
		after := capture()
		turn := protocol.TurnRef{SessionID: "s", TurnID: fmt.Sprintf("s.%d", n), Index: n, Head: head}
		items := []protocol.Item{
			{Kind: protocol.KindUser, User: &protocol.UserItem{Text: "question", Attachments: []protocol.Attachment{{Name: "a.txt", Object: put(fmt.Sprint("attached ", n))}}}},
			{Kind: protocol.KindTool, Tool: &protocol.ToolItem{Status: protocol.ToolDone, Result: protocol.ToolResult{Image: put(fmt.Sprint("image ", n))}}},
			{Kind: protocol.KindAssistant, Assistant: &protocol.AssistantItem{Text: fmt.Sprint("answer ", n)}},
		}
		if n == 3 {
			items = append(items, protocol.Item{Kind: protocol.KindSummary, Summary: &protocol.SummaryItem{Text: "so far"}})
		}
		for i := range items {
			items[i].Seq = i
		}
		must(tr.Write(ctx, turn, items...))
		id, err := tr.Commit(ctx, transcript.CommitInput{Turn: turn, Time: epoch, End: protocol.TurnEndItem{Index: n, Base: before, Snapshot: after}})
		must(err)
		head, before = string(id), after
		if n == 4 {
			mark := protocol.NewItem("s.m", 0, epoch)
			mark.Kind, mark.Notice = protocol.KindNotice, &protocol.NoticeItem{Code: "switched", Receipt: &protocol.Receipt{What: "switch", Snapshot: after}}
			id, err := tr.Mark(ctx, transcript.MarkInput{Turn: protocol.TurnRef{SessionID: "s", TurnID: "s.m", Index: n, Head: head}, Item: mark, Snapshot: after})
			must(err)
			head = string(id)
		}
	}
	e.head = Head{
		App: "test", Written: epoch, ID: "s", Title: "A session", Backend: "local", Created: epoch, Turns: 6,
		Commit: store.ID(head), Snapshot: store.ID(before), Lineage: []Ancestor{{ID: "p", Title: "Parent"}},
	}
	var out bytes.Buffer
	must(Write(ctx, &out, e.head, &reach.Finder{Transcript: tr, Objects: e.store}, e.store))
	e.head.Version, e.data = Version, out.Bytes()
	return e
}

// parts are what an archive holds, to be changed and put together again.
type parts struct {
	head    Head
	objects map[store.ID][]byte
}

func take(t testing.TB, data []byte) *parts {
	t.Helper()
	in, err := newFrameReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	p := &parts{objects: map[store.ID][]byte{}}
	for {
		kind, data, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return p
		case err != nil:
			t.Fatal(err)
		case kind == frameHead:
			if err := json.Unmarshal(data, &p.head); err != nil {
				t.Fatal(err)
			}
		default:
			p.objects[store.Sum(data)] = data
		}
	}
}

func (p *parts) clone() *parts { return &parts{head: p.head, objects: maps.Clone(p.objects)} }

func (p *parts) put(data []byte) store.ID {
	id := store.Sum(data)
	p.objects[id] = data
	return id
}

// stream writes any frames; end writes those that end a sound archive.
func stream(t testing.TB, frames func(w *frameWriter)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := newFrameWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	frames(w)
	if err := w.zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (p *parts) text(t testing.TB) []byte {
	t.Helper()
	text, err := json.Marshal(p.head)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// build puts them together with a sound end.
func (p *parts) build(t testing.TB) []byte {
	t.Helper()
	return stream(t, func(w *frameWriter) {
		err := w.frame(frameHead, p.text(t))
		for _, id := range slices.Sorted(maps.Keys(p.objects)) {
			err = errors.Join(err, w.object(p.objects[id]))
		}
		if err := errors.Join(err, w.end()); err != nil {
			t.Fatal(err)
		}
	})
}

// rechain makes the conversation anew with each commit changed; those that
// follow name what was made.
func (p *parts) rechain(t testing.TB, change func(index int, c *transcript.Commit)) {
	t.Helper()
	var chain []*transcript.Commit
	for id := p.head.Commit; id != ""; id = chain[len(chain)-1].Parent {
		c := &transcript.Commit{}
		if err := json.Unmarshal(p.objects[id], c); err != nil {
			t.Fatal(err)
		}
		delete(p.objects, id)
		chain = append(chain, c)
	}
	slices.Reverse(chain)
	made := []store.ID{""}
	for i, c := range chain {
		c.Parent = made[i]
		c.Skip = made[c.SkipIndex]
		change(i+1, c)
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, p.put(data))
	}
	p.head.Commit = made[len(made)-1]
}

// The form of snapshots, for such as no capture makes; see snapshot/format.go.

func text(b []byte, s string) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }

func raw(id store.ID) []byte {
	b, err := hex.DecodeString(string(id))
	if err != nil {
		panic(err)
	}
	return b
}

// entry is an entry of a page: its path, and its kind with what follows the path.
type entry struct {
	path string
	kind byte
	rest []byte
}

func aFolder(path string) entry { return entry{path, 1, binary.AppendUvarint(nil, 0o755)} }

func aFile(path string, sum store.ID, size int) entry {
	b := binary.AppendUvarint(nil, 0o644)
	b = binary.AppendUvarint(b, uint64(size))
	return entry{path, 2, append(binary.AppendVarint(b, 1), raw(sum)...)}
}

func inChunks(path string, sum store.ID, size int, list store.ID) entry {
	e := aFile(path, sum, size)
	return entry{path, 3, append(e.rest, raw(list)...)}
}

func aLink(path, target string) entry { return entry{path, 4, text(nil, target)} }

// onlyFiles makes them an archive of nothing but a snapshot with these entries.
func (p *parts) onlyFiles(size int, entries ...entry) {
	p.head.Commit, p.head.Turns = "", 0
	page := binary.AppendUvarint([]byte("tsp1"), uint64(len(entries)))
	before := ""
	for _, e := range entries {
		shared := 0
		for shared < min(len(before), len(e.path)) && before[shared] == e.path[shared] {
			shared++
		}
		page = binary.AppendUvarint(append(page, e.kind), uint64(shared))
		page = append(text(page, e.path[shared:]), e.rest...)
		before = e.path
	}
	root := binary.AppendUvarint([]byte("tsr1"), uint64(len(entries)))
	root = binary.AppendUvarint(root, uint64(size))
	root = append(root, 0, 0, 1)
	root = binary.AppendUvarint(text(root, entries[0].path), uint64(len(entries)))
	p.head.Snapshot = p.put(append(root, raw(p.put(page))...))
}

// small is an archive without large files, and so a quick one.
func small(t testing.TB) *parts {
	t.Helper()
	p := &parts{head: Head{Version: Version, ID: "s", Title: "t"}, objects: map[store.ID][]byte{}}
	p.onlyFiles(5, aFolder("a"), aFile("a/b", p.put([]byte("hello")), 5), aLink("c", "a/b"))
	p.head.Turns = 7
	for n := 1; n <= 7; n++ {
		items, err := json.Marshal([]protocol.Item{{Kind: protocol.KindUser, User: &protocol.UserItem{
			Text: fmt.Sprint(n), Attachments: []protocol.Attachment{{Object: string(p.put(fmt.Appendf(nil, "attached %d", n)))}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		c := transcript.Commit{
			Version: 1, Parent: p.head.Commit, Skip: p.head.Commit, SkipIndex: n - 1, Index: n, Turns: n, Items: 1, Snapshot: string(p.head.Snapshot),
			Chunks: []transcript.Chunk{{ID: p.put(items), Count: 1, Bytes: len(items)}},
		}
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		p.head.Commit = p.put(data)
	}
	return p
}
