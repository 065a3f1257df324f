package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/store"
)

func someFiles() []File {
	return []File{
		{Path: "a", Kind: KindDir, Mode: 0o755},
		{Path: "a/b", Kind: KindFile, Mode: 0o644 | fs.ModeSetuid, Size: 5, Modified: -7, Sum: [32]byte{1}},
		{Path: "a/c\n\xff", Kind: KindLink, Target: "../../x", Outside: true},
		{Path: "a-", Kind: KindFile, Size: maxWhole + 1, Modified: 1 << 60, Sum: [32]byte{2}, Chunks: store.Sum([]byte("x"))},
		{Path: "b", Kind: KindLink, Target: "a/b"},
	}
}

func someRoot() *root {
	return &root{
		entries: 5, bytes: maxWhole + 6, excluded: []string{"node_modules", "z"},
		skipped: []skipped{{"sock", whySocket}, {"x/y", whyChanged}},
		pages:   []page{{"a", 3, store.Sum([]byte("1"))}, {"a-", 2, store.Sum([]byte("2"))}},
	}
}

func someChunks() []chunk {
	return []chunk{{maxChunk, store.Sum([]byte("1"))}, {1, store.Sum([]byte("2"))}}
}

func TestFormatsComeBack(t *testing.T) {
	files, err := decodePage(encodePage(someFiles()))
	if err != nil || !slices.Equal(files, someFiles()) {
		t.Errorf("page: %+v, %v", files, err)
	}
	r, err := decodeRoot(encodeRoot(someRoot()))
	if err != nil || !bytes.Equal(encodeRoot(r), encodeRoot(someRoot())) || r.skipped[1].why != whyChanged || r.pages[1].count != 2 {
		t.Errorf("root: %+v, %v", r, err)
	}
	chunks, err := decodeChunks(encodeChunks(someChunks()), maxChunk+1)
	if err != nil || !slices.Equal(chunks, someChunks()) {
		t.Errorf("chunks: %+v, %v", chunks, err)
	}
}

// What no capture makes is refused.
func TestUnsoundIsRefused(t *testing.T) {
	for name, change := range map[string]func(f []File) []File{
		"nothing":          func([]File) []File { return nil },
		"not sorted":       func(f []File) []File { f[0], f[1] = f[1], f[0]; return f },
		"twice":            func(f []File) []File { return slices.Insert(f, 1, f[0]) },
		"absolute":         func(f []File) []File { f[0].Path = "/a"; return f[:1] },
		"empty path":       func(f []File) []File { f[0].Path = ""; return f[:1] },
		"up":               func(f []File) []File { f[0].Path = ".."; return f[:1] },
		"up inside":        func(f []File) []File { f[0].Path = "a/../b"; return f[:1] },
		"dot":              func(f []File) []File { f[0].Path = "./a"; return f[:1] },
		"slash at the end": func(f []File) []File { f[0].Path = "a/"; return f[:1] },
		"two slashes":      func(f []File) []File { f[0].Path = "a//b"; return f[:1] },
		"NUL":              func(f []File) []File { f[0].Path = "a\x00"; return f[:1] },
		"long":             func(f []File) []File { f[0].Path = strings.Repeat("a", maxPath+1); return f[:1] },
		"small in chunks":  func(f []File) []File { f[3].Size = maxWhole; return f },
		"large as a whole": func(f []File) []File { f[1].Size = maxWhole + 1; return f },
		"link not marked":  func(f []File) []File { f[2].Outside = false; return f },
		"link marked":      func(f []File) []File { f[4].Outside = true; return f },
		"link to nothing":  func(f []File) []File { f[4].Target = ""; return f },
		"NUL in a target":  func(f []File) []File { f[4].Target = "a\x00b"; return f },
		"negative size":    func(f []File) []File { f[1].Size = -1; return f },
		"too many in a page": func(f []File) []File {
			var many []File
			for range maxPage + 1 {
				many = append(many, File{Path: "a" + strings.Repeat("x", len(many)), Kind: KindDir})
			}
			return many
		},
	} {
		if _, err := decodePage(encodePage(change(someFiles()))); !errors.Is(err, ErrInvalid) {
			t.Errorf("page with %s: %v", name, err)
		}
	}
	for name, change := range map[string]func(r *root){
		"a wrong number of entries": func(r *root) { r.entries++ },
		"an empty page":             func(r *root) { r.pages[0].count, r.entries = 0, 2 },
		"pages not sorted":          func(r *root) { r.pages[0], r.pages[1] = r.pages[1], r.pages[0] },
		"excluded not sorted":       func(r *root) { r.excluded[0] = "zz" },
		"skipped up":                func(r *root) { r.skipped[0].path = "../x" },
		"an unknown reason":         func(r *root) { r.skipped[0].why = 200 },
	} {
		r := someRoot()
		change(r)
		if _, err := decodeRoot(encodeRoot(r)); !errors.Is(err, ErrInvalid) {
			t.Errorf("root with %s: %v", name, err)
		}
	}
	for name, chunks := range map[string][]chunk{
		"none":     nil,
		"too few":  someChunks()[:1],
		"an empty": append(someChunks(), chunk{0, store.Sum(nil)}),
		"a large":  {{maxChunk + 1, store.Sum(nil)}},
	} {
		if _, err := decodeChunks(encodeChunks(chunks), maxChunk+1); !errors.Is(err, ErrInvalid) {
			t.Errorf("chunks with %s: %v", name, err)
		}
	}
	for _, whole := range [][]byte{encodePage(someFiles()), encodeRoot(someRoot()), encodeChunks(someChunks())} {
		for n := range whole {
			if _, err := decodePage(whole[:n]); err == nil {
				t.Fatalf("the first %d bytes are a page", n)
			}
			if _, err := decodeRoot(whole[:n]); err == nil {
				t.Fatalf("the first %d bytes are a root", n)
			}
			if _, err := decodeChunks(whole[:n], maxChunk+1); err == nil {
				t.Fatalf("the first %d bytes are chunks", n)
			}
		}
		if _, err := decodePage(append(bytes.Clone(whole), 0)); err == nil {
			t.Error("a page with a byte more is taken")
		}
	}
}

