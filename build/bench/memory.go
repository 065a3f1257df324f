package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ownMemory watches a process until stop is closed and returns the most memory
// that was its own, in MB: without the pages of its executable and libraries,
// which the system shares and drops as it likes.
func ownMemory(pid int, stop <-chan struct{}) float64 {
	var most int64
	for {
		most = max(most, statusKB(pid, "RssAnon"))
		select {
		case <-stop:
			return float64(most) / 1024
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// statusKB reads a line of /proc/PID/status; 0 where there is none.
func statusKB(pid int, name string) int64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb
		}
	}
	return 0
}

// familyCPU is what a process and those below it have used.
func familyCPU(pid int) time.Duration {
	const tick = time.Second / 100 // what /proc counts in
	var total time.Duration
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 12 {
			user, _ := strconv.ParseInt(fields[11], 10, 64)
			system, _ := strconv.ParseInt(fields[12], 10, 64)
			total = time.Duration(user+system) * tick
		}
	}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				total += familyCPU(n)
			}
		}
	}
	return total
}
