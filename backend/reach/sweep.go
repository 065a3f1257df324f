package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
)

// How long what nobody reaches is left alone: what is just being put may be
// named a moment later.
const (
	// Grace is for sweeps by themselves.
	Grace = time.Hour
	// ShortGrace is for what somebody asks to be removed; it is the least that
	// the store allows.
	ShortGrace = 2 * time.Minute
)

// Sweeper removes from the store what no session reaches, and tells what takes
// the space.
type Sweeper struct {
	Finder
	Keeper store.Keeper
	Now    func() time.Time
}

// needed is all that the sessions reach, but for one.
func (s *Sweeper) needed(ctx context.Context, without string) (*Set, error) {
	records, err := s.Transcript.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	needed := NewSet()
	for _, record := range records {
		if record.ID == without {
			continue
		}
		// What can't be read now (no file handles, a newer version's form) hides what
		// it needs: nothing is swept then. What is gone or damaged hides nothing that
		// anybody could still get at.
		err := s.Session(ctx, record, needed, func(o Object) error {
			if o.Err != nil && !errors.Is(o.Err, store.ErrNotFound) && !errors.Is(o.Err, store.ErrCorrupt) && !errors.Is(o.Err, snapshot.ErrInvalid) {
				return fmt.Errorf("%s can't be read: %w", o.What, o.Err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return needed, nil
}

// Sweep removes what no session reaches and nobody has used within the grace
// period. It fails with store.ErrBusy while files are being captured.
func (s *Sweeper) Sweep(ctx context.Context, grace time.Duration) (protocol.Swept, error) {
	// Before the sessions are looked at: what is put from now on is spared.
	before := s.Now().Add(-grace)
	var needed *Set
	var failed error
	// The sessions are looked at when the first object is asked for: nobody
	// captures then.
	keep := func(id store.ID) bool {
		if needed == nil && failed == nil {
			needed, failed = s.needed(ctx, "")
		}
		return failed != nil || needed.Has(id)
	}
	n, bytes, err := s.Keeper.Sweep(ctx, keep, before)
	if err = errors.Join(failed, err); err != nil {
		err = fmt.Errorf("sweep the store: %w", err)
	}
	return protocol.Swept{Objects: n, Bytes: bytes}, err
}

// Forget removes what only this session reached, which is gone, as far as
// nobody has used it within ShortGrace; the rest is left to the next Sweep.
func (s *Sweeper) Forget(ctx context.Context, gone protocol.Session) (protocol.Swept, error) {
	before := s.Now().Add(-ShortGrace)
	needed, err := s.needed(ctx, gone.ID)
	if err != nil {
		return protocol.Swept{}, fmt.Errorf("forget the session's objects: %w", err)
	}
	var own []store.ID
	err = s.Session(ctx, gone, needed, func(o Object) error {
		own = append(own, o.ID)
		return nil
	})
	if err != nil {
		return protocol.Swept{}, err
	}
	n, bytes, err := s.Keeper.RemoveUnused(ctx, own, before)
	return protocol.Swept{Objects: n, Bytes: bytes}, err
}

// Limits of what Use tells.
const (
	maxSessionUse = 20
	maxDamaged    = 200
)

// owner is who needs an object.
type owner struct {
	session int // index, or shared
	sort    Sort
}

// shared says that several sessions need an object.
const shared = -1

// Use tells what takes the space of the store. With check, every object is read
// and what is damaged is told, with whose it is: that takes a while.
func (s *Sweeper) Use(ctx context.Context, check bool) (protocol.StoreUse, error) {
	out := protocol.StoreUse{Sessions: []protocol.SessionUse{}}
	usage, err := s.Keeper.Usage(ctx)
	if err != nil {
		return out, err
	}
	out.Bytes, out.Free, out.Objects = usage.File, usage.Free, usage.Objects
	records, err := s.Transcript.Sessions(ctx)
	if err != nil {
		return out, fmt.Errorf("look at the sessions: %w", err)
	}
	owners := map[key]owner{}
	named := map[store.ID]Object{} // of what can't be read
	broken := map[store.ID]int{}
	sets := make([]*Set, len(records))
	for i, record := range records {
		sets[i] = NewSet()
		err := s.Session(ctx, record, sets[i], func(o Object) error {
			k, ok := keyOf(o.ID)
			if !ok {
				return nil
			}
			if o.Err != nil {
				named[o.ID], broken[o.ID] = o, i
			}
			if was, there := owners[k]; !there {
				owners[k] = owner{session: i, sort: o.Sort}
			} else if was.session != i {
				owners[k] = owner{session: shared, sort: was.sort}
			}
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	if err := s.sizes(ctx, &out, records, sets, owners); err != nil {
		return out, err
	}
	out.Unused = max(usage.Stored-out.Files-out.Conversations, 0)
	if check {
		return out, s.check(ctx, &out, records, owners, named, broken)
	}
	return out, nil
}

// sizes adds up what the objects take.
func (s *Sweeper) sizes(ctx context.Context, out *protocol.StoreUse, records []protocol.Session, sets []*Set, owners map[key]owner) error {
	ids := make([]store.ID, 0, len(owners))
	for k := range owners {
		ids = append(ids, k.id())
	}
	sizes, err := s.Keeper.Sizes(ctx, ids)
	if err != nil {
		return err
	}
	use := make([]protocol.SessionUse, len(records))
	for i, record := range records {
		use[i] = protocol.SessionUse{ID: record.ID, Title: record.Title}
	}
	for i, id := range ids {
		k, _ := keyOf(id)
		o := owners[k]
		if o.sort == Files {
			out.Files += sizes[i]
		} else {
			out.Conversations += sizes[i]
		}
		if o.session != shared {
			use[o.session].Own += sizes[i]
			use[o.session].All += sizes[i]
			continue
		}
		for at, set := range sets {
			if _, ok := set.ids[k]; ok {
				use[at].All += sizes[i]
			}
		}
	}
	slices.SortFunc(use, func(a, b protocol.SessionUse) int {
		return cmp.Or(cmp.Compare(b.Own, a.Own), cmp.Compare(b.All, a.All), cmp.Compare(a.ID, b.ID))
	})
	out.Sessions = use[:min(len(use), maxSessionUse)]
	return nil
}

// check reads every object. What is damaged is named by the session that needs
// it, as far as that is known.
func (s *Sweeper) check(ctx context.Context, out *protocol.StoreUse, records []protocol.Session, owners map[key]owner, named map[store.ID]Object, broken map[store.ID]int) error {
	out.Damaged = []protocol.DamagedObject{}
	var damaged []store.ID
	err := s.Keeper.Verify(ctx, func(id store.ID, _ error) { damaged = append(damaged, id) })
	if err != nil {
		return err
	}
	missing := map[store.ID]bool{}
	for _, id := range damaged {
		missing[id] = true
	}
	for id := range named {
		if !missing[id] {
			damaged = append(damaged, id) // it is not there at all, or not what it should be
		}
	}
	for _, id := range damaged[:min(len(damaged), maxDamaged)] {
		d := protocol.DamagedObject{Object: string(id)}
		at, known := broken[id]
		if k, ok := keyOf(id); ok && !known {
			o, there := owners[k]
			at, known = o.session, there && o.session != shared
		}
		if known {
			d.SessionID, d.Title = records[at].ID, records[at].Title
		}
		d.What = named[id].What
		out.Damaged = append(out.Damaged, d)
	}
	return s.nameDamaged(ctx, out, records)
}

// nameDamaged finds what damaged objects are that are named by others.
func (s *Sweeper) nameDamaged(ctx context.Context, out *protocol.StoreUse, records []protocol.Session) error {
	at := map[store.ID]int{}
	for i, d := range out.Damaged {
		if d.What == "" {
			at[store.ID(d.Object)] = i
		}
	}
	if len(at) == 0 {
		return nil
	}
	for _, record := range records {
		err := s.Session(ctx, record, NewSet(), func(o Object) error {
			if i, ok := at[o.ID]; ok && out.Damaged[i].What == "" {
				out.Damaged[i].What, out.Damaged[i].SessionID, out.Damaged[i].Title = o.What, record.ID, record.Title
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
