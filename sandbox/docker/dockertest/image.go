//go:build linux

package dockertest

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

// The names of the images that tests make.
const (
	imageBusybox = "temporal-sandbox-agent-test/busybox"
	imageGNU     = "temporal-sandbox-agent-test/gnu"
)

// Busybox returns the name of an image with nothing but busybox, which is made
// if the engine does not have it.
func Busybox(t testing.TB, host string) string {
	t.Helper()
	program := find(t, "busybox")
	r := newRootfs(t)
	r.program(program, "/bin/busybox")
	list, err := exec.CommandContext(t.Context(), program, "--list").Output()
	if err != nil {
		t.Fatalf("busybox --list: %v", err)
	}
	for _, name := range strings.Fields(string(list)) {
		if name != "busybox" { // it tells of itself as well
			r.link("busybox", "/bin/"+name)
		}
	}
	return r.make(t, host, imageBusybox)
}

// GNU returns the name of an image with the shell and the small tools of this
// machine, as far as they are GNU's, and script; bash is there as well. user is
// whom its commands run as: a number, "" for root.
func GNU(t testing.TB, host, user string) string {
	t.Helper()
	r := newRootfs(t)
	for _, name := range []string{
		"sh", "bash", "awk", "cat", "chgrp", "chmod", "chown", "cp", "cut", "date", "dd", "dirname", "env", "find", "grep", "head", "id", "ln", "ls",
		"mkdir", "mkfifo", "mktemp", "mv", "printf", "pwd", "readlink", "rm", "rmdir", "script", "sed", "seq", "setsid", "sha256sum", "sleep", "sort", "stat",
		"stty", "sync", "tail", "tar", "test", "touch", "tr", "true", "tty", "wc", "xargs",
	} {
		found := find(t, name)
		r.program(found, "/bin/"+name)
	}
	var changes []string
	tag := imageGNU
	if user != "" {
		changes = []string{"USER " + user}
		tag += "-" + strings.NewReplacer(":", "-").Replace(user)
	}
	return r.make(t, host, tag, changes...)
}

// find finds a program as a real file.
func find(t testing.TB, name string) string {
	t.Helper()
	found, err := exec.LookPath(name)
	if err == nil {
		found, err = filepath.EvalSymlinks(found)
	}
	if err == nil {
		return found
	}
	if os.Getenv("TSA_REQUIRE_ALL") != "" {
		t.Fatalf("%s is not installed: run build/setup.sh test", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// rootfs is the archive of an image's files.
type rootfs struct {
	buffer bytes.Buffer
	tar    *tar.Writer
	have   map[string]bool
	err    error
}

func newRootfs(t testing.TB) *rootfs {
	t.Helper()
	r := &rootfs{have: map[string]bool{}}
	r.tar = tar.NewWriter(&r.buffer)
	for dir, mode := range map[string]int64{"/.": 0o755, "/bin": 0o755, "/etc": 0o755, "/tmp": 0o1777, "/root": 0o700} {
		r.add(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: mode}, nil)
	}
	r.file("/etc/passwd", []byte("root:x:0:0:root:/root:/bin/sh\nworker:x:1000:1000::/tmp:/bin/sh\n"), 0o644)
	r.file("/etc/group", []byte("root:x:0:\nworker:x:1000:\n"), 0o644)
	return r
}

func (r *rootfs) add(h *tar.Header, content []byte) {
	if r.err != nil || r.have[h.Name] {
		return
	}
	r.have[h.Name] = true
	// Folders that are not told of would be for root only.
	if parent := path.Dir(h.Name); parent != "/" && !r.have[parent] {
		r.add(&tar.Header{Typeflag: tar.TypeDir, Name: parent, Mode: 0o755}, nil)
	}
	h.Size = int64(len(content))
	h.Name = strings.TrimPrefix(h.Name, "/")
	if r.err = r.tar.WriteHeader(h); r.err == nil {
		_, r.err = r.tar.Write(content)
	}
}

func (r *rootfs) file(name string, content []byte, mode int64) {
	r.add(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}, content)
}

func (r *rootfs) link(target, name string) {
	r.add(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777}, nil)
}

// program puts a program of this machine into the image, with the libraries that
// it needs.
func (r *rootfs) program(from, to string) {
	content, err := os.ReadFile(from)
	if err != nil {
		r.err = errors.Join(r.err, err)
		return
	}
	r.file(to, content, 0o755)
	binary, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return // a script
	}
	defer binary.Close()
	for _, part := range binary.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(part.Open())
		if err != nil {
			r.err = errors.Join(r.err, err)
			return
		}
		r.library(strings.TrimRight(string(name), "\x00"))
	}
	libraries, err := binary.ImportedLibraries()
	if err != nil {
		r.err = errors.Join(r.err, err)
		return
	}
	for _, name := range libraries {
		r.library(name)
	}
}

// library puts a library where the loader looks for it.
func (r *rootfs) library(name string) {
	places := []string{name}
	if !path.IsAbs(name) {
		places = nil
		for _, pattern := range []string{"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"} {
			dirs, _ := filepath.Glob(pattern) // the patterns are right
			for _, dir := range dirs {
				places = append(places, dir+"/"+name)
			}
		}
	}
	for _, place := range places {
		if r.have[place] {
			return
		}
		found, err := filepath.EvalSymlinks(place)
		if err != nil {
			continue
		}
		r.program(found, place)
		return
	}
	r.err = errors.Join(r.err, fmt.Errorf("the library %s is nowhere", name))
}

// make imports the image, if the engine does not have it.
func (r *rootfs) make(t testing.TB, host, tag string, changes ...string) string {
	t.Helper()
	err := errors.Join(r.err, r.tar.Close())
	if err != nil {
		t.Fatalf("make the image %s: %v", tag, err)
	}
	engine, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if _, err := engine.ImageInspect(t.Context(), tag); err == nil {
		return tag
	}
	answer, err := engine.ImageImport(t.Context(), image.ImportSource{Source: &r.buffer, SourceName: "-"}, tag, image.ImportOptions{Changes: changes})
	if err != nil {
		t.Fatalf("import the image %s: %v", tag, err)
	}
	defer answer.Close()
	if _, err := io.ReadAll(answer); err != nil {
		t.Fatalf("import the image %s: %v", tag, err)
	}
	if _, err := engine.ImageInspect(t.Context(), tag); err != nil {
		t.Fatalf("the image %s was not imported: %v", tag, err)
	}
	return tag
}
