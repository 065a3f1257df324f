package shtree

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// liar is a sandbox that answers every command with the same bytes, in which
// NONCE stands for the nonce of the command.
type liar struct {
	answer []byte
	// more is put after the answer again and again, without an end.
	more []byte
	code int
	ran  int
}

func (l *liar) Ref() sandbox.Ref { return sandbox.Ref{Backend: "liar"} }
func (l *liar) Root() string     { return "/workspace" }

func (l *liar) Exec(ctx context.Context, cmd sandbox.Cmd) (sandbox.Result, error) {
	l.ran++
	if cmd.Stdin != nil {
		if _, err := io.Copy(io.Discard, cmd.Stdin); err != nil {
			return sandbox.Result{}, err
		}
	}
	nonce := cmd.Args[min(5, len(cmd.Args)-1)]
	if nonce == "stat" || nonce == "list" {
		nonce = cmd.Args[7]
	}
	if cmd.Stdout == nil {
		return sandbox.Result{ExitCode: l.code}, nil
	}
	_, err := cmd.Stdout.Write(bytes.ReplaceAll(l.answer, []byte("NONCE"), []byte(nonce)))
	for err == nil && len(l.more) > 0 && ctx.Err() == nil {
		_, err = cmd.Stdout.Write(l.more)
	}
	return sandbox.Result{ExitCode: l.code}, err
}

var asked = []string{"a", "b", "folder/c"}

// told fails unless an error is one that a sandbox may have.
func told(t *testing.T, err error) {
	t.Helper()
	if err != nil && sandbox.KindOf(err) == "" {
		t.Fatalf("an error without a kind: %v", err)
	}
}

// operations are what reads the answer of a sandbox. They check what they can.
var operations = map[string]func(t *testing.T, l *liar) error{
	"list": func(t *testing.T, l *liar) error {
		_, err := New(l).List(t.Context(), nil, func(e sandbox.Entry) error {
			if e.Size < 0 || e.Held < 0 {
				t.Fatalf("a size that can't be: %+v", e)
			}
			return nil
		})
		return err
	},
	"read": func(t *testing.T, l *liar) error {
		seen := map[string]bool{}
		err := New(l).ReadFiles(t.Context(), asked, func(f sandbox.FileRead) error {
			if seen[f.Name] || !slices.Contains(asked, f.Name) {
				t.Fatalf("%q was not asked for, or comes twice", f.Name)
			}
			seen[f.Name] = true
			if f.Err != nil {
				return nil
			}
			n, err := io.Copy(io.Discard, f.Content)
			if err == nil && len(l.more) == 0 && n > int64(len(l.answer)) || f.Size < 0 {
				t.Fatalf("%q has %d bytes, and should have %d, of an answer of %d", f.Name, n, f.Size, len(l.answer))
			}
			return nil
		})
		if err == nil && len(seen) != len(asked) {
			t.Fatalf("only %v were given", seen)
		}
		return err
	},
	"digests": func(t *testing.T, l *liar) error {
		sums, err := New(l).Digests(t.Context(), asked)
		if err == nil && len(sums) != len(asked) {
			t.Fatalf("%d digests", len(sums))
		}
		return err
	},
	"apply": func(t *testing.T, l *liar) error {
		return New(l).Apply(t.Context(), []string{"x/y"}, makes())
	},
	"stat": func(t *testing.T, l *liar) error {
		info, err := New(l).Files().Stat(t.Context(), "a")
		if info.Size < 0 {
			t.Fatalf("%+v", info)
		}
		return err
	},
	"readdir": func(t *testing.T, l *liar) error {
		_, err := New(l).Files().ReadDir(t.Context(), "folder")
		return err
	},
	"open": func(t *testing.T, l *liar) error {
		r, err := New(l).Files().Open(t.Context(), "a", 3, 1000)
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, r)
		if n > 1000 {
			t.Fatalf("%d bytes were read", n)
		}
		return errors.Join(err, r.Close())
	},
}

func makes() iter.Seq2[sandbox.Make, error] {
	return func(yield func(sandbox.Make, error) bool) {
		_ = yield(sandbox.Make{Name: "folder", Mode: fs.ModeDir | 0o755}, nil) && yield(sandbox.Make{
			Name: "folder/c", Mode: 0o644, Size: 2,
			Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("hi")), nil },
		}, nil)
	}
}

const (
	findRecord = "f 644 7 5 8 1700000000.5 1700000000.25 ./a\x00\x00"
	statRecord = "81a4 7 5 8 2026-01-01 01:01:01.5 +0000 2026-01-01 01:01:01.25 +0000 ./a//NONCE\n'./a'//NONCE\n"
)

