package session

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/sandbox"
)

// List returns the records of all sessions, the last used first.
func (s *Service) List(ctx context.Context) ([]protocol.Session, error) {
	sessions, err := s.Transcript.Sessions(ctx)
	if err != nil {
		return nil, storeFault("list the sessions", err)
	}
	return sessions, nil
}

// Get returns a session's record.
func (s *Service) Get(ctx context.Context, id string) (protocol.Session, error) {
	record, err := s.Transcript.Session(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return record, &protocol.Fault{Class: protocol.ClassNotFound, Happened: "There is no session " + id}
	}
	if err != nil {
		return record, storeFault("read the session", err)
	}
	return record, nil
}

// Find returns the one session whose id begins with prefix.
func (s *Service) Find(ctx context.Context, prefix string) (protocol.Session, error) {
	sessions, err := s.List(ctx)
	if err != nil {
		return protocol.Session{}, err
	}
	var found []protocol.Session
	for _, session := range sessions {
		if session.ID == prefix {
			return session, nil
		}
		if prefix != "" && strings.HasPrefix(session.ID, prefix) {
			found = append(found, session)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return protocol.Session{}, &protocol.Fault{Class: protocol.ClassNotFound, Happened: "There is no session " + prefix}
	default:
		return protocol.Session{}, &protocol.Fault{
			Class: protocol.ClassBadInput, Happened: fmt.Sprintf("%d sessions begin with %s", len(found), prefix),
			Remedy: "Give more of the id.",
		}
	}
}

// Page returns a part of the conversation: the newest if before is
// empty, else the part before that cursor.
func (s *Service) Page(ctx context.Context, id, before string, limit int) (protocol.Page, error) {
	record, err := s.Get(ctx, id)
	if err != nil {
		return protocol.Page{}, err
	}
	page, err := s.Transcript.Page(ctx, record, before, limit)
	if err != nil {
		return protocol.Page{}, storeFault("read the conversation", err)
	}
	return page, nil
}

// maxHits bounds the answer of a search.
const maxHits = 50

// Search finds sessions by title and content.
func (s *Service) Search(ctx context.Context, query string) ([]protocol.SearchHit, error) {
	hits, err := s.Transcript.Search(ctx, query, maxHits)
	if err != nil {
		return nil, storeFault("search", err)
	}
	return hits, nil
}

// Object returns an attachment or image as a data URL.
func (s *Service) Object(ctx context.Context, id, mime string) (string, error) {
	content, err := s.Objects.Get(ctx, store.ID(id))
	if err != nil {
		return "", storeFault("read the attachment", err)
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(content), nil
}

// maxLogPart bounds one part of a log, in bytes.
const maxLogPart = 1 << 20

// ToolLog returns a part of a command's full output; offset -1 asks for its
// last max bytes.
func (s *Service) ToolLog(ctx context.Context, id, call string, offset int64, limit int) (protocol.LogPart, error) {
	limit = min(max(limit, 1), maxLogPart)
	place, err := s.place(ctx, id)
	if err != nil {
		return protocol.LogPart{}, err
	}
	command, err := place.Journal.Find(ctx, call)
	if sandbox.KindOf(err) == sandbox.KindNotFound {
		return protocol.LogPart{}, &protocol.Fault{Class: protocol.ClassNotFound, Happened: "The full output is no longer kept"}
	}
	if err != nil {
		return protocol.LogPart{}, placeFault("open the output", err)
	}
	_, ended, err := command.Exit(ctx)
	if err != nil {
		return protocol.LogPart{}, placeFault("read the command's state", err)
	}
	if offset < 0 {
		_, size, err := command.ReadOutput(ctx, 0, 1)
		if err != nil {
			return protocol.LogPart{}, placeFault("read the output", err)
		}
		offset = max(size-int64(limit), 0)
	}
	data, size, err := command.ReadOutput(ctx, offset, limit)
	if err != nil {
		return protocol.LogPart{}, placeFault("read the output", err)
	}
	return protocol.LogPart{
		Offset: offset, Bytes: len(data), Text: strings.ToValidUTF8(string(data), "\uFFFD"), Size: size, Ended: ended,
	}, nil
}

// storeFault says what went wrong with the store.
func storeFault(what string, err error) error {
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return fault
	}
	fault := &protocol.Fault{Class: protocol.ClassInternal, Happened: "The app's data could not be used", Detail: fmt.Sprintf("%s: %v", what, err)}
	switch {
	case errors.Is(err, store.ErrNoSpace):
		fault.Class, fault.Happened, fault.Remedy = protocol.ClassDiskFull, "The disk is full", "Free some space, then try again."
	case errors.Is(err, store.ErrNotFound):
		fault.Class, fault.Happened = protocol.ClassNotFound, "This is no longer there"
	case errors.Is(err, store.ErrCorrupt):
		fault.Happened = "A part of this session's stored data is damaged"
	}
	return fault
}

// placeFault says what went wrong with a sandbox.
func placeFault(what string, err error) error {
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return fault
	}
	fault := &protocol.Fault{Class: protocol.ClassInternal, Happened: "The workspace could not be used", Detail: fmt.Sprintf("%s: %v", what, err)}
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok {
		return fault
	}
	fault.Remedy = e.Remedy
	switch e.Kind {
	case sandbox.KindGone:
		fault.Class, fault.Happened = protocol.ClassSandboxGone, "The workspace is gone"
	case sandbox.KindNotFound:
		fault.Class, fault.Happened = protocol.ClassNotFound, "There is no such file or folder"
	case sandbox.KindEscape:
		fault.Class, fault.Happened = protocol.ClassBadInput, "This path leads out of the workspace"
	case sandbox.KindDenied:
		fault.Class, fault.Happened = protocol.ClassWorkspace, "This file may not be read"
	case sandbox.KindTooLarge:
		fault.Class, fault.Happened = protocol.ClassBadInput, "This is too large to show"
	case sandbox.KindUnavailable:
		fault.Class, fault.Happened = protocol.ClassUnavailable, "The backend can't be used now"
	}
	return fault
}
