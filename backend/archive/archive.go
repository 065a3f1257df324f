package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/reach"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/transcript"
)

// Write writes what head leads to. It fails if some of that is damaged.
func Write(ctx context.Context, w io.Writer, head Head, finder *reach.Finder, objects snapshot.Reader) error {
	out, err := newFrameWriter(w)
	if err != nil {
		return fmt.Errorf("write the session file: %w", err)
	}
	head.Version = Version
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("write the session file: %w", err)
	}
	err = out.frame(frameHead, text)
	if err == nil {
		err = finder.Session(ctx, recordOf(head), reach.NewSet(), func(o reach.Object) error {
			content, err := objects.Get(ctx, o.ID)
			if err = errors.Join(o.Err, err); err != nil {
				return fmt.Errorf("%s: %w", o.What, err)
			}
			return out.object(content)
		})
	}
	if err = errors.Join(err, out.end()); err != nil {
		return fmt.Errorf("write the session file: %w", err)
	}
	return nil
}

// recordOf is as much of a session's record as leads to what head does.
func recordOf(head Head) protocol.Session {
	return protocol.Session{ID: head.ID, Head: string(head.Commit), Snapshot: string(head.Snapshot)}
}

// Store is the part of the store that reading needs.
type Store interface {
	snapshot.Reader
	PutMany(ctx context.Context, contents [][]byte) ([]store.ID, error)
}

// batchBytes and batchObjects are how much is put at once: small objects take
// more memory than they hold.
const (
	batchBytes   = 8 << 20
	batchObjects = 4096
)

// Read puts what an archive holds into the store and returns its head, once all
// that the head leads to was found to be there and sound, and nothing else. Hold
// the store's gate (store.Keeper.Use) until the head is named by a session: what
// was put before an error is swept later.
func Read(ctx context.Context, r io.Reader, s Store, conversations *transcript.Transcript) (Head, error) {
	held := reach.NewSet()
	head, err := readAll(ctx, r, s, held)
	if err == nil {
		c := &checker{store: s, conversations: conversations, held: held, contents: map[content]bool{}}
		err = c.check(ctx, head)
	}
	if err != nil {
		return Head{}, fmt.Errorf("read the session file: %w", err)
	}
	return head, nil
}

// readAll puts all objects and adds them to held.
func readAll(ctx context.Context, r io.Reader, s Store, held *reach.Set) (Head, error) {
	in, err := newFrameReader(r)
	if err != nil {
		return Head{}, err
	}
	defer in.close()
	kind, data, err := in.next()
	if err == nil && kind != frameHead || errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: it has no head", ErrInvalid)
	}
	if err != nil {
		return Head{}, err
	}
	head, err := decodeHead(data)
	if err != nil {
		return Head{}, err
	}
	var batch [][]byte
	size := 0
	put := func() error {
		ids, err := s.PutMany(ctx, batch)
		batch, size = nil, 0
		for _, id := range ids {
			if !held.Add(id) {
				err = errors.Join(err, fmt.Errorf("%w: it has a part twice", ErrInvalid))
				break
			}
		}
		return err
	}
	for {
		kind, data, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return head, put()
		case err != nil:
			return Head{}, err
		case kind != frameObject:
			return Head{}, fmt.Errorf("%w: it has two heads", ErrInvalid)
		case ctx.Err() != nil:
			return Head{}, ctx.Err()
		}
		// Under the name that its content gives it: it can't pass for another.
		batch = append(batch, data)
		if size += len(data); size >= batchBytes || len(batch) >= batchObjects {
			if err := put(); err != nil {
				return Head{}, err
			}
		}
	}
}

func decodeHead(data []byte) (Head, error) {
	var head Head
	if err := json.Unmarshal(data, &head); err != nil {
		return Head{}, fmt.Errorf("%w: its head: %w", ErrInvalid, err)
	}
	switch {
	case head.Version > Version:
		return Head{}, fmt.Errorf("%w: %d, this app knows %d", ErrNewer, head.Version, Version)
	case head.Version < 1 || len(head.Title) > 1000 || head.Commit == "" && (head.Snapshot == "" || head.Turns != 0):
		return Head{}, fmt.Errorf("%w: its head makes no sense", ErrInvalid)
	}
	return head, nil
}
