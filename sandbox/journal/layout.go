package journal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// The files of an execution, in <state>/exec/<call id>/. The folder alone says
// nothing: the execution exists once the claim does.
const (
	fileCommand = "cmd" // the command line
	// fileClaim holds who runs the command (see claim). It appears as a whole,
	// at most once, and is on disk before the command starts.
	fileClaim = "pid"
	// fileLeader holds "pid start" of the command's first process.
	fileLeader = "leader"
	fileOut    = "out" // stdout and stderr
	// fileExit appears by rename when the command ended (see record). Until
	// then fileExitDraft keeps its place on the disk, so that a command that
	// fills the disk can still be recorded.
	fileExit      = "exit"
	fileExitDraft = "exit.tmp"
	fileKilled    = "killed"   // it was told to end; written before the killing
	fileTimedOut  = "timedout" // its time was up
	fileInput     = "in"       // FIFO to the terminal
	fileTerminal  = "tty"      // the name of the terminal
)

// recordSize is the size of fileExit in bytes: one line, padded with spaces.
const recordSize = 64

// codeUnknown is the Code of a broken execution.
const codeUnknown = -1

// maxIDLen keeps call ids usable as names of files with something added.
const maxIDLen = 200

// validID tells whether id can name an execution.
func validID(id string) bool {
	if id == "" || len(id) > maxIDLen || id[0] == '.' || id[0] == '-' {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}) < 0
}

// claim is the line in fileClaim: "nonce pid start boot uptime time". Words
// that could not be told are "-".
type claim struct {
	nonce string // of the Launch that won
	// runner is the process that records the end: the shell wrapper or the
	// holder. start is 0 if unknown.
	runner int
	start  uint64
	boot   string // the run of the system, "" if unknown
	// uptime is of the system when the command was claimed; negative if unknown.
	uptime time.Duration
	wall   time.Time
}

func (c claim) line() string {
	return fmt.Sprintf("%s %d %d %s %s %s\n", c.nonce, c.runner, c.start, dash(c.boot), seconds(c.uptime), seconds(time.Duration(c.wall.UnixNano())))
}

// parseClaim reads a claim; it fails when the line is not complete.
func parseClaim(line string) (claim, bool) {
	f := strings.Fields(line)
	if len(f) != 6 || !strings.HasSuffix(line, "\n") {
		return claim{}, false
	}
	c := claim{nonce: f[0], boot: undash(f[3]), uptime: parseSeconds(f[4])}
	c.runner, _ = strconv.Atoi(f[1])
	c.start, _ = strconv.ParseUint(f[2], 10, 64)
	c.wall = time.Unix(0, int64(parseSeconds(f[5])))
	return c, c.runner > 0
}

// record is the line in fileExit: "code signal flags uptime", padded to
// recordSize. The flags are letters: k killed, t timed out, c output cut, "-"
// none of them. The signal is its name, "-" for none, or "?" where only the
// code can tell.
type record struct {
	code                  int
	signal                string
	killed, timedOut, cut bool
	uptime                time.Duration
}

func (r record) line() string {
	flags := ""
	for _, f := range []struct {
		set    bool
		letter string
	}{{r.killed, "k"}, {r.timedOut, "t"}, {r.cut, "c"}} {
		if f.set {
			flags += f.letter
		}
	}
	return fmt.Sprintf("%-*s\n", recordSize-1, fmt.Sprintf("%d %s %s %s", r.code, dash(r.signal), dash(flags), seconds(r.uptime)))
}

// parseRecord reads a record; it fails when the line is not complete.
func parseRecord(line string) (record, bool) {
	f := strings.Fields(line)
	if len(f) != 4 || len(line) != recordSize || line[recordSize-1] != '\n' {
		return record{}, false
	}
	code, err := strconv.Atoi(f[0])
	if err != nil {
		return record{}, false
	}
	r := record{code: code, signal: undash(f[1]), uptime: parseSeconds(f[3])}
	if r.signal == "?" {
		r.signal = signalOfCode(code)
	}
	r.killed, r.timedOut, r.cut = strings.Contains(f[2], "k"), strings.Contains(f[2], "t"), strings.Contains(f[2], "c")
	return r, true
}

// exit tells how the execution of claim c ended.
func (r record) exit(c claim) Exit {
	e := Exit{
		State: StateFinished, Code: r.code, Signal: r.signal,
		TimedOut: r.timedOut, Killed: r.killed, Cut: r.cut, Started: c.wall,
	}
	if c.uptime >= 0 && r.uptime >= c.uptime {
		e.Duration = r.uptime - c.uptime
	}
	return e
}

// signalOfCode names the signal that a shell's exit code stands for. A program
// that itself exits with such a code can't be told from one that was killed.
func signalOfCode(code int) string {
	if code <= 128 || code > 128+len(signalNames) {
		return ""
	}
	return signalNames[code-128-1]
}

// signalNames are the signals of Linux from 1 on: what tells only codes runs there.
var signalNames = [...]string{
	"SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func undash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

// seconds writes d as a decimal number, "-" if it is negative.
func seconds(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	return fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second)
}

// parseSeconds reads a decimal number of seconds of any precision; -1 if there
// is none.
func parseSeconds(s string) time.Duration {
	whole, fraction, _ := strings.Cut(s, ".")
	fraction = (fraction + "000000000")[:9]
	w, err1 := strconv.ParseInt(whole, 10, 64)
	n, err2 := strconv.ParseInt(fraction, 10, 64)
	if err1 != nil || err2 != nil || w < 0 || n < 0 || w > math.MaxInt64/int64(time.Second)-1 {
		return -1
	}
	return time.Duration(w)*time.Second + time.Duration(n)
}

// evidence is what the files and processes of an execution say.
type evidence struct {
	claim  string // the content of fileClaim, "" if there is none
	record string // the content of fileExit, "" if there is none
	boot   string // this run of the system
	alive  bool   // the runner or the leader runs
}

// judge decides the state of an execution. It fails with KindNotFound when the
// evidence shows none.
func (e evidence) judge(backend, id string) (Exit, error) {
	c, ok := parseClaim(e.claim)
	if !ok {
		return Exit{}, &sandbox.Error{Kind: sandbox.KindNotFound, Backend: backend, Op: "find command " + id}
	}
	if r, ok := parseRecord(e.record); ok {
		return r.exit(c), nil
	}
	if e.alive && c.boot == e.boot {
		return Exit{State: StateRunning, Started: c.wall}, nil
	}
	return Exit{State: StateBroken, Code: codeUnknown, Started: c.wall}, nil
}
