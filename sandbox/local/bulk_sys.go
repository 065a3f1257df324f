//go:build unix

package local

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"temporal-sandbox-agent/sandbox"
)

// retry calls f until no signal interrupts it.
func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// openSteps opens a name below a folder one step after the other.
func openSteps(root int, name string, flags int) (int, error) {
	dir, own := root, false
	for {
		first, rest, more := strings.Cut(name, "/")
		step := flags
		if more {
			step = unix.O_RDONLY | unix.O_DIRECTORY
		}
		fd, err := retry(func() (int, error) {
			return unix.Openat(dir, first, step|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		})
		if own {
			_ = unix.Close(dir)
		}
		if err != nil || !more {
			return fd, err
		}
		dir, own, name = fd, true, rest
	}
}

// bulkName checks the name of an entry and returns it relative to the root.
func (f *files) bulkName(op, name string) (string, error) {
	rel, err := f.rel(op, name)
	if err != nil {
		return "", err
	}
	if rel = path.Clean(rel); rel == "." {
		return "", fail(sandbox.KindInvalid, op, "it is the workspace itself")
	}
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return "", fail(sandbox.KindEscape, op, "%q is outside the workspace", name)
	}
	return rel, nil
}

// split is path.Split without the slash, with "." for the root.
func split(name string) (dir, base string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return ".", name
}

// statMode is the mode of a stat, with the type.
func statMode(st *unix.Stat_t) uint32 {
	return uint32(st.Mode) //nolint:unconvert // it is narrower on other systems
}

// modeOf makes a mode of a stat's.
func modeOf(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	switch bits & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFREG:
	default:
		mode |= fs.ModeIrregular
	}
	if bits&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if bits&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if bits&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// modeBits is the reverse of modeOf, without the type.
func modeBits(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		bits |= unix.S_ISUID
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= unix.S_ISGID
	}
	if mode&fs.ModeSticky != 0 {
		bits |= unix.S_ISVTX
	}
	return bits
}

func entryOf(name string, st *unix.Stat_t) sandbox.Entry {
	e := sandbox.Entry{
		Name: name, Mode: modeOf(statMode(st)), Inode: st.Ino,
		Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(),
	}
	if e.Mode.IsRegular() {
		e.Size, e.Held = st.Size, int64(st.Blocks)*512 //nolint:unconvert // it is narrower on other systems
	}
	return e
}
