package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
)

// manySessions are in the sidebar while the window idles.
const manySessions = 300

// settle is how long a window is left alone before idleFor is measured.
const (
	settle  = 15 * time.Second
	idleFor = 30 * time.Second
)

// window measures how long a window takes from its start until its page has
// the data to draw, and what it costs while nobody uses it. Without Xvfb there
// are no figures.
func (b *bench) window(report *Report) error {
	if _, err := exec.LookPath("Xvfb"); err != nil || runtime.GOOS != "linux" {
		fmt.Fprintln(os.Stderr, "bench: no figures for the window: Xvfb is missing")
		return nil
	}
	display, stop, err := b.display()
	if err != nil {
		return err
	}
	defer stop()
	data, err := b.folder("window")
	if err != nil {
		return err
	}
	if err := b.fill(data, manySessions); err != nil {
		return err
	}
	var times []time.Duration
	for n := range tries {
		began := time.Now()
		app, err := b.openWindow(data, display)
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
		if n == tries-1 {
			b.idle(report, app.Process.Pid)
		}
		_ = app.Process.Signal(syscall.SIGTERM)
		_ = app.Wait()
	}
	report.Window = figures(times)
	return nil
}

// display starts a display in memory.
func (b *bench) display() (string, func(), error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", nil, err
	}
	server := exec.CommandContext(b.ctx, "Xvfb", "-displayfd", "3", "-screen", "0", "1440x900x24", "-nolisten", "tcp")
	server.ExtraFiles = []*os.File{writer}
	if err := server.Start(); err != nil {
		return "", nil, fmt.Errorf("start a display: %w", err)
	}
	stop := func() { _ = server.Process.Signal(syscall.SIGTERM); _ = server.Wait() }
	number, err := bufio.NewReader(reader).ReadString('\n')
	if err := errors.Join(err, writer.Close(), reader.Close()); err != nil {
		stop()
		return "", nil, fmt.Errorf("start a display: %w", err)
	}
	return ":" + strings.TrimSpace(number), stop, nil
}

// fill makes sessions that wait for their first message.
func (b *bench) fill(data string, n int) error {
	product, err := backend.New(b.ctx, backend.Config{DataDir: data, Version: "bench"})
	if err != nil {
		return err
	}
	for range n {
		if _, err := product.Sessions.Create(b.ctx, protocol.CreateRequest{Workspace: b.dir}); err != nil {
			return errors.Join(err, product.Close(b.ctx))
		}
	}
	// Made in a row; the engine gets the time to be done with them.
	time.Sleep(settle + 5*time.Second)
	return product.Close(b.ctx)
}

// openWindow starts the app and returns when its log says that the page has
// its data.
func (b *bench) openWindow(data, display string) (*exec.Cmd, error) {
	log := filepath.Join(data, "state", "app.log")
	if err := os.RemoveAll(log); err != nil {
		return nil, err
	}
	app := b.command(data)
	app.Env = append(app.Env, "DISPLAY="+display, "WAYLAND_DISPLAY=", "GDK_BACKEND=x11")
	if err := app.Start(); err != nil {
		return nil, fmt.Errorf("open the window: %w", err)
	}
	deadline := time.Now().Add(60 * time.Second)
	for {
		if text, err := os.ReadFile(log); err == nil && strings.Contains(string(text), "the window has its data") {
			return app, nil
		}
		if time.Now().After(deadline) {
			_ = app.Process.Kill()
			return nil, errors.Join(errors.New("the window did not ask for its data"), app.Wait())
		}
		time.Sleep(time.Millisecond)
	}
}

// idle measures the window's process and those of WebKit below it.
func (b *bench) idle(report *Report, pid int) {
	time.Sleep(settle)
	before := familyCPU(pid)
	time.Sleep(idleFor)
	report.IdleCPU = float64(familyCPU(pid)-before) / float64(idleFor) * 100
	report.IdleOwn = float64(statusKB(pid, "RssAnon")) / 1024
}