// packed is an archive with one file.
func packed(change func(h *tar.Header), content string) string {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	h := &tar.Header{Name: "./a", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content)), ModTime: time.Unix(1_700_000_000, 0), Format: tar.FormatGNU}
	change(h)
	if err := errors.Join(w.WriteHeader(h), onlyError(w.Write([]byte(content))), w.Close()); err != nil {
		panic(err)
	}
	return out.String()
}

func onlyError(_ int, err error) error { return err }

func asIs(*tar.Header) {}

// answers are sound ones, and which operation they are of.
func answers() map[string][]string {
	sum := strings.Repeat("0f", 32)
	return map[string][]string{
		"list": {
			"gnu\x001700000000.5\x00" + findRecord + "l 777 8 1 0 1.0 1.0 ./l\x00target\x00end 1\x00./closed\x00done\x00",
			"stat\x002026-01-01 01:01:01.5 +0000\n\x00" + statRecord + "end 0\x00done\x00",
		},
		"read": {
			"gnu\x00" + findRecord + "end 0\x00" + packed(asIs, "hello"),
			"stat\x00" + statRecord + "end 0\x00" + packed(asIs, "hello") + packed(func(h *tar.Header) { h.Name = "./b" }, "another"),
			"gnu\x00end 0\x00",
		},
		"digests": {"zero\x00" + sum + "  .//a\x00" + sum + "  .//folder/c\x00", "line\x00" + sum + "  .//a\n"},
		"apply":   {"gnu\x00done\x00", "other\x00555 ./folder\x00done\x00"},
		"stat":    {"gnu\x00" + findRecord + "end 0\x00", "stat\x00" + statRecord + "end 0\x00"},
		"readdir": {"gnu\x00" + findRecord + "end 0\x00", "stat\x00" + statRecord + "end 0\x00"},
		"open":    {"ok\nhello", "ok\n"},
	}
}

// The answers of the tests below are as scripts give them: sound ones are taken.
func TestSoundAnswers(t *testing.T) {
	for name, list := range answers() {
		for _, answer := range list {
			if err := operations[name](t, &liar{answer: []byte(answer)}); err != nil {
				t.Errorf("%s of %.60q: %v", name, answer, err)
			}
		}
	}
}

func TestUnsoundAnswers(t *testing.T) {
	sparse := func(h *tar.Header) {
		h.Format = tar.FormatPAX
		h.PAXRecords = map[string]string{"VENDOR.sparse.x": "1"}
	}
	// The library does not write them; a hole of some EB takes no room.
	holes := strings.NewReplacer("VENDOR.sparse.x=1", "GNU.sparse.map=0,0").Replace(packed(sparse, ""))
	for name, answer := range map[string]string{
		"list: nothing":                   "",
		"list: another kind":              "x\x00",
		"list: no time":                   "gnu\x00soon\x00",
		"list: cut off":                   "gnu\x001.0\x00" + findRecord,
		"list: no done":                   "gnu\x001.0\x00" + findRecord + "end 0\x00",
		"list: negative size":             "gnu\x001.0\x00f 644 7 -5 8 1.0 1.0 ./a\x00\x00end 0\x00done\x00",
		"list: negative blocks":           "gnu\x001.0\x00f 644 7 5 -8 1.0 1.0 ./a\x00\x00end 0\x00done\x00",
		"list: huge size":                 "gnu\x001.0\x00f 644 7 99999999999999999999 8 1.0 1.0 ./a\x00\x00end 0\x00done\x00",
		"list: more than there is":        "gnu\x001.0\x00f 644 7 5 9223372036854775807 1.0 1.0 ./a\x00\x00end 0\x00done\x00",
		"list: no number":                 "gnu\x001.0\x00f 644 x 5 8 1.0 1.0 ./a\x00\x00end 0\x00done\x00",
		"list: few fields":                "gnu\x001.0\x00f 644\x00\x00end 0\x00done\x00",
		"list: a mark that is none":       "stat\x002026-01-01 01:01:01.5 +0000\n\x00" + strings.ReplaceAll(statRecord, "NONCE", "OTHER"),
		"stat: negative size":             "stat\x00" + strings.Replace(statRecord, " 5 8 ", " -5 8 ", 1) + "end 0\x00",
		"stat: nothing":                   "gnu\x00end 0\x00",
		"stat: two":                       "gnu\x00" + findRecord + findRecord + "end 0\x00",
		"read: links to nothing":          "links\x00./elsewhere\x00",
		"read: half an archive":           "gnu\x00" + findRecord + "end 0\x00" + packed(asIs, "hello")[:514],
		"read: no archive":                "gnu\x00" + findRecord + "end 0\x00" + strings.Repeat("x", 1024),
		"read: holes":                     "gnu\x00" + findRecord + "end 0\x00" + holes,
		"read: negative size":             "gnu\x00f 644 7 -5 8 1.0 1.0 ./a\x00\x00end 0\x00",
		"digests: no digest":              "zero\x00" + strings.Repeat("x", 64) + "  .//a\x00",
		"digests: cut off":                "zero\x00" + strings.Repeat("0", 64) + "  .//a",
		"digests: links to nothing":       "links\x00./elsewhere\x00",
		"apply: links to nothing":         "links\x00./elsewhere\x00",
		"apply: a mode that is none":      "gnu\x00rwx ./folder\x00done\x00",
		"apply: another folder":           "gnu\x00755 ./other\x00done\x00",
		"apply: cut off":                  "gnu\x00",
		"open: nothing":                   "",
		"open: something else":            "no\nhello",
		"readdir: records without an end": "gnu\x00" + findRecord,
	} {
		l := &liar{answer: []byte(answer)}
		op, _, _ := strings.Cut(name, ":")
		err := operations[op](t, l)
		if err == nil {
			t.Errorf("%s is taken", name)
		}
		told(t, err)
		if l.ran > 4 {
			t.Errorf("%s: %d commands were run", name, l.ran)
		}
	}
}