// memory is a reader of a few objects.
type memory map[store.ID][]byte

func (m memory) put(b []byte) store.ID {
	id := store.Sum(b)
	m[id] = b
	return id
}

// An entry below a file, a link, or nothing is refused by who goes through all.
func TestEntriesAreInFolders(t *testing.T) {
	for name, files := range map[string][]File{
		"a file":  {{Path: "a", Kind: KindFile}, {Path: "a/b", Kind: KindDir}},
		"a link":  {{Path: "a", Kind: KindLink, Target: "b"}, {Path: "a/b", Kind: KindDir}},
		"nothing": {{Path: "a", Kind: KindDir}, {Path: "b/c", Kind: KindDir}},
		"deeper":  {{Path: "a", Kind: KindDir}, {Path: "a/b/c", Kind: KindDir}},
	} {
		m := memory{}
		r := &root{entries: len(files)}
		for _, f := range files { // each in a page of its own
			r.pages = append(r.pages, page{f.Path, 1, m.put(encodePage([]File{f}))})
		}
		var failed error
		manifest, err := Load(t.Context(), m, m.put(encodeRoot(r)))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range manifest.Walk(t.Context()) {
			failed = err
		}
		if !errors.Is(failed, ErrInvalid) {
			t.Errorf("an entry in %s: %v", name, failed)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add(encodePage(someFiles()))
	f.Add([]byte(pageMagic + "\x01\x01\x00\x01a\xed\x03"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := decodePage(data)
		if err != nil {
			return
		}
		if !bytes.Equal(encodePage(files), data) {
			t.Fatal("a page has two forms")
		}
		for i := range files {
			if !validPath(files[i].Path) || i > 0 && comparePaths(files[i-1].Path, files[i].Path) >= 0 {
				t.Fatalf("an unsound path %q", files[i].Path)
			}
		}
	})
}

func FuzzRoot(f *testing.F) {
	f.Add(encodeRoot(someRoot()))
	f.Add(encodeRoot(&root{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := decodeRoot(data); err == nil && !bytes.Equal(encodeRoot(r), data) {
			t.Fatal("a root has two forms")
		}
	})
}

func FuzzChunks(f *testing.F) {
	f.Add(encodeChunks(someChunks()), int64(maxChunk+1))
	f.Fuzz(func(t *testing.T, data []byte, size int64) {
		chunks, err := decodeChunks(data, size)
		if err != nil {
			return
		}
		for _, c := range chunks {
			size -= c.size
		}
		if size != 0 || !bytes.Equal(encodeChunks(chunks), data) {
			t.Fatal("chunks have two forms, or another size")
		}
	})
}

func (m memory) Get(_ context.Context, id store.ID) ([]byte, error) {
	if b, ok := m[id]; ok {
		return b, nil
	}
	return nil, fmt.Errorf("get %s: %w", id, store.ErrNotFound)
}
