package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/workplace"
	"temporal-sandbox-agent/sandbox"
)

// place opens the session's sandbox for reading.
func (s *Service) place(ctx context.Context, id string) (*workplace.Place, error) {
	record, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if record.Sandbox == "" {
		return nil, &protocol.Fault{
			Class: protocol.ClassNotFound, Happened: "This session has no workspace yet",
			Remedy: "It is made when the first message is worked.",
		}
	}
	place, err := s.Places.Open(ctx, id, protocol.Place{
		Backend: record.Backend, Workspace: record.Workspace, Folder: record.Folder, Image: record.Image, Sandbox: record.Sandbox,
	})
	if err != nil {
		return nil, placeFault("open the workspace", err)
	}
	return place, nil
}

// rawPath returns the real path of an entry: paths that are not valid UTF-8
// travel as base64.
func rawPath(name, raw string) (string, error) {
	if raw == "" {
		return name, nil
	}
	b, err := base64.StdEncoding.DecodeString(raw)
	if err != nil {
		return "", &protocol.Fault{Class: protocol.ClassBadInput, Happened: "This path can't be read", Detail: err.Error()}
	}
	return string(b), nil
}

// ListDir lists a folder of the workspace: folders first, then by name.
func (s *Service) ListDir(ctx context.Context, id, name, raw string) ([]protocol.FileEntry, error) {
	place, err := s.place(ctx, id)
	if err != nil {
		return nil, err
	}
	dir, err := rawPath(name, raw)
	if err != nil {
		return nil, err
	}
	infos, err := place.Sandbox.Files().ReadDir(ctx, dir)
	if err != nil {
		return nil, placeFault("list the folder", err)
	}
	entries := make([]protocol.FileEntry, 0, len(infos))
	for _, dirs := range []bool{true, false} {
		for _, info := range infos {
			if info.Mode.IsDir() == dirs {
				entries = append(entries, entryOf(dir, info))
			}
		}
	}
	return entries, nil
}

func entryOf(dir string, info sandbox.Info) protocol.FileEntry {
	full := path.Join(dir, info.Name)
	entry := protocol.FileEntry{
		Name: readable(info.Name), Path: readable(full), Kind: kindOf(info.Mode),
		Size: info.Size, Mode: uint32(info.Mode.Perm()), Modified: info.Modified, Target: readable(info.Target),
	}
	if !utf8.ValidString(full) {
		entry.RawPath = base64.StdEncoding.EncodeToString([]byte(full))
	}
	return entry
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "dir"
	case mode.IsRegular():
		return "file"
	case mode&fs.ModeSymlink != 0:
		return "link"
	default:
		return "other"
	}
}

// readable writes bad bytes as \xNN.
func readable(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	const digits = "0123456789abcdef"
	var b strings.Builder
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x` + string(digits[name[0]>>4]) + string(digits[name[0]&15]))
		} else {
			b.WriteString(name[:n])
		}
		name = name[n:]
	}
	return b.String()
}

// Limits of one part of a file: images are read whole.
const (
	maxFilePart = 1 << 20
	maxImage    = 20 << 20
)

// ReadFile returns a part of a file, for the viewer.
func (s *Service) ReadFile(ctx context.Context, id, name, raw string, offset int64, limit int) (protocol.FileContent, error) {
	place, err := s.place(ctx, id)
	if err != nil {
		return protocol.FileContent{}, err
	}
	full, err := rawPath(name, raw)
	if err != nil {
		return protocol.FileContent{}, err
	}
	files := place.Sandbox.Files()
	info, err := files.Stat(ctx, full)
	if err != nil {
		return protocol.FileContent{}, placeFault("read the file", err)
	}
	if info.Mode.IsDir() || (!info.Mode.IsRegular() && info.Mode&fs.ModeSymlink == 0) {
		return protocol.FileContent{}, &protocol.Fault{Class: protocol.ClassBadInput, Happened: "This is not a file that can be shown"}
	}
	kind := mime.TypeByExtension(strings.ToLower(path.Ext(full)))
	want := int64(min(max(limit, 1), maxFilePart))
	if strings.HasPrefix(kind, "image/") && info.Size <= maxImage {
		offset, want = 0, maxImage
	}
	r, err := files.Open(ctx, full, offset, want)
	if err != nil {
		return protocol.FileContent{}, placeFault("read the file", err)
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	if err != nil {
		return protocol.FileContent{}, placeFault("read the file", err)
	}
	content := protocol.FileContent{Path: readable(full), Size: max(info.Size, offset+int64(len(data))), Offset: offset, Modified: info.Modified}
	fill(&content, data, kind)
	return content, nil
}

// fill decides what kind of content it is and puts it in.
func fill(content *protocol.FileContent, data []byte, kind string) {
	if rest := afterCutRune(data, content.Offset); isText(rest, content.Offset+int64(len(data)) < content.Size) {
		content.Offset += int64(len(data) - len(rest))
		data = rest
	}
	content.Bytes = len(data)
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	content.MIME = kind
	switch {
	case strings.HasPrefix(kind, "image/") && kind != "image/svg+xml":
		content.Kind, content.Base64 = "image", base64.StdEncoding.EncodeToString(data)
	case isText(data, content.Offset+int64(len(data)) < content.Size):
		// A rune that the window cuts in two belongs to the next part.
		text := data
		for cut := 0; cut < utf8.UTFMax && !utf8.Valid(text) && len(text) > 0; cut++ {
			text = text[:len(text)-1]
		}
		content.Kind, content.Text, content.Bytes = "text", string(text), len(text)
	default:
		content.Kind, content.Base64 = "binary", base64.StdEncoding.EncodeToString(data)
	}
}

// afterCutRune leaves out the end of a rune that the window's beginning cut in
// two: it belongs to the part before.
func afterCutRune(data []byte, offset int64) []byte {
	for cut := 0; offset > 0 && cut < utf8.UTFMax-1 && len(data) > 0 && !utf8.RuneStart(data[0]); cut++ {
		data = data[1:]
	}
	return data
}

// isText tells whether data is UTF-8 without NUL, but for a rune cut at its end
// when more follows.
func isText(data []byte, more bool) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	if utf8.Valid(data) {
		return true
	}
	for cut := 1; more && cut < utf8.UTFMax && cut < len(data); cut++ {
		if utf8.Valid(data[:len(data)-cut]) {
			return true
		}
	}
	return false
}

// WatchFiles tells which folders of the workspace change until ctx ends.
func (s *Service) WatchFiles(ctx context.Context, id string, changed func(dirs []string)) error {
	place, err := s.place(ctx, id)
	if err != nil {
		return err
	}
	watcher, ok := place.Sandbox.(sandbox.Watcher)
	if !ok {
		return nil
	}
	return watcher.Watch(ctx, changed)
}

// RealPath returns the full name of a file or folder of a session's workspace,
// after it was found to be inside.
func (s *Service) RealPath(ctx context.Context, id, name, raw string) (string, error) {
	place, err := s.place(ctx, id)
	if err != nil {
		return "", err
	}
	full, err := rawPath(name, raw)
	if err != nil {
		return "", err
	}
	if full == "" {
		return place.Sandbox.Root(), nil
	}
	if _, err := place.Sandbox.Files().Stat(ctx, full); err != nil {
		return "", placeFault("find the file", err)
	}
	return path.Join(place.Sandbox.Root(), full), nil
}
