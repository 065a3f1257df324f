package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

func openStore(t testing.TB, dir string) *store.SQLite {
	t.Helper()
	s, _, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newTranscript(t testing.TB) *Transcript {
	t.Helper()
	return New(openStore(t, t.TempDir()))
}

// spy counts the calls of a store, and fails them when told to.
type spy struct {
	store.Store
	gets   atomic.Int64
	writes atomic.Int64
	failAt atomic.Int64 // the write with this number fails (from 1)
}

var errSpy = errors.New("the power is out")

func (s *spy) write() error {
	if n := s.writes.Add(1); s.failAt.Load() != 0 && n >= s.failAt.Load() {
		return errSpy
	}
	return nil
}

func (s *spy) Get(ctx context.Context, id store.ID) ([]byte, error) {
	s.gets.Add(1)
	return s.Store.Get(ctx, id)
}

func (s *spy) Put(ctx context.Context, content []byte) (store.ID, error) {
	if err := s.write(); err != nil {
		return "", err
	}
	return s.Store.Put(ctx, content)
}

func (s *spy) Set(ctx context.Context, records ...store.Record) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.Set(ctx, records...)
}

func (s *spy) Delete(ctx context.Context, prefix string) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.Delete(ctx, prefix)
}

// memory keeps objects without a disk.
type memory struct {
	store.Store
	objects map[store.ID][]byte
}

func (m *memory) Put(_ context.Context, content []byte) (store.ID, error) {
	id := store.Sum(content)
	m.objects[id] = bytes.Clone(content)
	return id, nil
}

func (m *memory) Get(_ context.Context, id store.ID) ([]byte, error) {
	if content, ok := m.objects[id]; ok {
		return content, nil
	}
	return nil, store.ErrNotFound
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ref(session string, serial int, head store.ID) protocol.TurnRef {
	return protocol.TurnRef{SessionID: session, TurnID: fmt.Sprintf("%s.%d", session, serial), Index: serial, Head: string(head)}
}

func user(seq int, text string) protocol.Item {
	return protocol.Item{Seq: seq, Kind: protocol.KindUser, Time: epoch, User: &protocol.UserItem{MessageID: fmt.Sprint("m", seq), Text: text}}
}

func assistant(seq int, text string) protocol.Item {
	return protocol.Item{
		Seq: seq, Kind: protocol.KindAssistant, Time: epoch,
		Assistant: &protocol.AssistantItem{Text: text, Raw: []byte(`{"type":"message"}`)},
	}
}

func toolItem(seq int, status protocol.ToolStatus, output string) protocol.Item {
	return protocol.Item{Seq: seq, Kind: protocol.KindTool, Time: epoch, Tool: &protocol.ToolItem{
		CallID: fmt.Sprint("call", seq), Name: "exec_command", Args: `{"cmd":"make"}`,
		Ask:    protocol.Ask{Acts: true, Title: "make"},
		Status: status, Result: protocol.ToolResult{Output: output},
	}}
}

func summary(seq int, text string) protocol.Item {
	return protocol.Item{Seq: seq, Kind: protocol.KindSummary, Time: epoch, Summary: &protocol.SummaryItem{Text: text, BeforeTokens: 1000}}
}

func end(in protocol.TurnRef) CommitInput {
	return CommitInput{Turn: in, Time: epoch.Add(time.Minute), End: protocol.TurnEndItem{
		Index: in.Index, Outcome: protocol.OutcomeDone, Provider: "demo", Model: "demo-1", Backend: "local",
		Usage: protocol.Usage{InputTokens: 10, OutputTokens: 5},
	}}
}

func write(t testing.TB, tr *Transcript, turn protocol.TurnRef, items ...protocol.Item) {
	t.Helper()
	if err := tr.Write(t.Context(), turn, items...); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, tr *Transcript, turn protocol.TurnRef) store.ID {
	t.Helper()
	head, err := tr.Commit(t.Context(), end(turn))
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// talk commits turns of a user's text and an answer each.
func talk(t testing.TB, tr *Transcript, session string, head store.ID, from, to int) store.ID {
	t.Helper()
	for n := from; n <= to; n++ {
		turn := ref(session, n, head)
		write(t, tr, turn, user(0, fmt.Sprintf("question %d of %s", n, session)), assistant(1, fmt.Sprintf("answer %d", n)))
		head = commit(t, tr, turn)
	}
	return head
}

func ids(items []protocol.Item) []string {
	out := []string{}
	for _, i := range items {
		out = append(out, i.ID)
	}
	return out
}

func load(t testing.TB, tr *Transcript, head store.ID, turn string) []protocol.Item {
	t.Helper()
	items, err := tr.Load(t.Context(), head, turn)
	if err != nil {
		t.Fatal(err)
	}
	return items
}
