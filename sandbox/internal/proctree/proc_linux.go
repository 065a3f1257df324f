package proctree

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Snapshot lists all processes.
func Snapshot() ([]Proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	procs := make([]Proc, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue // not a process
		}
		if p, ok := read(pid); ok {
			procs = append(procs, p)
		}
	}
	return procs, nil
}

// read reads one process; it fails when there is none.
func read(pid int) (Proc, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Proc{}, false
	}
	// The second field is the program's name in parentheses, which may hold
	// anything, also parentheses.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return Proc{}, false
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 20 {
		return Proc{}, false
	}
	p := Proc{PID: pid, Dead: fields[0] == "Z" || fields[0] == "X"}
	p.Parent, _ = strconv.Atoi(fields[1])
	p.Group, _ = strconv.Atoi(fields[2])
	p.Session, _ = strconv.Atoi(fields[3])
	p.Start, _ = strconv.ParseUint(fields[19], 10, 64)
	return p, true
}

// marked tells whether the process was started with the marker in its
// environment.
func marked(pid int, marker string) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // gone, or somebody else's
	}
	return slices.ContainsFunc(bytes.Split(data, []byte{0}), func(entry []byte) bool { return string(entry) == marker })
}

// BootID names this run of the system; "" if it can't be told.
func BootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Uptime is how long the system has been up. It goes on while the machine
// sleeps and does not jump with the clock.
func Uptime() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0, fmt.Errorf("read the uptime: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
