package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"strconv"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// The scripts that do the work of an exec host in the sandbox. libScript is put
// before each of the others.
var (
	//go:embed scripts/lib.sh
	libScript string
	//go:embed scripts/launch.sh
	launchScript string
	//go:embed scripts/run.sh
	runScript string
	//go:embed scripts/observe.sh
	observeScript string
	//go:embed scripts/kill.sh
	killScript string
	//go:embed scripts/list.sh
	listScript string
	//go:embed scripts/remove.sh
	removeScript string
	//go:embed scripts/input.sh
	inputScript string
)

// ExecConfig says how an exec host works.
type ExecConfig struct {
	// StateDir is an absolute folder in the sandbox, outside the workspace, that
	// lasts as long as the sandbox; "" is DefaultStateDir. It is made.
	StateDir string
	// OutputCap is how many bytes of a command's output are kept, in whole
	// blocks of 512; 0 is DefaultOutputCap.
	OutputCap int64
}

const (
	// DefaultStateDir is where exec hosts keep executions.
	DefaultStateDir = "/var/tmp/temporal-sandbox-agent"
	// DefaultOutputCap is how many bytes of a command's output are kept.
	DefaultOutputCap = 1 << 30
)

// execHost is a Host over nothing but a sandbox's Exec: shell scripts do the
// work. It needs a POSIX shell, the usual small tools and, for terminals,
// script and stty. Everything that it asks may be asked twice.
type execHost struct {
	sb  sandbox.Sandbox
	cfg ExecConfig
	run string // the name of the wrapper's file, which changes with its text
}

// NewExecHost returns a host over a sandbox's Exec.
func NewExecHost(sb sandbox.Sandbox, cfg ExecConfig) Host {
	if cfg.StateDir == "" {
		cfg.StateDir = DefaultStateDir
	}
	if cfg.OutputCap <= 0 {
		cfg.OutputCap = DefaultOutputCap
	}
	sum := fnv.New64a()
	sum.Write([]byte(libScript + runScript))
	return &execHost{sb: sb, cfg: cfg, run: fmt.Sprintf("run-%x.sh", sum.Sum64())}
}

const (
	// askTime bounds one question to the sandbox. Those that wait in it give up
	// by themselves after about 10 seconds.
	askTime = time.Minute
	// outputBlock is the unit in which output is read.
	outputBlock = 64 << 10
)

// ask runs a script in the sandbox and returns what it answers.
func (h *execHost) ask(ctx context.Context, op, script string, cmd sandbox.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Args = append([]string{"sh", "-c", libScript + script, "tsa"}, cmd.Args...)
	cmd.Stdout, cmd.Stderr, cmd.Timeout = &stdout, &stderr, askTime
	result, err := h.sb.Exec(ctx, cmd)
	switch {
	case err != nil:
		return nil, err
	case result.TimedOut:
		return nil, h.fail(sandbox.KindTimeout, op, errors.New("the sandbox did not answer in time"))
	case result.ExitCode != 0:
		said := strings.TrimSpace(stderr.String())
		return nil, h.fail(kindOfText(said), op, fmt.Errorf("the shell ended with %d: %s", result.ExitCode, said))
	}
	return stdout.Bytes(), nil
}

func (h *execHost) Launch(ctx context.Context, l Launch) (bool, error) {
	const op = "start command"
	dir := l.Dir
	if !path.IsAbs(dir) {
		dir = path.Join(h.sb.Root(), dir)
	}
	env := make(map[string]string, len(l.Env)+1)
	if l.TTY {
		env["TERM"] = "xterm-256color"
	}
	for name, value := range l.Env {
		env[name] = value
	}
	nonce := rand.Text()
	rows, cols := l.Rows, l.Cols
	if rows == 0 || cols == 0 {
		rows, cols = 24, 80
	}
	tty := "0"
	if l.TTY {
		tty = "1"
	}
	// Half a launch would leave the command running with nobody told.
	answer, err := h.ask(context.WithoutCancel(ctx), op, launchScript, sandbox.Cmd{
		Args: []string{
			h.cfg.StateDir, l.ID, nonce, h.sb.Root(), dir, h.run, libScript + runScript, strconv.Itoa(len(l.Shell)),
			strconv.FormatInt(max(h.cfg.OutputCap/512, 1), 10), timeoutText(l.Timeout),
			tty, strconv.Itoa(int(rows)), strconv.Itoa(int(cols)), seconds(time.Duration(time.Now().UnixNano())),
		},
		Env: env, Stdin: strings.NewReader(l.Shell),
	})
	if err != nil {
		return false, err
	}
	line, _, _ := strings.Cut(string(answer), "\n")
	word, rest, _ := strings.Cut(line, " ")
	if word == "fail" {
		kind, text, _ := strings.Cut(rest, " ")
		if kind == "system" {
			kind = string(kindOfText(text))
		}
		return false, &sandbox.Error{
			Kind: sandbox.Kind(kind), Backend: h.backend(), Op: op, Remedy: remedyOf(sandbox.Kind(kind)), Err: errors.New(text),
		}
	}
	c, ok := parseClaim(rest + "\n")
	if word != "claim" || !ok {
		return false, h.fail(sandbox.KindTransport, op, fmt.Errorf("the sandbox answered %q", line))
	}
	return c.nonce == nonce, nil
}

