//go:build unix && !linux

package local

import (
	"time"

	"golang.org/x/sys/unix"
)

// openBelow opens what is at a name below the folder root, without following any
// link.
func openBelow(root int, name string, flags int) (int, error) { return openSteps(root, name, flags) }

// chmodEntry changes the mode of a folder by its name; it follows no link.
func chmodEntry(dir int, base string, mode uint32) error {
	return unix.Fchmodat(dir, base, mode, unix.AT_SYMLINK_NOFOLLOW)
}

// syncAll makes what was written to the file system of a folder durable.
func syncAll(int) error { return unix.Sync() }

// granularity is how fine the times of the files in a folder are, at worst.
func granularity(int) time.Duration { return 2 * time.Second }
