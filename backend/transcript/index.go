package transcript

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// Index finds turns by their text. It is derived from the store and may be
// lost: Reindex makes it again. store.TextIndex is one.
type Index interface {
	Mark(ctx context.Context) (source string, rev int64, err error)
	Add(ctx context.Context, source string, rev int64, docs ...store.Doc) error
	Remove(ctx context.Context, prefix string) error
	Find(ctx context.Context, terms []string, before int64, limit int) ([]store.Found, error)
	FindUnder(ctx context.Context, prefix string, terms []string, limit int) ([]store.Found, error)
}

const (
	// identityKey holds the name of the store: an index of another store has
	// counted other revisions.
	identityKey = "store/id"
	// docBytes is how much text of a turn is indexed, and turnPrinted how much of
	// what its commands printed: beside the text, so that they don't hide it.
	docBytes    = 64 << 10
	turnPrinted = 16 << 10
	// printedEnd is how much counts of what one command printed, at its beginning
	// and at its end, where errors are.
	printedEnd = 1 << 10
	// indexBatch and indexBatchBytes are how many turns are indexed at a time at
	// most: few large batches make a better index than many small ones.
	indexBatch      = 1000
	indexBatchBytes = 2 << 20
	// A commit catches up with indexAtCommit turns, a search with indexAtSearch.
	indexAtCommit = 8
	indexAtSearch = 64
)

// Reindex brings the index up to date with all turns that were committed, by
// whatever process. It does nothing without an index.
func (t *Transcript) Reindex(ctx context.Context) error { return t.catchUp(ctx, 0) }

// catchUp indexes turns that were committed since the index last was brought
// up to date, the oldest first, at most limit if above 0.
func (t *Transcript) catchUp(ctx context.Context, limit int) error {
	if t.index == nil {
		return nil
	}
	t.indexing.Lock()
	defer t.indexing.Unlock()
	source, err := t.identity(ctx)
	if err != nil {
		return err
	}
	marked, since, err := t.index.Mark(ctx)
	if err != nil {
		return err
	}
	if marked != source {
		since = 0
	}
	records, err := t.store.List(ctx, commitPrefix, since, 0)
	if err != nil {
		return fmt.Errorf("list the commits to index: %w", err)
	}
	slices.SortFunc(records, func(a, b store.Record) int { return cmp.Compare(a.Rev, b.Rev) })
	if limit > 0 && len(records) > limit {
		records = records[:limit]
	}
	var (
		docs  []store.Doc
		bytes int
	)
	for i, r := range records {
		text, err := t.turnText(ctx, store.ID(r.Value))
		// There is nothing to find in a turn that can't be read.
		if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil {
			docs = append(docs, store.Doc{Key: strings.TrimPrefix(r.Key, commitPrefix), Text: text})
			bytes += len(text)
		}
		if i == len(records)-1 || len(docs) >= indexBatch || bytes >= indexBatchBytes {
			if err := t.index.Add(ctx, source, r.Rev, docs...); err != nil {
				return err
			}
			docs, bytes = nil, 0
		}
	}
	return nil
}

func (t *Transcript) turnText(ctx context.Context, id store.ID) (string, error) {
	c, err := t.GetCommit(ctx, id)
	if err != nil {
		return "", err
	}
	var text, printed strings.Builder
	// Chunk by chunk, so that a huge turn is not read further than it counts.
	for _, chunk := range c.Chunks {
		items, err := t.chunkItems(ctx, chunk)
		if err != nil {
			return "", err
		}
		for i := range items {
			for _, part := range searchText(&items[i]) {
				text.WriteString(part)
				text.WriteByte('\n')
			}
			for _, part := range printedText(&items[i]) {
				printed.WriteString(part)
				printed.WriteByte('\n')
			}
		}
		if text.Len() >= docBytes {
			break
		}
	}
	said, rest := text.String(), printed.String()
	return said[:min(len(said), docBytes)] + rest[:min(len(rest), turnPrinted)], nil
}

// printedText is what a command is found by beside searchText: both ends of
// what it printed. What other tools return (files, mostly) is not looked at.
func printedText(i *protocol.Item) []string {
	if i.Tool == nil || i.Tool.Result.Log == "" || i.Tool.Result.Output == "" {
		return nil
	}
	out := i.Tool.Result.Output
	if len(out) <= 2*printedEnd {
		return []string{out}
	}
	return []string{
		strings.ToValidUTF8(out[:printedEnd], ""),
		strings.ToValidUTF8(out[len(out)-printedEnd:], ""),
	}
}

// searchText is what an item is found by: what was said and done.
func searchText(i *protocol.Item) []string {
	switch {
	case i.User != nil:
		parts := []string{i.User.Text}
		for _, a := range i.User.Attachments {
			parts = append(parts, a.Name)
		}
		return parts
	case i.Assistant != nil:
		return []string{i.Assistant.Text}
	case i.Tool != nil:
		parts := []string{i.Tool.Ask.Title}
		if detail := i.Tool.Ask.Detail; i.Tool.Result.Log != "" && detail != i.Tool.Ask.Title {
			parts = append(parts, strings.ToValidUTF8(detail[:min(len(detail), 2*printedEnd)], "")) // the whole command
		}
		for _, c := range i.Tool.Result.Changes {
			parts = append(parts, c.Path)
		}
		return parts
	default:
		return nil
	}
}

// identity is the name of the store, given to it by the first who asks.
func (t *Transcript) identity(ctx context.Context) (string, error) {
	if t.storeID != "" {
		return t.storeID, nil
	}
	r, err := t.store.Lookup(ctx, identityKey)
	if errors.Is(err, store.ErrNotFound) {
		if err := t.store.Set(ctx, store.Record{Key: identityKey, Value: []byte(rand.Text())}); err != nil {
			return "", fmt.Errorf("name the store: %w", err)
		}
		// Another process may have been first; the last one counts.
		r, err = t.store.Lookup(ctx, identityKey)
	}
	if err != nil {
		return "", fmt.Errorf("read the name of the store: %w", err)
	}
	t.storeID = string(r.Value)
	return t.storeID, nil
}
