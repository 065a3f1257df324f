package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/engine"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox/journal"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == journal.HolderArg {
		os.Exit(journal.HolderMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// app is the window's side without a window.
func app(t *testing.T, data string) *App {
	t.Helper()
	a := NewApp(func() (*backend.Backend, error) {
		return backend.New(t.Context(), backend.Config{DataDir: data, Version: "test"})
	})
	a.emit = func(context.Context, []protocol.Event) {}
	a.prepare()
	a.start(t.Context())
	t.Cleanup(func() { a.stop(context.Background()) })
	return a
}

func running(t *testing.T, a *App) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		boot, err := a.Boot()
		if err == nil && boot.Engine.State == string(engine.HostRunning) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the engine does not run: %+v, %v", boot.Engine, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// What hinders the start can be put away while the window is open.
func TestRetryStart(t *testing.T) {
	t.Run("the data folder", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(data, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		a := app(t, data)
		for range 2 {
			if _, err := a.Boot(); err == nil || !strings.Contains(err.Error(), "is not a folder") {
				t.Fatalf("Boot: %v", err)
			}
			if err := a.RetryStart(); err == nil || !strings.Contains(err.Error(), "is not a folder") {
				t.Fatalf("RetryStart: %v", err)
			}
		}
		if err := os.Remove(data); err != nil {
			t.Fatal(err)
		}
		if err := a.RetryStart(); err != nil {
			t.Fatal(err)
		}
		running(t, a)
	})
	t.Run("the engine", func(t *testing.T) {
		data := t.TempDir()
		blocked := filepath.Join(data, "engine")
		if err := os.WriteFile(blocked, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		a := app(t, data)
		deadline := time.Now().Add(time.Minute)
		for {
			boot, err := a.Boot()
			if err != nil {
				t.Fatal(err)
			}
			if boot.Engine.State == string(engine.HostFailed) {
				if f := boot.Engine.Fault; f == nil || f.Happened == "" || f.Remedy == "" {
					t.Errorf("the window is told %+v", boot.Engine)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the engine is %+v", boot.Engine)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := os.Remove(blocked); err != nil {
			t.Fatal(err)
		}
		if err := a.RetryStart(); err != nil {
			t.Fatal(err)
		}
		running(t, a)
		if err := a.RetryStart(); err != nil { // nothing to do
			t.Fatal(err)
		}
		running(t, a)
	})
}
