package workplace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/sandbox"
)

// Tree gives a place's files to snapshots.
func (p *Place) Tree() (snapshot.Tree, error) {
	bulk, ok := p.Sandbox.(sandbox.Bulk)
	if !ok {
		return nil, &sandbox.Error{
			Kind: sandbox.KindInvalid, Backend: p.Sandbox.Ref().Backend, Op: "take a snapshot",
			Err: fmt.Errorf("the backend can't list its files"),
		}
	}
	return tree{bulk}, nil
}

// Source gives a place's files to a restore that may find them there.
func (p *Place) Source() snapshot.Source { return source{p.Sandbox.Files()} }

type source struct{ files sandbox.FS }

func (s source) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	return s.files.Open(ctx, name, 0, -1)
}

// tree is a sandbox's files as snapshots see them: the same data under their
// own names, because snapshots know no sandbox.
type tree struct{ bulk sandbox.Bulk }

func (t tree) List(ctx context.Context, skip []string, each func(snapshot.Entry) error) (snapshot.Listing, error) {
	listing, err := t.bulk.List(ctx, skip, func(e sandbox.Entry) error { return each(snapshot.Entry(e)) })
	out := snapshot.Listing{Begun: listing.Begun, Granularity: listing.Granularity}
	for _, u := range listing.Unread {
		out.Unread = append(out.Unread, snapshot.Unread(u))
	}
	return out, err
}

func (t tree) ReadFiles(ctx context.Context, names []string, each func(snapshot.FileRead) error) error {
	return t.bulk.ReadFiles(ctx, names, func(f sandbox.FileRead) error { return each(snapshot.FileRead(f)) })
}

func (t tree) Digests(ctx context.Context, names []string) ([][32]byte, error) {
	return t.bulk.Digests(ctx, names)
}

func (t tree) Apply(ctx context.Context, remove []string, makes iter.Seq2[snapshot.Make, error]) error {
	return t.bulk.Apply(ctx, remove, func(yield func(sandbox.Make, error) bool) {
		for m, err := range makes {
			if !yield(sandbox.Make(m), err) {
				return
			}
		}
	})
}

// IndexFile is where what a place's files looked like is remembered, so that a
// snapshot reads only what changed. It may be lost. Empty is nowhere.
func (p *Places) IndexFile(place *Place) string { return p.indexFile(place.Ref) }

// LiveIndexFile is as IndexFile, for looking at the files beside the session's
// snapshots: what was captured for that belongs to nobody, and must not be
// taken for stored by a snapshot that stays.
func (p *Places) LiveIndexFile(place *Place) string {
	if name := p.indexFile(place.Ref); name != "" {
		return name + ".live"
	}
	return ""
}

func (p *Places) indexFile(ref string) string {
	if p.IndexDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(ref))
	return filepath.Join(p.IndexDir, hex.EncodeToString(sum[:12])+".index")
}

// dropIndex forgets what the files of a place looked like that is gone.
func (p *Places) dropIndex(ref string) {
	if name := p.indexFile(ref); name != "" {
		_, _ = os.Remove(name), os.Remove(name+".live") // what stays behind is only space
	}
}
