package local

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// openBelow opens what is at a name below the folder root, without following any
// link.
func openBelow(root int, name string, flags int) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_NOFOLLOW | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(root, name, &how)
		switch {
		case err == nil:
			return fd, nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.ENAMETOOLONG):
			// An old kernel, a filter of calls, or a long way down.
			return openSteps(root, name, flags)
		default:
			return -1, err
		}
	}
}

// chmodEntry changes the mode of a folder by its name; it follows no link.
func chmodEntry(dir int, base string, mode uint32) error {
	fd, err := retry(func() (int, error) {
		return unix.Openat(dir, base, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode)
}

// sync makes what was written to the file system of a folder durable.
func syncAll(dir int) error { return unix.Syncfs(dir) }

// Times of files are stamped at the kernel's ticks, of which there are 100 a
// second or more; other kinds of file systems keep them as they like.
const (
	tick       = 10 * time.Millisecond
	coarseTick = 2 * time.Second
)

// granularity is how fine the times of the files in a folder are.
func granularity(dir int) time.Duration {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(dir, &fs); err != nil {
		return coarseTick
	}
	switch int64(fs.Type) { //nolint:unconvert // it is narrower on other machines
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC:
		return tick
	default:
		return coarseTick
	}
}
