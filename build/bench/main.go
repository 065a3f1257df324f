// Command bench measures the built app with a scripted model and prints JSON:
// what a step costs, how soon the first request leaves, how soon an interrupted
// turn goes on, how much memory and disk is used. Compare figures of one run
// only: machines differ, and so do their hours.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"temporal-sandbox-agent/backend/llm/llmtest"
	"temporal-sandbox-agent/sandbox/journal"
)

func main() {
	// The benchmark opens the product itself too, whose commands are started by
	// a copy of the program.
	if len(os.Args) > 1 && os.Args[1] == journal.HolderArg {
		os.Exit(journal.HolderMain(os.Args[2:]))
	}
	measure := measure
	if len(os.Args) > 1 {
		switch os.Args[1] { // a part alone
		case "snapshot":
			measure = measureSnapshots
		case "branches":
			measure = measureBranches
		}
	}
	report, err := measure(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		os.Exit(1)
	}
}

// Report is what bench prints. Times are in milliseconds.
type Report struct {
	Load        string  `json:"load"`
	ColdStart   Figures `json:"startToFirstRequestColdMs"`
	WarmStart   Figures `json:"startToFirstRequestEngineRunningMs"`
	Submit      Figures `json:"sendToRequestMs"`
	Stop        Figures `json:"stopToProcessTreeDeadMs"`
	Step        Figures `json:"overheadPerStepMs"`
	StepsFrom5  float64 `json:"overheadSteps5to55Ms"`
	StepsTo500  float64 `json:"overheadSteps450to500Ms"`
	CPUPerStep  float64 `json:"cpuPerStepMs"`
	PeakRSS50   float64 `json:"peakRssAfter50StepsMB"`
	PeakOwn50   float64 `json:"peakOwnMemoryAfter50StepsMB"`
	DiskPerStep float64 `json:"diskPerStepKB"`
	Recovery    Figures `json:"killToTurnMovingMs"`
	Window      Figures `json:"windowStartToDataMs"`
	IdleCPU     float64 `json:"idleWindowCPUPercent"`
	IdleOwn     float64 `json:"idleWindowOwnMemoryMB"`
	BareExec    Figures `json:"bareExecTrueMs"`

	Snapshot SnapshotReport `json:"snapshot"`
	Branch   BranchReport   `json:"branches"`
}

// Figures sum up repeated measurements.
type Figures struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	N      int     `json:"n"`
}

func figures(values []time.Duration) Figures {
	if len(values) == 0 {
		return Figures{}
	}
	slices.Sort(values)
	at := func(part float64) float64 { return ms(values[min(int(part*float64(len(values))), len(values)-1)]) }
	return Figures{Min: ms(values[0]), Median: at(0.5), P95: at(0.95), N: len(values)}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// bench is a scripted model and the app that asks it.
type bench struct {
	ctx   context.Context
	bin   string
	dir   string
	model *llmtest.Server

	mu       sync.Mutex
	arrivals []time.Time
	gaps     []time.Duration
	answered time.Time
}

// steps is the number of tool steps of a turn: the message says it.
func (b *bench) answer(r llmtest.Request) llmtest.Answer {
	now := time.Now()
	b.mu.Lock()
	b.arrivals = append(b.arrivals, now)
	if len(r.Results) > 0 && !b.answered.IsZero() {
		b.gaps = append(b.gaps, now.Sub(b.answered))
	}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.answered = time.Now()
		b.mu.Unlock()
	}()
	fields := strings.Fields(r.LastUser)
	n, err := strconv.Atoi(fields[0])
	if err != nil || len(r.Results) >= n {
		return llmtest.Text("done")
	}
	command, err := json.Marshal(struct {
		Cmd string `json:"cmd"`
	}{strings.Join(fields[1:], " ")})
	if err != nil {
		panic(err) // a string always encodes
	}
	return llmtest.Call("exec_command", string(command))
}

func (b *bench) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrivals, b.gaps, b.answered = nil, nil, time.Time{}
}

func (b *bench) first() (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.arrivals) == 0 {
		return time.Time{}, false
	}
	return b.arrivals[0], true
}

func (b *bench) taken() []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.gaps)
}

func (b *bench) command(data string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.ctx, b.bin, args...)
	cmd.Env = append(os.Environ(), "TSA_DATA_DIR="+data, "OPENAI_API_KEY=not-a-key", "OPENAI_BASE_URL="+b.model.URL,
		"EXAMPLES_TEMPORAL_TRACE=none", "EXAMPLES_TEMPORAL_MODEL=gpt-5.4-mini")
	return cmd
}

func (b *bench) folder(name string) (string, error) {
	dir, err := os.MkdirTemp(b.dir, name)
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	return dir, nil
}

func measure(ctx context.Context) (Report, error) {
	bin, err := filepath.Abs("build/bin/temporal-sandbox-agent")
	if err != nil {
		return Report{}, err
	}
	if _, err := os.Stat(bin); err != nil {
		return Report{}, fmt.Errorf("build the app first (make build): %w", err)
	}
	dir, err := os.MkdirTemp("", "tsa-bench-")
	if err != nil {
		return Report{}, err
	}
	b := &bench{ctx: ctx, bin: bin, dir: dir, model: llmtest.Start()}
	b.model.Handle(b.answer)
	defer b.model.Close()
	var report Report
	load, _ := os.ReadFile("/proc/loadavg") // not on every system
	report.Load = strings.TrimSpace(string(load))
	err = errors.Join(b.steps(&report), b.longTurn(&report), b.starts(&report), b.recovery(&report), b.inside(&report), b.window(&report), b.snapshot(&report), b.branches(&report), bareExec(ctx, &report))
	return report, errors.Join(err, os.RemoveAll(dir))
}

