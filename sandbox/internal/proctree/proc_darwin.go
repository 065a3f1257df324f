package proctree

import (
	"bytes"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// statZombie is SZOMB of <sys/proc.h>.
const statZombie = 5

// Snapshot lists all processes.
func Snapshot() ([]Proc, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	procs := make([]Proc, len(list))
	for i := range list {
		procs[i] = convert(&list[i])
	}
	return procs, nil
}

func convert(k *unix.KinfoProc) Proc {
	p := Proc{
		PID:    int(k.Proc.P_pid),
		Parent: int(k.Eproc.Ppid),
		Group:  int(k.Eproc.Pgid),
		Start:  uint64(k.Proc.P_starttime.Nano()),
		Dead:   k.Proc.P_stat == statZombie,
	}
	p.Session, _ = unix.Getsid(p.PID)
	return p
}

func read(pid int) (Proc, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return Proc{}, false
	}
	return convert(k), true
}

// marked looks at the arguments and the environment, which the system keeps
// together; a marker among the arguments does no harm.
func marked(pid int, marker string) bool {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return false
	}
	return bytes.Contains(data, append(append([]byte{0}, marker...), 0))
}

// BootID names this run of the system; "" if it can't be told.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(id)
}

// Uptime is how long the system has been up.
func Uptime() (time.Duration, error) {
	boot, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return 0, err
	}
	return time.Since(time.Unix(boot.Unix())), nil
}
