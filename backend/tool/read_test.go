package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
)

func TestReadFile(t *testing.T) {
	p := newPlace(t)
	var long strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	p.write("a.txt", "one\ntwo\nthree\n")
	p.write("long.txt", long.String())
	p.write("wide.txt", "short\n"+strings.Repeat("é", 3000)+"\nend\n")
	p.write("crlf.txt", "one\r\ntwo\r\n")
	p.write("open.txt", "one\ntwo")
	p.write("empty.txt", "")
	p.write("latin.txt", "caf\xe9 au lait is a drink\n")
	p.write("-rf\n", "odd\n")
	p.write("bytes", "a\xff\xfe\x00\x01b")
	p.write("utf16.txt", "h\x00i\x00\n\x00")
	p.write("pic.png", "\x89PNG\r\n\x1a\nrest")
	p.write("dir/inner/x", "12345")
	p.write("dir/b", "")
	for _, link := range [][2]string{{"a.txt", "link"}, {"dir", "dirlink"}, {"/etc/passwd", "out"}, {"gone", "dangling"}} {
		if err := os.Symlink(link[0], filepath.Join(p.dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(p.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args      m
		want      string
		truncated bool
		failed    bool
	}{
		{args: m{"path": "a.txt"}, want: "a.txt, lines 1-3 of 3 (14 bytes):\none\ntwo\nthree\n"},
		{args: m{"path": filepath.Join(p.dir, "a.txt")}, want: "a.txt, lines 1-3 of 3 (14 bytes):\none\ntwo\nthree\n"},
		{args: m{"path": "a.txt", "offset": 2, "limit": 1}, want: "a.txt, lines 2-2 of 3 (14 bytes); read on with offset 3:\ntwo\n", truncated: true},
		{args: m{"path": "a.txt", "offset": "3"}, want: "a.txt, lines 3-3 of 3 (14 bytes):\nthree\n", truncated: true},
		{args: m{"path": "a.txt", "offset": 0}, want: "a.txt, lines 1-3 of 3 (14 bytes):\none\ntwo\nthree\n"},
		{args: m{"path": "a.txt", "limit": 0}, want: "a.txt, lines 1-3 of 3 (14 bytes):\none\ntwo\nthree\n"},
		{args: m{"path": "a.txt", "offset": 9}, want: "a.txt has only 3 lines: there is no line 9.", failed: true},
		{args: m{"path": "open.txt"}, want: "open.txt, lines 1-2 of 2 (7 bytes):\none\ntwo\n"},
		{args: m{"path": "crlf.txt"}, want: "crlf.txt, lines 1-2 of 2 (10 bytes, lines end with CRLF):\none\ntwo\n"},
		{args: m{"path": "empty.txt"}, want: "empty.txt is empty."},
		{args: m{"path": "latin.txt"}, want: "latin.txt, lines 1-1 of 1 (24 bytes):\ncaf\uFFFD au lait is a drink\n"},
		{args: m{"path": "-rf\n"}, want: "\"-rf\\n\", lines 1-1 of 1 (4 bytes):\nodd\n"},
		{args: m{"path": "wide.txt"}, want: "wide.txt, lines 1-3 of 3 (6,011 bytes):\nshort\n" + strings.Repeat("é", 1000) + " [… 4,000 bytes more in this line]\nend\n", truncated: true},
		{args: m{"path": "link"}, want: "a.txt, lines 1-3 of 3 (14 bytes):\none\ntwo\nthree\n"},
		{args: m{"path": "dir"}, want: "dir is a folder with 2 entries:\ninner/\nb (0 bytes)\n"},
		{args: m{"path": "dirlink"}, want: "dir is a folder with 2 entries:\ninner/\nb (0 bytes)\n"},
		{args: m{"path": "dir/inner/"}, want: "dir/inner is a folder with 1 entry:\nx (5 bytes)\n"},
		{args: m{"path": "bytes"}, want: "bytes is a binary file (6 bytes).", failed: true},
		{args: m{"path": "utf16.txt"}, want: "utf16.txt is a binary file (6 bytes).", failed: true},
		{args: m{"path": "pic.png"}, want: "pic.png is an image (PNG, 12 bytes): use view_image.", failed: true},
		{args: m{"path": "fifo"}, want: "fifo is neither a file nor a folder", failed: true},
		{args: m{"path": "A.TXT"}, want: "There is no file or folder A.TXT. Did you mean a.txt?", failed: true},
		{args: m{"path": "dir/inner/y"}, want: "There is no file or folder dir/inner/y. Did you mean dir/inner/x?", failed: true},
		{args: m{"path": "dri/inner"}, want: "There is no file or folder dri/inner. Did you mean dir?", failed: true},
		{args: m{"path": "dangling"}, want: "There is no file or folder dangling.", failed: true},
		{args: m{"path": "a.txt/x"}, want: "not a directory", failed: true},
		{args: m{"path": "../x"}, want: "../x leads out of the workspace", failed: true},
		{args: m{"path": "/etc/passwd"}, want: "/etc/passwd leads out of the workspace", failed: true},
		{args: m{"path": "out"}, want: "out leads out of the workspace", failed: true},
		{args: m{"path": "dir/../../x"}, want: "leads out of the workspace", failed: true},
		{args: m{}, want: "path is missing", failed: true},
	} {
		out := p.run(readFile{}, p.call(c.args))
		r := out.Result
		if (out.Status == protocol.ToolFailed) != c.failed || r.Truncated != c.truncated {
			t.Errorf("%v: %s, truncated %v: %q", c.args, out.Status, r.Truncated, r.Output)
		}
		if ok := r.Output == c.want || c.failed && strings.Contains(r.Output, c.want); !ok {
			t.Errorf("%v: got %q, want %q", c.args, r.Output, c.want)
		}
		if !utf8.ValidString(r.Output) {
			t.Errorf("%v: invalid text", c.args)
		}
	}
	out := p.run(readFile{}, p.call(m{"path": "long.txt"}))
	if !strings.HasPrefix(out.Result.Output, "long.txt, lines 1-2000 of 5,000 (48,893 bytes); read on with offset 2001:\nline 1\n") || !strings.HasSuffix(out.Result.Output, "line 2000\n") {
		t.Errorf("long: %q", out.Result.Output[:100])
	}
	// Few lines but long ones stop earlier.
	p.write("both.txt", strings.Repeat(strings.Repeat("x", 1999)+"\n", 500))
	out = p.run(readFile{}, p.call(m{"path": "both.txt"}))
	if len(out.Result.Output) > maxShown+4096 || !strings.Contains(out.Result.Output, "lines 1-41 of 500 (1,000,000 bytes); read on with offset 42:") {
		t.Errorf("both: %d bytes, %q", len(out.Result.Output), out.Result.Output[:100])
	}
}

// TestReadHugeFile reads a part of a file of 1 GB with holes.
func TestReadHugeFile(t *testing.T) {
	p := newPlace(t)
	f, err := os.Create(filepath.Join(p.dir, "huge.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := strings.Repeat(strings.Repeat("x", 127)+"\n", 8192) // 1 MB
	for range 64 {
		if _, err := f.WriteString(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := p.run(readFile{}, p.call(m{"path": "huge.log", "offset": 100_000, "limit": 2}))
	runtime.ReadMemStats(&after)
	if want := "huge.log, lines 100000-100001 of more (1,073,741,824 bytes); read on with offset 100002:\n" + block[:128] + block[:128]; out.Result.Output != want {
		t.Errorf("got %q", out.Result.Output)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("%d KB allocated", grown>>10)
	}
}

func TestListingIsBounded(t *testing.T) {
	p := newPlace(t)
	for i := range maxListed + 20 {
		p.write(fmt.Sprintf("many/%04d", i), "")
	}
	out := p.run(readFile{}, p.call(m{"path": "many"}))
	if !out.Result.Truncated || !strings.Contains(out.Result.Output, "many is a folder with 520 entries:") || !strings.HasSuffix(out.Result.Output, "0499 (0 bytes)\n[… 20 more are left out …]\n") {
		t.Errorf("%q", out.Result.Output[len(out.Result.Output)-80:])
	}
}

func TestNearNames(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"main.go", "Main_test.go", "README.md", "config.yaml", "zzz"} {
		p.write(name, "")
	}
	for _, c := range []struct{ name, want string }{
		{"mian.go", " Did you mean main.go?"},
		{"readme.md", " Did you mean README.md?"},
		{"readme", " Did you mean README.md?"},
		{"config.yml", " Did you mean config.yaml?"},
		{"completely-different", ""},
		{"x/y/z", ""},
	} {
		if got := suggest(t.Context(), p.sandbox.Files(), c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
