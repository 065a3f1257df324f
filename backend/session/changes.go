package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/snapshot"
	"temporal-sandbox-agent/backend/store"
)

// Limits of one answer about changes.
const (
	maxChanges = 2000
	// Lines are counted of this many files, of at most this size, in bytes.
	maxCounted      = 400
	maxCountedBytes = 512 << 10
	// maxDiffText is the longest text of one side of a diff, maxDiffImage the
	// largest image, in bytes.
	maxDiffText  = 2 << 20
	maxDiffImage = 20 << 20
)

// The words for scopes that are no turn's id.
const (
	scopeLast  = "last"
	scopeStart = "start"
)

// between finds the snapshots of a scope. why says why there are none.
func (s *Service) between(ctx context.Context, record protocol.Session, scope protocol.ChangeScope) (from, to, why string, err error) {
	if from, to, why, err = s.committedBetween(ctx, record, scope.Turn); err != nil || why != "" || !scope.Live {
		return from, to, why, err
	}
	captured, err := s.captureNow(ctx, record)
	if err != nil {
		return "", "", "", err
	}
	if captured.TooLarge != nil {
		return from, to, "The workspace is too large to be compared: choose first what its snapshots leave out.", nil
	}
	return from, string(captured.Root), "", nil
}

func (s *Service) committedBetween(ctx context.Context, record protocol.Session, scope string) (from, to, why string, err error) {
	if scope == scopeStart {
		if from, err = s.beginning(ctx, record); err != nil {
			return "", "", "", err
		}
		if from == "" || record.Snapshot == "" {
			return "", "", "No snapshot was taken at the beginning.", nil
		}
		return from, record.Snapshot, "", nil
	}
	at := store.ID(record.Head)
	if scope != scopeLast && scope != "" {
		id, _, ok, err := s.Transcript.FindTurn(ctx, at, scope)
		if err != nil {
			return "", "", "", storeFault("find the turn", err)
		}
		if !ok {
			return "", "", "", &protocol.Fault{Class: protocol.ClassNotFound, Happened: "This turn is not part of the conversation, or is not over yet"}
		}
		at = id
	}
	for at != "" {
		c, err := s.Transcript.GetCommit(ctx, at)
		if err != nil {
			return "", "", "", storeFault("read the turn", err)
		}
		switch {
		case !c.Mark && c.Base != "" && c.Snapshot != "":
			return c.Base, c.Snapshot, "", nil
		case scope != scopeLast && scope != "":
			return "", "", "No snapshot was taken in this turn.", nil
		}
		at = c.Parent
	}
	return "", "", "No turn with a snapshot yet.", nil
}

// captureNow takes a snapshot of the workspace as it is. It belongs to nobody:
// what only it holds is swept after a while.
func (s *Service) captureNow(ctx context.Context, record protocol.Session) (snapshot.Captured, error) {
	place, err := s.place(ctx, record.ID)
	if err != nil {
		return snapshot.Captured{}, err
	}
	tree, err := place.Tree()
	if err != nil {
		return snapshot.Captured{}, placeFault("look at the files", err)
	}
	captured, err := snapshot.Capture(ctx, tree, s.Snapshots, snapshot.CaptureOptions{
		Index: s.Places.LiveIndexFile(place), Exclude: record.Snapshots.Exclude, Limits: snapshot.Limits{Whole: record.Snapshots.Whole},
	})
	if err != nil {
		return captured, placeFault("look at the files", err)
	}
	return captured, nil
}

// Changes lists the files that differ in a scope.
func (s *Service) Changes(ctx context.Context, id string, scope protocol.ChangeScope) (protocol.Changes, error) {
	out := protocol.Changes{Files: []protocol.ChangedFile{}}
	record, err := s.Get(ctx, id)
	if err != nil {
		return out, err
	}
	from, to, why, err := s.between(ctx, record, scope)
	if err != nil {
		return out, err
	}
	out.From, out.To, out.Missing = from, to, why
	if why != "" {
		return out, nil
	}
	c := &counter{ctx: ctx, store: s.Snapshots}
	if c.from, err = snapshot.Load(ctx, s.Snapshots, store.ID(from)); err == nil {
		c.to, err = snapshot.Load(ctx, s.Snapshots, store.ID(to))
	}
	if err != nil {
		return out, storeFault("read the snapshots", err)
	}
	out.Skipped = c.to.Skipped()
	for change, err := range snapshot.Diff(ctx, s.Snapshots, store.ID(from), store.ID(to)) {
		if err != nil {
			return out, storeFault("compare the snapshots", err)
		}
		if change.TimeOnly() {
			continue
		}
		if out.Count++; len(out.Files) < maxChanges {
			file := c.changed(change)
			out.Files = append(out.Files, file)
			out.Added += file.Added
			out.Removed += file.Removed
		}
	}
	return out, nil
}

