//go:build linux || darwin

package store

import "syscall"

func diskFull(dir string) bool {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return false
	}
	return fs.Bavail*uint64(fs.Bsize) < minRoom
}
