package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

// readFile shows a part of a text file, or what is in a folder.
type readFile struct{}

const (
	// defaultLines is how many lines are shown if the call does not say.
	defaultLines = 2000
	// maxLine is where a long line is cut, in bytes.
	maxLine = 2000
	// maxShown is how much of a file one call shows, in bytes.
	maxShown = 80 << 10
	// maxScanned is how far a file is read on only to count its lines.
	maxScanned = 16 << 20
	// maxListed is how many entries of a folder are shown.
	maxListed = 500
)

const readUsage = `{"path": text (required), "offset": number, "limit": number}`

type readArgs struct {
	Path   string `json:"path"`
	Offset count  `json:"offset"`
	Limit  count  `json:"limit"`
}

func (readFile) Name() string { return "read_file" }

func (readFile) Description() string {
	return "Reads a text file of the workspace: a line that says which lines follow, then these lines as they are. " +
		"Reads a part with offset and limit. Lists a folder. Use view_image for images."
}

func (readFile) Schema() json.RawMessage {
	return json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The file or folder, relative to the workspace."},
    "offset": {"type": "number", "description": "The first line, counted from 1. Default: 1."},
    "limit": {"type": "number", "description": "How many lines. Default: 2000."}
  },
  "required": ["path"],
  "additionalProperties": false
}`)
}

func parseRead(raw json.RawMessage) (readArgs, error) {
	var a readArgs
	if err := decode(raw, &a, readUsage); err != nil {
		return a, err
	}
	if a.Path == "" {
		return a, errors.New("path is missing; expected " + readUsage)
	}
	if strings.ContainsRune(a.Path, 0) {
		return a, errors.New("path can't hold NUL bytes")
	}
	return a, nil
}

func (readFile) Assess(raw json.RawMessage, env Env) (protocol.Ask, error) {
	a, err := parseRead(raw)
	if err != nil {
		return protocol.Ask{}, err
	}
	return protocol.Ask{Title: oneLine("Read " + shown(a.Path)), Dir: env.Root}, nil
}

func (readFile) Run(ctx context.Context, call Call) (Outcome, error) {
	began := time.Now()
	a, err := parseRead(call.Args)
	if err != nil {
		return failed("%s", err), nil
	}
	files := call.Sandbox.Files()
	name, _ := within(call.Sandbox.Root(), a.Path)
	real, info, err := follow(ctx, files, call.Sandbox.Root(), name)
	if err != nil {
		return cannotRead(ctx, files, name, err)
	}
	var text string
	truncated := false
	switch {
	case info.Mode.IsDir():
		text, truncated, err = listing(ctx, files, real)
	case !info.Mode.IsRegular():
		return failed("%s is neither a file nor a folder: it can't be read.", shown(name)), nil
	default:
		text, truncated, err = readLines(ctx, files, real, info, a)
	}
	if err != nil {
		return cannotRead(ctx, files, name, err)
	}
	return Outcome{Status: protocol.ToolDone, Result: protocol.ToolResult{
		Output: text, Truncated: truncated, OutputBytes: info.Size, DurationMs: time.Since(began).Milliseconds(),
	}}, nil
}

func cannotRead(ctx context.Context, files sandbox.FS, name string, err error) (Outcome, error) {
	if r, ok := errors.AsType[refusal](err); ok {
		return failed("%s", r.text), nil
	}
	if broken(err) {
		return Outcome{}, fmt.Errorf("read %s: %w", name, err)
	}
	switch sandbox.KindOf(err) {
	case sandbox.KindNotFound:
		return failed("There is no file or folder %s.%s", shown(name), suggest(ctx, files, name)), nil
	case sandbox.KindEscape:
		return failed("%s leads out of the workspace: this tool reads only inside of it.", shown(name)), nil
	}
	return failed("%s can't be read: %s.", shown(name), because(err)), nil
}

// readLines returns the wanted lines under a line that says which they are.
// The file is read as a stream: only what is shown is kept.
func readLines(ctx context.Context, files sandbox.FS, name string, info sandbox.Info, a readArgs) (text string, truncated bool, err error) {
	r, err := files.Open(ctx, name, 0, -1)
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	in := bufio.NewReaderSize(r, 64<<10)
	sample, err := in.Peek(8 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, err
	}
	if kind := imageType(sample); kind != "" {
		return "", false, refuse("%s is an image (%s, %s): use view_image.", shown(name), kind, bytesText(info.Size))
	}
	if bytes.IndexByte(sample, 0) >= 0 || looksBinary(sample) {
		return "", false, refuse("%s is a binary file (%s).", shown(name), bytesText(info.Size))
	}
	s := lineScanner{in: in, first: a.Offset.positive().or(1, 1, 1<<31-1), limit: a.Limit.positive().or(defaultLines, 1, 1<<31-1)}
	if err := s.scan(ctx); err != nil {
		return "", false, err
	}
	if s.shown == 0 && s.total > 0 {
		return "", false, refuse("%s has only %s lines: there is no line %s.", shown(name), grouped(s.total), grouped(int64(s.first)))
	}
	return s.header(name, info.Size) + s.text.String(), s.cut(), nil
}

// lineScanner takes the wanted lines out of a stream.
type lineScanner struct {
	in           *bufio.Reader
	first, limit int

	text strings.Builder
	// shown counts the lines in text, total those that were read, of which long
	// were cut.
	shown, long int
	total       int64
	read        int64
	ended, crlf bool
}

func (s *lineScanner) scan(ctx context.Context) error {
	for {
		if s.total%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		wanted := s.total+1 >= int64(s.first) && s.shown < s.limit && s.text.Len() < maxShown
		line, size, err := s.line(wanted)
		if size == 0 && errors.Is(err, io.EOF) {
			s.ended = true
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		s.total++
		if wanted {
			s.add(line, size)
		}
		if errors.Is(err, io.EOF) {
			s.ended = true
			return nil
		}
		past := s.total >= int64(s.first) && !wanted
		if past && s.read > maxScanned {
			return nil
		}
	}
}

// line reads one line, of size bytes without the end, and keeps its beginning
// if it is wanted. err is io.EOF for a last line without an end.
func (s *lineScanner) line(wanted bool) (kept []byte, size int, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		s.read += int64(len(part))
		part = bytes.TrimSuffix(part, []byte("\n"))
		size += len(part)
		if room := maxLine + 1 - len(kept); wanted && room > 0 {
			kept = append(kept, part[:min(len(part), room)]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return kept, size, err
		}
	}
}

func (s *lineScanner) add(line []byte, size int) {
	s.shown++
	rest := size - len(line)
	if rest == 0 && bytes.HasSuffix(line, []byte("\r")) {
		line, s.crlf = line[:len(line)-1], true
	}
	if len(line) > maxLine {
		kept := maxLine - partialRune(line[:maxLine])
		line, rest = line[:kept], rest+len(line)-kept
	}
	s.text.WriteString(valid(strings.ReplaceAll(string(line), "\x00", "\u2400")))
	if rest > 0 {
		s.long++
		fmt.Fprintf(&s.text, " [… %s more in this line]", bytesText(int64(rest)))
	}
	s.text.WriteByte('\n')
}

func (s *lineScanner) last() int64 { return int64(s.first) + int64(s.shown) - 1 }

func (s *lineScanner) cut() bool {
	return s.first > 1 || s.long > 0 || !s.ended || s.last() < s.total
}

func (s *lineScanner) header(name string, size int64) string {
	if s.total == 0 {
		return fmt.Sprintf("%s is empty.", shown(name))
	}
	of := " of " + grouped(s.total)
	if !s.ended {
		of = " of more"
	}
	notes := bytesText(size)
	if s.crlf {
		notes += ", lines end with CRLF"
	}
	header := fmt.Sprintf("%s, lines %d-%d%s (%s)", shown(name), s.first, s.last(), of, notes)
	if !s.ended || s.last() < s.total {
		header += fmt.Sprintf("; read on with offset %d", s.last()+1)
	}
	return header + ":\n"
}

// listing shows a folder: folders with a slash, files with their size.
func listing(ctx context.Context, files sandbox.FS, name string) (string, bool, error) {
	entries, err := files.ReadDir(ctx, name)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is a folder with %s:\n", shown(path.Clean(name)), plural(len(entries), "entry", "entries"))
	slices.SortStableFunc(entries, func(x, y sandbox.Info) int {
		switch {
		case x.Mode.IsDir() == y.Mode.IsDir():
			return strings.Compare(x.Name, y.Name)
		case x.Mode.IsDir():
			return -1
		}
		return 1
	})
	for i, e := range entries {
		if i == maxListed {
			fmt.Fprintf(&b, "[… %d more are left out …]\n", len(entries)-maxListed)
			break
		}
		switch {
		case e.Mode.IsDir():
			fmt.Fprintf(&b, "%s/\n", shown(valid(e.Name)))
		case e.Mode&fs.ModeSymlink != 0:
			fmt.Fprintf(&b, "%s -> %s\n", shown(valid(e.Name)), shown(valid(e.Target)))
		default:
			fmt.Fprintf(&b, "%s (%s)\n", shown(valid(e.Name)), bytesText(e.Size))
		}
	}
	return b.String(), len(entries) > maxListed, nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + many
}