// counter describes changed files, and counts their lines while that is cheap.
type counter struct {
	ctx      context.Context
	store    snapshot.Store
	from, to *snapshot.Manifest
	counted  int
}

func (c *counter) changed(change snapshot.Change) protocol.ChangedFile {
	file := protocol.ChangedFile{Path: readable(change.Path)}
	if !utf8.ValidString(change.Path) {
		file.RawPath = base64.StdEncoding.EncodeToString([]byte(change.Path))
	}
	switch {
	case change.Old == nil:
		file.Op, file.Kind, file.NewSize = "add", change.New.Kind.String(), change.New.Size
	case change.New == nil:
		file.Op, file.Kind, file.OldSize = "delete", change.Old.Kind.String(), change.Old.Size
	default:
		file.Op, file.Kind, file.OldSize, file.NewSize = "update", change.New.Kind.String(), change.Old.Size, change.New.Size
		if change.Old.Kind == change.New.Kind && change.Old.Sum == change.New.Sum && change.Old.Target == change.New.Target {
			file.Op = "mode"
			return file
		}
	}
	if file.Kind != "file" || c.counted >= maxCounted {
		return file
	}
	before, ok := c.text(c.from, change.Old)
	after, ok2 := c.text(c.to, change.New)
	if !ok || !ok2 {
		return file
	}
	c.counted++
	file.Counted = true
	file.Added, file.Removed = countLines(before, after)
	return file
}

// text reads one side of a change, if it is a short text or not there.
func (c *counter) text(m *snapshot.Manifest, f *snapshot.File) (string, bool) {
	if f == nil || f.Kind != snapshot.KindFile {
		return "", true
	}
	if f.Size > maxCountedBytes {
		return "", false
	}
	data, err := readContent(c.ctx, m, *f)
	return string(data), err == nil && isText(data, false)
}

func readContent(ctx context.Context, m *snapshot.Manifest, f snapshot.File) ([]byte, error) {
	r, err := m.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// countLines counts the lines that were added and removed.
func countLines(before, after string) (added, removed int) {
	if before == "" || after == "" {
		return lines(after), lines(before)
	}
	for _, edit := range udiff.Lines(before, after) {
		added += lines(edit.New)
		removed += lines(before[edit.Start:edit.End])
	}
	return added, removed
}

// lines counts lines; the last need not end.
func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// FileDiff returns a file before and after the changes of a scope.
func (s *Service) FileDiff(ctx context.Context, id string, scope protocol.ChangeScope, name, raw string) (protocol.FileDiff, error) {
	full, err := rawPath(name, raw)
	if err != nil {
		return protocol.FileDiff{}, err
	}
	record, err := s.Get(ctx, id)
	if err != nil {
		return protocol.FileDiff{}, err
	}
	from, to, why, err := s.between(ctx, record, scope)
	if err != nil {
		return protocol.FileDiff{}, err
	}
	if why != "" {
		return protocol.FileDiff{}, &protocol.Fault{Class: protocol.ClassNotFound, Happened: why}
	}
	out := protocol.FileDiff{Path: readable(full)}
	for _, side := range []struct {
		root string
		into **protocol.FileSide
	}{{from, &out.Old}, {to, &out.New}} {
		if *side.into, err = s.side(ctx, store.ID(side.root), full); err != nil {
			return out, storeFault("read "+readable(full), err)
		}
	}
	return out, nil
}

// side reads a file of a snapshot; nil if it is not there.
func (s *Service) side(ctx context.Context, root store.ID, name string) (*protocol.FileSide, error) {
	m, err := snapshot.Load(ctx, s.Snapshots, root)
	if err != nil {
		return nil, err
	}
	f, ok, err := m.Lookup(ctx, name)
	if err != nil || !ok {
		return nil, err
	}
	side := &protocol.FileSide{Kind: "binary", Size: f.Size, Mode: uint32(f.Mode.Perm())}
	switch f.Kind {
	case snapshot.KindDir:
		side.Kind = "dir"
		return side, nil
	case snapshot.KindLink:
		side.Kind, side.Text = "link", readable(f.Target)
		return side, nil
	}
	kind := mime.TypeByExtension(strings.ToLower(path.Ext(name)))
	image := strings.HasPrefix(kind, "image/") && kind != "image/svg+xml"
	if f.Size > maxDiffImage || !image && f.Size > maxDiffText {
		side.TooLarge, side.MIME = true, kind
		return side, nil
	}
	data, err := readContent(ctx, m, f)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		kind = http.DetectContentType(data[:min(len(data), 512)])
	}
	side.MIME = kind
	switch {
	case image:
		side.Kind, side.Base64 = "image", base64.StdEncoding.EncodeToString(data)
	case isText(data, false):
		side.Kind, side.Text = "text", string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	}
	return side, nil
}
