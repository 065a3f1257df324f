package reach_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// world is a store with conversations in it.
type world struct {
	t     *testing.T
	dir   string
	store *store.SQLite
	tr    *transcript.Transcript
	local *local.Provider
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "store")}
	var err error
	if w.store, _, err = store.Open(t.Context(), w.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	w.local = local.New(local.Config{StateDir: t.TempDir(), WorkspacesDir: t.TempDir()})
	t.Cleanup(func() { _ = w.local.Close() })
	w.forgetful()
	return w
}

// forgetful begins to read conversations anew: what is damaged is not hidden by
// what was read before.
func (w *world) forgetful() { w.tr = transcript.New(w.store) }

// finder walks from sessions to objects.
func (w *world) finder() *reach.Finder { return &reach.Finder{Transcript: w.tr, Objects: w.store} }

// sweeper sweeps as if it were so much later.
func (w *world) sweeper(later time.Duration) *reach.Sweeper {
	return &reach.Sweeper{Finder: *w.finder(), Keeper: w.store, Now: func() time.Time { return time.Now().Add(later) }}
}

func (w *world) put(text string) store.ID {
	w.t.Helper()
	id, err := w.store.Put(w.t.Context(), []byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// file puts the content of an attached file.
func (w *world) file(name string) protocol.Attachment {
	return protocol.Attachment{Name: name, Object: string(w.put("the content of " + name))}
}

// message puts a message with an attached file of the name.
func (w *world) message(name string) string {
	w.t.Helper()
	text, err := json.Marshal(protocol.Message{ID: name, Text: "about " + name, Attachments: []protocol.Attachment{w.file(name)}})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(w.put(string(text)))
}

// capture takes a snapshot of a folder with these files.
func (w *world) capture(files map[string]string) string {
	w.t.Helper()
	root := w.t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	ctx := w.t.Context()
	sb, err := w.local.Create(ctx, sandbox.Spec{Session: "s", Root: root})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = sb.Close(ctx) }()
	tree, err := (&workplace.Place{Sandbox: sb}).Tree()
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := snapshot.Capture(ctx, tree, w.store, snapshot.CaptureOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(got.Root)
}

// files is a snapshot of a file that no other has.
func (w *world) files(name string) string {
	return w.capture(map[string]string{name: "files of " + name})
}

// turn commits a turn.
func (w *world) turn(session string, index int, head, base, snapshot string, items ...protocol.Item) string {
	w.t.Helper()
	ref := protocol.TurnRef{SessionID: session, TurnID: fmt.Sprintf("%s.%d", session, index), Index: index, Head: head}
	w.write(ref, items...)
	id, err := w.tr.Commit(w.t.Context(), transcript.CommitInput{
		Turn: ref, Time: time.Unix(1_800_000_000, 0), End: protocol.TurnEndItem{Index: index, Snapshot: snapshot, Base: base},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(id)
}

func (w *world) write(ref protocol.TurnRef, items ...protocol.Item) {
	w.t.Helper()
	for i := range items {
		items[i].Seq = i
	}
	if err := w.tr.Write(w.t.Context(), ref, items...); err != nil {
		w.t.Fatal(err)
	}
}

func user(files ...protocol.Attachment) protocol.Item {
	return protocol.Item{Kind: protocol.KindUser, User: &protocol.UserItem{Text: "hello", Attachments: files}}
}

func says(text string) protocol.Item {
	return protocol.Item{Kind: protocol.KindAssistant, Assistant: &protocol.AssistantItem{Text: text}}
}

func shows(image store.ID) protocol.Item {
	return protocol.Item{Kind: protocol.KindTool, Tool: &protocol.ToolItem{
		Name: "view_image", Status: protocol.ToolDone, Result: protocol.ToolResult{Image: string(image)},
	}}
}

func tells(r protocol.Receipt) protocol.Item {
	return protocol.Item{Kind: protocol.KindNotice, Notice: &protocol.NoticeItem{Code: "switched", Receipt: &r}}
}

func (w *world) save(records ...protocol.Session) {
	w.t.Helper()
	for _, r := range records {
		if ok, err := w.tr.SaveSession(w.t.Context(), r); err != nil || !ok {
			w.t.Fatalf("save %s: %t, %v", r.ID, ok, err)
		}
	}
}

// needs is what the finder finds for a record, and the errors that it tells.
func (w *world) needs(record protocol.Session) (ids map[store.ID]reach.Object, broken []error) {
	w.t.Helper()
	ids = map[store.ID]reach.Object{}
	err := w.finder().Session(w.t.Context(), record, reach.NewSet(), func(o reach.Object) error {
		if _, twice := ids[o.ID]; twice && o.Err == nil {
			w.t.Errorf("%s (%s) is told twice", o.ID, o.What)
		}
		ids[o.ID] = o
		if o.Err != nil {
			broken = append(broken, o.Err)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ids, broken
}

// objects is how many objects the store has.
func (w *world) objects() int {
	w.t.Helper()
	u, err := w.store.Usage(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return int(u.Objects)
}

func (w *world) has(id store.ID) bool {
	w.t.Helper()
	ok, err := w.store.Has(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return ok
}

// readable fails unless all these can be read.
func (w *world) readable(what string, ids map[store.ID]reach.Object) {
	w.t.Helper()
	for id, o := range ids {
		if _, err := w.store.Get(w.t.Context(), id); err != nil {
			w.t.Errorf("%s: %s (%s): %v", what, id, o.What, err)
		}
	}
}

// sql runs a statement on the store's database, behind its back.
func (w *world) sql(do func(context.Context, *sql.DB) error) {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "objects.db"))
	if err == nil {
		err = errors.Join(do(w.t.Context(), db), db.Close())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// damage spoils an object on the disk, in the database or in a pack.
func (w *world) damage(id store.ID) {
	w.t.Helper()
	w.sql(func(ctx context.Context, db *sql.DB) error {
		var pack, place int64
		err := db.QueryRowContext(ctx, "SELECT pack, place FROM objects WHERE hex(id) = upper(?)", string(id)).Scan(&pack, &place)
		if err != nil {
			return err
		}
		if pack == 0 {
			_, err := db.ExecContext(ctx, "UPDATE contents SET data = x'00' || data WHERE row = ?", place)
			return err
		}
		names, err := filepath.Glob(filepath.Join(w.dir, "packs-*", fmt.Sprintf("%d.pack", pack)))
		if err != nil || len(names) != 1 {
			return fmt.Errorf("packs %q, %w", names, err)
		}
		file, err := os.OpenFile(names[0], os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteAt([]byte("damage"), place)
		return errors.Join(err, file.Close())
	})
	if _, err := w.store.Get(w.t.Context(), id); !errors.Is(err, store.ErrCorrupt) {
		w.t.Fatalf("the damage of %s is not seen: %v", id, err)
	}
}
