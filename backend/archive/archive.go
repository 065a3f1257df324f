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

// batchBytes is how much is put at once.
const batchBytes = 8 << 20

// Read puts what an archive holds into the store and returns its head, once all
// that the head leads to was found to be there and sound. Hold the store's gate
// (store.Keeper.Use) until the head is named by a session: what was put before
// an error is swept later.
func Read(ctx context.Context, r io.Reader, s Store, conversations *transcript.Transcript) (Head, error) {
	head, err := readAll(ctx, r, s)
	if err == nil {
		err = check(ctx, head, s, conversations)
	}
	if err != nil {
		return Head{}, fmt.Errorf("read the session file: %w", err)
	}
	return head, nil
}

func readAll(ctx context.Context, r io.Reader, s Store) (Head, error) {
	in, err := newFrameReader(r)
	if err != nil {
		return Head{}, err
	}
	defer in.close()
	kind, data, err := in.next()
	if err != nil || kind != frameHead {
		return Head{}, errors.Join(fmt.Errorf("%w: it has no head", ErrInvalid), err)
	}
	head, err := decodeHead(data)
	if err != nil {
		return Head{}, err
	}
	var batch [][]byte
	size := 0
	put := func() error {
		_, err := s.PutMany(ctx, batch)
		batch, size = nil, 0
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
		if size += len(data); size >= batchBytes {
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
	case head.Version < 1 || head.Turns < 0 || len(head.Title) > 1000 || head.Commit == "" && head.Snapshot == "":
		return Head{}, fmt.Errorf("%w: its head makes no sense", ErrInvalid)
	}
	return head, nil
}

// check walks to all that the head leads to.
func check(ctx context.Context, head Head, s Store, conversations *transcript.Transcript) error {
	// A chain of commits can't bite its tail, because each is named by its hash,
	// but it could lie about its length.
	for id, below := head.Commit, -1; id != ""; {
		c, err := conversations.GetCommit(ctx, id)
		if err != nil {
			return missing("a turn", err)
		}
		if below >= 0 && c.Index != below-1 || c.Parent == "" && c.Index != 1 || c.TurnCount() > c.Index || c.TurnCount() < 0 {
			return fmt.Errorf("%w: its turns are out of order", ErrInvalid)
		}
		if c.Skip != "" && (c.SkipIndex < 1 || c.SkipIndex >= c.Index) {
			return fmt.Errorf("%w: its turns are out of order", ErrInvalid)
		}
		below, id = c.Index, c.Parent
	}
	finder := &reach.Finder{Transcript: conversations, Objects: s}
	return finder.Session(ctx, recordOf(head), reach.NewSet(), func(o reach.Object) error {
		if o.Err != nil {
			return missing(o.What, o.Err)
		}
		if _, err := s.Get(ctx, o.ID); err != nil {
			return missing(o.What, err)
		}
		return nil
	})
}

// missing is what is wrong with a part of the archive.
func missing(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrInvalid, what, err)
}