// steps measures a turn of 50 steps in a fresh data folder.
func (b *bench) steps(report *Report) error {
	data, err := b.folder("steps")
	if err != nil {
		return err
	}
	b.reset()
	cmd := b.command(data, "run", "--new", "--approve", "never", "--json", "50 true")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("50 steps: %w", err)
	}
	over, own := make(chan struct{}), make(chan float64, 1)
	go func() { own <- ownMemory(cmd.Process.Pid, over) }()
	err = cmd.Wait()
	close(over)
	report.PeakOwn50 = <-own
	if err != nil {
		return fmt.Errorf("50 steps: %w\n%s", err, &output)
	}
	report.Step = figures(b.taken())
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	report.PeakRSS50 = float64(usage.Maxrss) / 1024
	report.CPUPerStep = ms(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()) / 50
	before, err := size(data)
	if err != nil {
		return err
	}
	out, err := b.command(data, "run", "--new", "--approve", "never", "--json", "50 true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("50 more steps: %w\n%s", err, out)
	}
	after, err := size(data)
	report.DiskPerStep = float64(after-before) / 1024 / 50
	return err
}

func size(dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// longTurn measures whether a step costs more late in a long turn.
func (b *bench) longTurn(report *Report) error {
	data, err := b.folder("long")
	if err != nil {
		return err
	}
	b.reset()
	if out, err := b.command(data, "run", "--new", "--approve", "never", "--json", "500 true").CombinedOutput(); err != nil {
		return fmt.Errorf("500 steps: %w\n%s", err, out)
	}
	gaps := b.taken()
	if len(gaps) < 500 {
		return fmt.Errorf("500 steps: %d were seen", len(gaps))
	}
	report.StepsFrom5 = figures(slices.Clone(gaps[5:55])).Median
	report.StepsTo500 = figures(slices.Clone(gaps[450:500])).Median
	return nil
}

// tries is how often a start is measured.
const tries = 7

// starts measures process start to first request: with no engine running, and
// with one that another process owns.
func (b *bench) starts(report *Report) error {
	data, err := b.folder("starts")
	if err != nil {
		return err
	}
	cold, err := b.startTimes(data)
	if err != nil {
		return err
	}
	report.ColdStart = figures(cold)
	b.reset()
	owner := b.command(data, "run", "--new", "--approve", "never", "--json", "1 sleep 9")
	if err := owner.Start(); err != nil {
		return fmt.Errorf("start an owner: %w", err)
	}
	defer func() { _ = owner.Wait() }()
	if err := b.waitFirst(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	time.Sleep(time.Second)
	warm, err := b.startTimes(data)
	report.WarmStart = figures(warm)
	return err
}

func (b *bench) startTimes(data string) ([]time.Duration, error) {
	var times []time.Duration
	for range tries {
		b.reset()
		began := time.Now()
		if out, err := b.command(data, "run", "--new", "--approve", "never", "--json", "0 nothing").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("start: %w\n%s", err, out)
		}
		at, ok := b.first()
		if !ok {
			return nil, errors.New("start: no request came")
		}
		times = append(times, at.Sub(began))
	}
	return times, nil
}

func (b *bench) waitFirst(deadline time.Time) error {
	for {
		if _, ok := b.first(); ok {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.New("no request came")
		}
		time.Sleep(time.Millisecond)
	}
}

// recovery measures the next start after kill -9 in the middle of a command to
// the turn's next request.
func (b *bench) recovery(report *Report) error {
	var times []time.Duration
	for range tries {
		data, err := b.folder("recovery")
		if err != nil {
			return err
		}
		b.reset()
		victim := b.command(data, "run", "--new", "--approve", "never", "--json", "1 sleep 0.7")
		if err := victim.Start(); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		if err := b.waitFirst(time.Now().Add(30 * time.Second)); err != nil {
			return err
		}
		time.Sleep(400 * time.Millisecond)
		_ = victim.Process.Kill()
		_ = victim.Wait()
		time.Sleep(time.Second) // the command ends meanwhile
		list, err := b.command(data, "sessions", "list", "--json").Output()
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		var sessions []struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(list, &sessions); err != nil || len(sessions) != 1 {
			return fmt.Errorf("list: %d sessions, %w", len(sessions), err)
		}
		b.reset()
		began := time.Now()
		if out, err := b.command(data, "run", "--session", sessions[0].ID, "--wait", "--json").CombinedOutput(); err != nil {
			return fmt.Errorf("go on: %w\n%s", err, out)
		}
		if at, ok := b.first(); ok {
			times = append(times, at.Sub(began))
		}
	}
	report.Recovery = figures(times)
	return nil
}

// bareExec is what starting a process costs here, to compare with.
func bareExec(ctx context.Context, report *Report) error {
	var times []time.Duration
	for range 50 {
		began := time.Now()
		if err := exec.CommandContext(ctx, "true").Run(); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	report.BareExec = figures(times)
	return nil
}
