package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
)

// inside measures what a window does, in this process: from Send to the
// model's request, and from Stop to the end of the command's last process.
func (b *bench) inside(report *Report) error {
	return b.within("inside", func(product *backend.Backend, data string) error {
		s, err := product.Sessions.Create(b.ctx, protocol.CreateRequest{
			Workspace: data, Options: protocol.Options{Approve: protocol.ApproveNever},
		})
		if err != nil {
			return err
		}
		if err := b.submits(report, product, s.ID); err != nil {
			return err
		}
		return b.stops(report, product, s.ID, data)
	})
}

// within opens the product in this process, with the scripted model, and gives
// it a folder to work in.
func (b *bench) within(name string, f func(product *backend.Backend, work string) error) error {
	data, err := b.folder(name)
	if err != nil {
		return err
	}
	work, err := b.folder(name + " work")
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "not-a-key", "OPENAI_BASE_URL": b.model.URL, "EXAMPLES_TEMPORAL_TRACE": "none",
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	product, err := backend.New(b.ctx, backend.Config{DataDir: data, Version: "bench", Model: "gpt-5.4-mini"})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		defer cancel()
		_ = product.Close(ctx)
	}()
	return f(product, work)
}

func (b *bench) submits(report *Report, product *backend.Backend, id string) error {
	var times []time.Duration
	for n := range 2 * tries {
		b.reset()
		began := time.Now()
		if _, err := product.Sessions.Send(b.ctx, id, protocol.SendRequest{ID: session.NewID(), Text: "0 nothing"}); err != nil {
			return err
		}
		if err := b.until(product, id, func(s protocol.Session) bool { return s.State == protocol.StateIdle && s.Turns == n+1 }); err != nil {
			return err
		}
		at, ok := b.first()
		if !ok {
			return errors.New("submit: no request came")
		}
		times = append(times, at.Sub(began))
	}
	report.Submit = figures(times)
	return nil
}

func (b *bench) stops(report *Report, product *backend.Backend, id, dir string) error {
	var times []time.Duration
	for range tries {
		before, err := product.Sessions.Get(b.ctx, id)
		if err != nil {
			return err
		}
		mark := filepath.Join(dir, "child")
		_ = os.Remove(mark)
		text := "1 sleep 300 & echo $! > child.new; mv child.new child; sleep 300"
		if _, err := product.Sessions.Send(b.ctx, id, protocol.SendRequest{ID: session.NewID(), Text: text}); err != nil {
			return err
		}
		child, err := b.pid(mark)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := product.Sessions.Stop(b.ctx, id); err != nil {
			return err
		}
		for lives(child) {
			if time.Since(began) > 20*time.Second {
				return errors.New("stop: the command's child still runs")
			}
			time.Sleep(time.Millisecond)
		}
		times = append(times, time.Since(began))
		if err := b.until(product, id, func(s protocol.Session) bool {
			return s.State == protocol.StateIdle && s.Turns == before.Turns+1
		}); err != nil {
			return err
		}
	}
	report.Stop = figures(times)
	return nil
}

func (b *bench) until(product *backend.Backend, id string, ready func(protocol.Session) bool) error {
	deadline := time.Now().Add(30 * time.Second)
	for {
		s, err := product.Sessions.Get(b.ctx, id)
		if err == nil && ready(s) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited too long; the session is %+v, %w", s, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (b *bench) pid(file string) (int, error) {
	deadline := time.Now().Add(30 * time.Second)
	for {
		text, err := os.ReadFile(file)
		if err == nil {
			return strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("stop: the command did not begin: %w", err)
		}
		time.Sleep(time.Millisecond)
	}
}

// lives tells whether a process runs: a dead one that nobody has waited for
// does not.
func lives(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
