//go:build linux

package local_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"temporal-sandbox-agent/sandbox"
)

// bulkOf opens a fresh workspace.
func bulkOf(t *testing.T) (sandbox.Bulk, string) {
	t.Helper()
	sb, err := newProvider(t, false).Create(t.Context(), sandbox.Spec{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sb.Close(context.WithoutCancel(t.Context())) })
	return sb.(sandbox.Bulk), sb.Root()
}

func makes(list ...sandbox.Make) iter.Seq2[sandbox.Make, error] {
	return func(yield func(sandbox.Make, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
	}
}

func fileMake(name string, mode fs.FileMode, content []byte) sandbox.Make {
	return sandbox.Make{Name: name, Mode: mode, Size: int64(len(content)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// Zeros become holes, wherever they are, and read as zeros.
func TestBulkHoles(t *testing.T) {
	b, root := bulkOf(t)
	content := make([]byte, 8<<20+123)
	copy(content[3<<20:], "in the middle")
	ends := bytes.Clone(content)
	ends[len(ends)-1] = 1
	small := make([]byte, 1000)
	if err := b.Apply(t.Context(), nil, makes(fileMake("zeros", 0o644, content), fileMake("ends", 0o644, ends), fileMake("small", 0o644, small))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"zeros": content, "ends": ends, "small": small} {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	_, err := b.List(t.Context(), nil, func(e sandbox.Entry) error {
		if strings.HasPrefix(e.Name, "s") {
			return nil
		}
		if e.Held > 1<<20 {
			t.Errorf("%s holds %d of its %d bytes", e.Name, e.Held, e.Size)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unprivileged has the test go on as a user whom modes keep out.
func unprivileged(t *testing.T, root string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	if err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(root); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Setresuid(-1, nobody, -1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setresuid(-1, 0, -1); err != nil {
			t.Fatal(err)
		}
	})
}

// Folders and files that may not be written or even be looked into are changed
// and removed all the same, and keep their modes.
func TestBulkAgainstModes(t *testing.T) {
	b, root := bulkOf(t)
	for _, name := range []string{"readonly", "closed", "closed/inner", "blind", "nopass", "gone", "gone/in"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "old"), []byte("old"), 0o444); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o755)
	}
	for _, m := range []struct {
		name string
		mode fs.FileMode
	}{{"readonly", 0o555}, {"closed/inner", 0o555}, {"closed", 0}, {"blind", 0o300}, {"nopass", 0o600}, {"gone/in", 0}, {"gone", 0o555}} {
		if err := os.Chmod(filepath.Join(root, m.name), m.mode); err != nil {
			t.Fatal(err)
		}
	}
	unprivileged(t, root)

	var listed, unread []string
	l, err := b.List(t.Context(), nil, func(e sandbox.Entry) error { listed = append(listed, e.Name); return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range l.Unread {
		if sandbox.KindOf(u.Why) != sandbox.KindDenied {
			t.Errorf("unread %s: %v", u.Name, u.Why)
		}
		unread = append(unread, u.Name)
	}
	slices.Sort(unread)
	if got := strings.Join(unread, " "); got != "blind closed gone/in nopass/old" {
		t.Errorf("unread: %s", got)
	}
	if !slices.Contains(listed, "readonly/old") || !slices.Contains(listed, "closed") || slices.Contains(listed, "closed/old") {
		t.Errorf("listed %q", listed)
	}

	err = b.Apply(t.Context(), []string{"gone", "closed/old", "nopass/old"}, makes(
		fileMake("blind/new", 0o600, []byte("new")),
		fileMake("closed/inner/new", 0o600, []byte("new")),
		sandbox.Make{Name: "made", Mode: fs.ModeDir | 0o500},
		fileMake("made/new", 0o400, []byte("new")),
		fileMake("nopass/new", 0o600, []byte("new")),
		fileMake("readonly/new", 0o600, []byte("new")),
		fileMake("readonly/old", 0o600, []byte("replaced")),
		sandbox.Make{Name: "readonly/link", Mode: fs.ModeSymlink, Target: "old"},
	))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		"readonly": 0o555, "closed": 0, "blind": 0o300, "nopass": 0o600, "made": 0o500,
	} {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, %v; want %o", name, info.Mode().Perm(), err, want)
		}
		if err := os.Chmod(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "closed/inner")); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("closed/inner: %v, %v", info, err)
	}
	for name, want := range map[string]string{
		"blind/new": "new", "blind/old": "old", "closed/inner/new": "new", "made/new": "new", "nopass/new": "new",
		"readonly/new": "new", "readonly/old": "replaced", "readonly/link": "replaced", "closed/old": "", "nopass/old": "", "gone": "",
	} {
		got, err := os.ReadFile(filepath.Join(root, name))
		if string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

// A file that has other names is replaced, and not written through them.
func TestBulkHardLinks(t *testing.T) {
	b, root := bulkOf(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(outside, filepath.Join(root, "f")); err != nil {
		t.Fatal(err)
	}
	if err := b.Apply(t.Context(), nil, makes(fileMake("f", 0o600, []byte("ours")))); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(outside)
	info, statErr := os.Stat(outside)
	if err != nil || statErr != nil || string(got) != "theirs" || info.Mode().Perm() != 0o644 {
		t.Errorf("the other name holds %q with mode %v, %v", got, info.Mode(), err)
	}
}

// A name that is longer than the system takes at once is reached step by step.
func TestBulkDeep(t *testing.T) {
	b, _ := bulkOf(t)
	var list []sandbox.Make
	name := ""
	for len(name) < 6000 {
		name = strings.TrimPrefix(name+"/"+strings.Repeat("d", 200), "/")
		list = append(list, sandbox.Make{Name: name, Mode: fs.ModeDir | 0o755})
	}
	list = append(list, fileMake(name+"/file", 0o644, []byte("deep")))
	if err := b.Apply(t.Context(), nil, makes(list...)); err != nil {
		t.Fatal(err)
	}
	entries := 0
	if _, err := b.List(t.Context(), nil, func(sandbox.Entry) error { entries++; return nil }); err != nil || entries != len(list) {
		t.Errorf("%d of %d entries, %v", entries, len(list), err)
	}
	err := b.ReadFiles(t.Context(), []string{name + "/file"}, func(f sandbox.FileRead) error {
		if f.Err != nil {
			return f.Err
		}
		got, err := io.ReadAll(f.Content)
		if string(got) != "deep" {
			t.Errorf("read %q", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := b.Apply(t.Context(), []string{strings.Repeat("d", 200)}, makes()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.List(t.Context(), nil, func(e sandbox.Entry) error { t.Errorf("%s is left", e.Name); return nil }); err != nil {
		t.Fatal(err)
	}
}