// timeoutText writes a timeout in seconds, with parts of seconds only where
// they matter: not every sleep knows them.
func timeoutText(d time.Duration) string {
	if d <= 0 {
		return "0"
	}
	if d >= 10*time.Second || d%time.Second == 0 {
		return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
	}
	return strconv.FormatFloat(max(d.Seconds(), 0.001), 'f', 3, 64)
}

func (h *execHost) Observe(ctx context.Context, id string, v View) (Observation, error) {
	until := [...]string{UntilNow: "now", UntilOutput: "output", UntilEnd: "end"}[v.Until]
	offset := max(v.Offset, 0)
	block, blocks := offset/outputBlock, int64(0)
	if v.Max > 0 {
		blocks = (offset%outputBlock+int64(v.Max)-1)/outputBlock + 1
	}
	for {
		answer, err := h.ask(ctx, "look at command", observeScript, sandbox.Cmd{Args: []string{
			h.cfg.StateDir, id, until, strconv.FormatInt(offset, 10), strconv.FormatInt(block, 10), strconv.FormatInt(blocks, 10),
		}})
		if err != nil {
			return Observation{}, err
		}
		head, data, _ := bytes.Cut(answer, []byte("\n\n"))
		a := parseAnswer(string(head))
		exit, err := a.evidence().judge(h.backend(), id)
		if err != nil {
			return Observation{}, err
		}
		o := Observation{Exit: exit, Size: a.number("size")}
		if skip := offset % outputBlock; int64(len(data)) > skip && v.Max > 0 && v.Offset >= 0 {
			o.Data = data[skip:min(skip+int64(v.Max), int64(len(data)))]
			o.Size = max(o.Size, offset+int64(len(o.Data)))
		}
		if v.Until == UntilNow || exit.State != StateRunning || (v.Until == UntilOutput && o.Size > offset) {
			return o, nil
		}
	}
}

func (h *execHost) Input(ctx context.Context, id string, data []byte) error {
	return h.terminal(ctx, "write to command", id, sandbox.Cmd{
		Args: []string{h.cfg.StateDir, id}, Stdin: bytes.NewReader(data),
	})
}

func (h *execHost) Resize(ctx context.Context, id string, rows, cols uint16) error {
	return h.terminal(ctx, "resize terminal", id, sandbox.Cmd{
		Args: []string{h.cfg.StateDir, id, strconv.Itoa(int(rows)), strconv.Itoa(int(cols))},
	})
}

func (h *execHost) terminal(ctx context.Context, op, id string, cmd sandbox.Cmd) error {
	answer, err := h.ask(ctx, op, inputScript, cmd)
	if err != nil {
		return err
	}
	switch word := strings.TrimSpace(string(answer)); word {
	case "ok":
		return nil
	case "missing":
		return h.fail(sandbox.KindNotFound, op, fmt.Errorf("there is no command %s", id))
	case "noterminal":
		return noTerminal(h.backend(), op)
	case "ended":
		return endedError(h.backend(), op)
	default:
		return h.fail(sandbox.KindTransport, op, fmt.Errorf("the sandbox answered %q", word))
	}
}

func (h *execHost) Kill(ctx context.Context, id string) error {
	const op = "kill command"
	answer, err := h.ask(ctx, op, killScript, sandbox.Cmd{Args: []string{h.cfg.StateDir, id}})
	if err != nil {
		return err
	}
	switch word := strings.TrimSpace(string(answer)); word {
	case "ok":
		return nil
	case "missing":
		return h.fail(sandbox.KindNotFound, op, fmt.Errorf("there is no command %s", id))
	default:
		return h.fail(sandbox.KindDenied, op, fmt.Errorf("some of its processes don't end (%s)", word))
	}
}

func (h *execHost) List(ctx context.Context, prefix string, running bool) ([]Entry, error) {
	if prefix != "" && !validID(prefix) {
		return nil, nil // no id begins like this
	}
	only := "0"
	if running {
		only = "1"
	}
	answer, err := h.ask(ctx, "list commands", listScript, sandbox.Cmd{Args: []string{h.cfg.StateDir, prefix, only}})
	if err != nil {
		return nil, err
	}
	boot, entries, _ := strings.Cut(string(answer), "\nid ")
	var out []Entry
	for text := range strings.SplitSeq(entries, "\nid ") {
		id, rest, _ := strings.Cut(text, "\n")
		if !validID(id) {
			continue
		}
		a := parseAnswer(boot + "\n" + rest)
		exit, err := a.evidence().judge(h.backend(), id)
		if err != nil {
			changed := time.Now()
			if s := a.number("changed"); s > 0 {
				changed = time.Unix(s, 0)
			}
			out = append(out, Entry{ID: id, Started: changed})
		} else if !running || exit.State == StateRunning {
			out = append(out, Entry{ID: id, State: exit.State, Started: exit.Started})
		}
	}
	return out, nil
}

func (h *execHost) Remove(ctx context.Context, ids []string) error {
	for len(ids) > 0 {
		batch := ids[:min(len(ids), 200)]
		ids = ids[len(batch):]
		if _, err := h.ask(ctx, "remove commands", removeScript, sandbox.Cmd{Args: append([]string{h.cfg.StateDir}, batch...)}); err != nil {
			return err
		}
	}
	return nil
}

func (h *execHost) backend() string { return h.sb.Ref().Backend }

func (h *execHost) fail(kind sandbox.Kind, op string, err error) error {
	return &sandbox.Error{Kind: kind, Backend: h.backend(), Op: op, Err: err}
}
