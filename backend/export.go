package backend

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"temporal-sandbox-agent/backend/archive"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/reach"
	"temporal-sandbox-agent/backend/store"
)

// finder walks from sessions to what they need.
func (b *Backend) finder() *reach.Finder {
	return &reach.Finder{Transcript: b.Sessions.Transcript, Objects: b.store}
}

// Export writes a session into a file: its conversation and its files, as they
// are now between turns, or as the last turn left them.
func (b *Backend) Export(ctx context.Context, id, file string) error {
	record, err := b.Sessions.Checkpoint(ctx, id)
	if err != nil {
		return err
	}
	head := archive.Head{
		App: b.config.Version, Written: b.now(), ID: record.ID, Title: record.Title, Backend: record.Backend,
		Created: record.Created, Turns: record.Turns, Commit: store.ID(record.Head), Snapshot: store.ID(record.Snapshot),
		Options: record.Options, Snapshots: record.Snapshots, Usage: record.Usage,
	}
	if head.Commit == "" && head.Snapshot == "" {
		return &protocol.Fault{Class: protocol.ClassBadInput, Happened: "There is nothing to export yet", Remedy: "Send a first message."}
	}
	if head.Lineage, err = b.lineage(ctx, record); err != nil {
		return err
	}
	release, err := b.store.Use(ctx)
	if err != nil {
		return fmt.Errorf("hold the store: %w", err)
	}
	defer release()
	return writeExport(file, func(w io.Writer) error { return archive.Write(ctx, w, head, b.finder(), b.store) })
}

// maxLineage is how many sessions an export names that it comes from.
const maxLineage = 100

func (b *Backend) lineage(ctx context.Context, record protocol.Session) ([]archive.Ancestor, error) {
	sessions, err := b.Sessions.List(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[string]protocol.Session{}
	for _, s := range sessions {
		byID[s.ID] = s
	}
	var out []archive.Ancestor
	for at := record.Parent; at != "" && len(out) < maxLineage; at = byID[at].Parent {
		out = append(out, archive.Ancestor{ID: at, Title: byID[at].Title})
	}
	return out, nil
}

// writeExport writes a file under another name and gives it its own when it is
// whole.
func writeExport(file string, write func(io.Writer) error) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".export-*")
	if err != nil {
		return exportFault(err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already if all went well
	out := bufio.NewWriterSize(temp, 1<<20)
	err = write(out)
	err = errors.Join(err, out.Flush(), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	return exportFault(err)
}

func exportFault(err error) error {
	if err == nil {
		return nil
	}
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return fault
	}
	fault := &protocol.Fault{
		Class: protocol.ClassInternal, Happened: "The session could not be exported", Kept: "The session is as it was.", Detail: err.Error(),
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.ErrNotFound):
		fault.Class, fault.Happened, fault.Remedy = protocol.ClassBadInput, "The file can't be written there", "Choose another folder."
	case errors.Is(err, syscall.ENOSPC):
		fault.Class, fault.Happened, fault.Remedy = protocol.ClassDiskFull, "The disk is full", "Free some space, then try again."
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrNotFound):
		fault.Happened, fault.Remedy = "A part of this session's stored data is damaged", "Settings, Data: Check tells which."
	}
	return fault
}

// Import makes a session from a file that Export wrote. The title is the file's
// if it is empty.
func (b *Backend) Import(ctx context.Context, file, title string, target protocol.Target) (protocol.ForkResult, error) {
	in, err := os.Open(file)
	if err != nil {
		return protocol.ForkResult{}, importFault(err)
	}
	defer func() { _ = in.Close() }()
	// Nothing of it may be swept before the session names it.
	release, err := b.store.Use(ctx)
	if err != nil {
		return protocol.ForkResult{}, importFault(err)
	}
	defer release()
	head, err := archive.Read(ctx, bufio.NewReaderSize(in, 1<<20), b.store, b.Sessions.Transcript)
	if err != nil {
		return protocol.ForkResult{}, importFault(err)
	}
	if title == "" {
		title = head.Title
	}
	fork := protocol.ForkInput{
		Title: title, Options: head.Options, Snapshots: head.Snapshots,
		Setup: protocol.Setup{
			Snapshot: string(head.Snapshot), Onto: target.Onto, What: "import",
			From: protocol.Spot{Backend: "import", Workspace: filepath.Base(file)}, Turn: head.Turns, Title: head.Title,
		},
		Head: string(head.Commit), Turns: head.Turns, Usage: head.Usage,
	}
	// The mode is this machine's to choose: a file from elsewhere must not allow
	// itself to run commands.
	fork.Options.Approve, fork.Options.AllowPrefixes = b.SessionDefaults().Approve, nil
	for _, from := range append([]archive.Ancestor{{ID: head.ID}}, head.Lineage...) {
		if _, err := b.Sessions.Get(ctx, from.ID); err == nil && from.ID != "" {
			fork.Parent = from.ID
			break
		}
	}
	out, err := b.Sessions.Begin(ctx, fork, target)
	if err == nil && target.Workspace != "" {
		b.remember(ctx, target.Workspace)
	}
	return out, err
}

func importFault(err error) error {
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return fault
	}
	fault := &protocol.Fault{
		Class: protocol.ClassInternal, Happened: "The session could not be imported", Kept: "Nothing was changed.", Detail: err.Error(),
	}
	switch {
	case errors.Is(err, archive.ErrNewer):
		fault.Class, fault.Happened, fault.Remedy = protocol.ClassIncompatible, "This file was written by a newer version of the app", "Install the newer version, then import it."
	case errors.Is(err, archive.ErrInvalid):
		fault.Class, fault.Happened, fault.Remedy = protocol.ClassBadInput, "This file is not a session that was exported, or it is damaged", "Export the session again."
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		fault.Class, fault.Happened = protocol.ClassBadInput, "The file can't be read"
	case errors.Is(err, store.ErrNoSpace):
		fault.Class, fault.Happened, fault.Remedy = protocol.ClassDiskFull, "The disk is full", "Free some space, then try again."
	}
	return fault
}