// An answer without an end does not take all memory: it is given up at some
// point.
func TestEndlessAnswers(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 32<<10)
	for name, l := range map[string]*liar{
		"list: a record":     {answer: []byte("gnu\x001.0\x00"), more: long},
		"list: a stat":       {answer: []byte("stat\x002026-01-01 01:01:01.5 +0000\n\x00"), more: append(bytes.Clone(long), '\n')},
		"list: a word":       {more: long},
		"read: a record":     {answer: []byte("gnu\x00"), more: long},
		"read: an archive":   {answer: []byte("gnu\x00end 0\x00"), more: long},
		"digests: a record":  {answer: []byte("zero\x00"), more: long},
		"digests: one name":  {answer: []byte("line\x00" + strings.Repeat("0", 64) + "  .//a\n"), more: append(bytes.Clone(long), '\n')},
		"apply: a record":    {answer: []byte("gnu\x00"), more: long},
		"stat: a record":     {answer: []byte("gnu\x00"), more: long},
		"readdir: a record":  {answer: []byte("gnu\x00"), more: long},
		"readdir: too many":  {answer: []byte("gnu\x00"), more: bytes.Repeat([]byte(findRecord), 500)},
		"open: no beginning": {more: long},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		op, _, _ := strings.Cut(name, ":")
		err := operations[op](t, l)
		runtime.ReadMemStats(&after)
		if told(t, err); err == nil {
			t.Errorf("%s is taken", name)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
			t.Errorf("%s took %d MB", name, used>>20)
		}
	}
}

// Names without an end are given up at a limit. What is read is a little at a
// time here, so that the test is quick.
func TestEndlessNames(t *testing.T) {
	wide := "f 644 7 5 8 1.0 1.0 ./" + strings.Repeat("n", 60<<10) + "\x00\x00"
	for name, l := range map[string]*liar{
		"list":    {answer: []byte("gnu\x001.0\x00"), more: []byte(wide)},
		"readdir": {answer: []byte("gnu\x00"), more: []byte(wide)},
	} {
		err := operations[name](t, l)
		if told(t, err); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// What was not asked for is not kept, nor handed on.
func TestUnaskedIsLeftOut(t *testing.T) {
	answer := "gnu\x00" + strings.Replace(findRecord, "./a", "./other", 1) + "end 0\x00" +
		packed(func(h *tar.Header) { h.Name = "./other" }, "x") + packed(func(h *tar.Header) { h.Name = "../a" }, "x") +
		packed(func(h *tar.Header) { h.Name = "/workspace/a" }, "x") + packed(asIs, "hello") + packed(asIs, "twice")
	var got []string
	err := New(&liar{answer: []byte(answer)}).ReadFiles(t.Context(), asked, func(f sandbox.FileRead) error {
		text := fmt.Sprint(sandbox.KindOf(f.Err))
		if f.Err == nil {
			content, err := io.ReadAll(f.Content)
			if err != nil {
				return err
			}
			text = string(content)
		}
		got = append(got, path.Join(f.Name, text))
		return nil
	})
	if want := []string{"a/hello", "b/not_found", "folder/c/not_found"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q, %v", got, want, err)
	}
}

func FuzzAnswers(f *testing.F) {
	names := slices.Sorted(maps.Keys(operations))
	for name, list := range answers() {
		for _, answer := range list {
			for i, other := range names {
				if other == name {
					f.Add(byte(i), []byte(answer))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, which byte, answer []byte) {
		l := &liar{answer: answer}
		told(t, operations[names[int(which)%len(names)]](t, l))
		if l.ran > 20 {
			t.Fatalf("%d commands were run", l.ran)
		}
	})
}
