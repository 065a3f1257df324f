package workflow

import (
	"fmt"
	"regexp"
	"unicode/utf8"

	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

func (m *manager) checkFork(in protocol.ForkInput) error {
	for _, e := range in.Snapshots.Exclude {
		if !protocol.ValidExclude(e) {
			return reject(protocol.ClassBadInput, "%q can't be left out: name a folder or file relative to the workspace", e)
		}
	}
	return m.checkCreate(protocol.CreateInput{ID: in.ID, Title: in.Title, Place: in.Place, Options: in.Options})
}

// onFork makes a session that goes on where another was: it shares the
// conversation so far, and begins with the files of a snapshot.
func (m *manager) onFork(ctx workflow.Context, in protocol.ForkInput) (protocol.RegistryEntry, error) {
	if at := m.find(in.ID); at >= 0 {
		return m.entries[at], nil
	}
	entry := protocol.RegistryEntry{
		ID: in.ID, Title: in.Title, Backend: in.Place.Backend, Parent: in.Parent, Created: workflow.Now(ctx),
	}
	if entry.Title == "" {
		entry.Title = m.forkTitle(in)
	}
	setup := in.Setup
	return m.begin(ctx, entry, protocol.AgentInput{Session: protocol.Session{
		ID:        in.ID,
		Title:     entry.Title,
		Backend:   in.Place.Backend,
		Workspace: in.Place.Workspace,
		Folder:    in.Place.Folder,
		Image:     in.Place.Image,
		State:     protocol.StateIdle,
		Options:   in.Options,
		Parent:    in.Parent,
		Head:      in.Head,
		Turns:     in.Turns,
		Usage:     in.Usage,
		Snapshot:  in.Setup.Snapshot,
		Snapshots: in.Snapshots,
		Setup:     &setup,
		Created:   entry.Created,
		Updated:   entry.Created,
	}})
}

// forkSuffix is what an earlier fork added to a title.
var forkSuffix = regexp.MustCompile(` (\(fork #\d+\)|\[[a-z0-9]+\])$`)

// forkTitle is the title of a fork that got none: the next number of those on
// the same backend, or the name of another backend.
func (m *manager) forkTitle(in protocol.ForkInput) string {
	base := forkSuffix.ReplaceAllString(in.Base, "")
	suffix := fmt.Sprintf(" [%s]", in.Place.Backend)
	taken := func(title string) bool {
		for _, e := range m.entries {
			if e.Title == title {
				return true
			}
		}
		return false
	}
	if !in.OtherPlace || taken(shorten(base, suffix)) {
		for n := 1; ; n++ {
			if suffix = fmt.Sprintf(" (fork #%d)", n); !taken(shorten(base, suffix)) {
				break
			}
		}
	}
	return shorten(base, suffix)
}

// shorten cuts a title so that it fits with what is added.
func shorten(base, suffix string) string {
	for base != "" && len(base)+len(suffix) > maxTitle {
		_, n := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-n]
	}
	return base + suffix
}
