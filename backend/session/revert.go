package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
)

// Revert puts a file, or a folder with all in it, back as it was before the
// changes of a scope. What is there is captured first: the receipt's Undo takes
// it back.
func (s *Service) Revert(ctx context.Context, request protocol.RevertRequest) (protocol.Receipt, error) {
	name, err := rawPath(request.Path, request.RawPath)
	if err != nil {
		return protocol.Receipt{}, err
	}
	record, err := s.Get(ctx, request.ID)
	if err != nil {
		return protocol.Receipt{}, err
	}
	if record.Turn != nil {
		return protocol.Receipt{}, &protocol.Fault{
			Class: protocol.ClassBusy, Happened: "A turn is under way", Kept: "Nothing was changed.", Remedy: "Revert after its end.",
		}
	}
	from, _, why, err := s.committedBetween(ctx, record, request.Scope.Turn)
	if err != nil {
		return protocol.Receipt{}, err
	}
	if why != "" {
		return protocol.Receipt{}, &protocol.Fault{Class: protocol.ClassNotFound, Happened: why}
	}
	in := protocol.CheckpointInput{ID: NewID(), Keep: "Reverted " + readable(name)}
	var kept protocol.CheckpointResult
	err = s.updateWithin(ctx, longPatience, protocol.AgentID(record.ID), protocol.UpdateCheckpoint, "checkpoint-"+in.ID, in, &kept)
	if err != nil {
		return protocol.Receipt{}, err
	}
	receipt := protocol.Receipt{
		What: "revert", Snapshot: from, Kept: kept.Snapshot, Undo: in.ID, Turn: record.Turns,
		From: protocol.Spot{Backend: record.Backend, Workspace: kept.Workspace}, To: protocol.Spot{Backend: record.Backend, Workspace: kept.Workspace},
	}
	receipt.Written, receipt.Removed, err = s.putBack(ctx, record.ID, store.ID(from), store.ID(kept.Snapshot), name)
	return receipt, err
}

// putBack makes the entry at name, with what is below it, as a snapshot has it.
// now is a snapshot of what is there: what it does not have, because it is left
// out or can't be captured, is not touched.
func (s *Service) putBack(ctx context.Context, id string, root, now store.ID, name string) (written, removed int, err error) {
	place, err := s.place(ctx, id)
	if err != nil {
		return 0, 0, err
	}
	tree, err := place.Tree()
	if err != nil {
		return 0, 0, placeFault("revert the file", err)
	}
	m, err := snapshot.Load(ctx, s.Snapshots, root)
	if err != nil {
		return 0, 0, storeFault("read the snapshot", err)
	}
	makes, err := s.entriesAt(ctx, m, name)
	if err != nil {
		return 0, 0, storeFault("read the snapshot", err)
	}
	there, err := snapshot.Load(ctx, s.Snapshots, now)
	if err != nil {
		return 0, 0, storeFault("read the snapshot", err)
	}
	present, err := s.entriesAt(ctx, there, name)
	if err != nil {
		return 0, 0, storeFault("read the snapshot", err)
	}
	remove, err := tooMuch(present, makes, name, there)
	if err != nil {
		return 0, 0, err
	}
	err = tree.Apply(ctx, remove, func(yield func(snapshot.Make, error) bool) {
		for _, f := range makes {
			entry := snapshot.Make{Name: f.Path, Mode: f.Mode, Size: f.Size, Modified: f.Modified, Target: f.Target}
			switch f.Kind {
			case snapshot.KindDir:
				entry.Mode |= fs.ModeDir
			case snapshot.KindLink:
				entry.Mode |= fs.ModeSymlink
			case snapshot.KindFile:
				entry.Open = func(ctx context.Context) (io.ReadCloser, error) { return m.Open(ctx, f) }
			}
			if !yield(entry, nil) {
				return
			}
		}
	})
	if err != nil {
		return 0, 0, placeFault("revert the file", err)
	}
	return len(makes), len(remove), nil
}

// tooMuch are the entries at name or below it that are there and should not be.
// A folder in which something is that no snapshot has is not removed.
func tooMuch(present, wanted []snapshot.File, name string, there *snapshot.Manifest) ([]string, error) {
	kinds := map[string]snapshot.Kind{}
	for _, f := range wanted {
		kinds[f.Path] = f.Kind
	}
	outside := there.Excluded()
	for _, skipped := range there.Skipped() {
		outside = append(outside, skipped.Path)
	}
	below := func(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
	var remove []string
	for _, f := range present {
		kind, ok := kinds[f.Path]
		gone := len(remove) > 0 && below(f.Path, remove[len(remove)-1]) // with its folder
		if !below(f.Path, name) || ok && kind == f.Kind || gone {
			continue
		}
		if f.Kind == snapshot.KindDir && slices.ContainsFunc(outside, func(o string) bool { return below(o, f.Path) }) {
			if ok {
				return nil, &protocol.Fault{
					Class: protocol.ClassBadInput, Happened: "The folder " + readable(f.Path) + " holds what snapshots leave out: it can't make way for a file",
					Kept: "Nothing was changed.", Remedy: "Move it away first.",
				}
			}
			continue
		}
		remove = append(remove, f.Path)
	}
	return remove, nil
}

// entriesAt are the entry at name and those below it, after the folders that it
// is in; none if the snapshot does not have it.
func (s *Service) entriesAt(ctx context.Context, m *snapshot.Manifest, name string) ([]snapshot.File, error) {
	f, ok, err := m.Lookup(ctx, name)
	if err != nil || !ok {
		return nil, err
	}
	var out []snapshot.File
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		parent, ok, err := m.Lookup(ctx, dir)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errors.New("a folder is missing in the snapshot")
		}
		out = append([]snapshot.File{parent}, out...)
	}
	if f.Kind != snapshot.KindDir {
		return append(out, f), nil
	}
	for entry, err := range m.Walk(ctx) {
		if err != nil {
			return nil, err
		}
		if entry.Path == name || strings.HasPrefix(entry.Path, name+"/") {
			out = append(out, entry)
		}
	}
	return out, nil
}

// Carry tells what a fork from a turn (empty: of now), or a switch, would carry.
func (s *Service) Carry(ctx context.Context, id, turn string) (protocol.Carry, error) {
	record, err := s.Get(ctx, id)
	if err != nil {
		return protocol.Carry{}, err
	}
	out := protocol.Carry{
		Snapshot: record.Snapshot, Excluded: record.Snapshots.Exclude,
		Title: record.Title, Running: record.Turn != nil,
	}
	if turn != "" {
		at, err := s.turnPoint(ctx, record, turn)
		if err != nil {
			return out, err
		}
		out.Snapshot = at.Snapshot
	}
	if record.Sandbox != "" {
		if place, err := s.place(ctx, id); err == nil {
			if running, err := place.Journal.List(ctx, id+"."); err == nil {
				out.Commands = len(running)
			}
		}
	}
	if out.Snapshot == "" {
		return out, nil
	}
	m, err := snapshot.Load(ctx, s.Snapshots, store.ID(out.Snapshot))
	if err != nil {
		return out, storeFault("read the snapshot", err)
	}
	out.Known, out.Files, out.Bytes, out.Skipped = true, m.Files(), m.Bytes(), m.Skipped()
	return out, nil
}
