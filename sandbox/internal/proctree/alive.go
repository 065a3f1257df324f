//go:build unix

package proctree

// Alive tells whether the process with this number and start runs. A start of
// 0 on either side is not compared.
func Alive(pid int, start uint64) bool {
	if pid <= 0 {
		return false
	}
	p, ok := read(pid)
	return ok && !p.Dead && (start == 0 || p.Start == 0 || p.Start == start)
}

// StartOf returns the start of a process, 0 if it can't be told.
func StartOf(pid int) uint64 {
	p, _ := read(pid)
	return p.Start
}
