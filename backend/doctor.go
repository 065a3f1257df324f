package backend

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"

	"temporal-sandbox-agent/backend/engine"
	"temporal-sandbox-agent/backend/protocol"
)

// doctorLimit bounds each look.
const doctorLimit = 10 * time.Second

// Doctor tells what works here: what is needed first, then what may be missing.
func (b *Backend) Doctor(ctx context.Context) []protocol.Check {
	ctx, cancel := context.WithTimeout(ctx, doctorLimit)
	defer cancel()
	checks := []protocol.Check{b.checkEngine(ctx), b.checkStore(ctx), checkShell(), checkWindow(ctx), b.checkWebView()}
	for _, info := range b.Backends(ctx) {
		check := protocol.Check{
			Name: "backend " + info.Name, OK: info.Available, Needed: info.Name == "local", Text: info.Label, Remedy: info.Remedy,
		}
		if info.Version != "" {
			check.Text += " " + info.Version
		}
		if !info.Available {
			check.Text = info.Reason
		}
		checks = append(checks, check)
	}
	for _, info := range b.Models.Providers(ctx) {
		check := protocol.Check{Name: "model " + info.Name, OK: info.Available, Text: info.Label, Remedy: info.Remedy}
		if !info.Available {
			check.Text = info.Reason
		}
		checks = append(checks, check)
	}
	return append(checks,
		protocol.Check{Name: "data folder", OK: true, Text: b.paths.Data},
		protocol.Check{Name: "log", OK: true, Text: b.paths.LogFile()})
}

func (b *Backend) checkEngine(ctx context.Context) protocol.Check {
	check := protocol.Check{Name: "engine", Needed: true}
	if b.host == nil {
		check.Text = "not started"
		return check
	}
	e, err := b.host.Engine(ctx)
	if err != nil {
		check.Text = err.Error()
		return check
	}
	check.OK, check.Text = true, "Temporal runs in this process"
	if e.Role() == engine.RoleAttached {
		check.Text = "attached to the Temporal of another process"
	}
	return check
}

func (b *Backend) checkStore(ctx context.Context) protocol.Check {
	sessions, err := b.Sessions.List(ctx)
	if err != nil {
		return protocol.Check{Name: "store", Needed: true, Text: err.Error()}
	}
	return protocol.Check{Name: "store", Needed: true, OK: true, Text: count(len(sessions), "session")}
}

func checkShell() protocol.Check {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return protocol.Check{Name: "shell", Needed: true, OK: true, Text: path}
		}
	}
	return protocol.Check{Name: "shell", Needed: true, Text: "there is neither bash nor sh in PATH"}
}

// checkWindow tells whether a window can be opened. That this program runs
// means that its libraries are there; what may be missing is a display.
func checkWindow(ctx context.Context) protocol.Check {
	check := protocol.Check{Name: "window"}
	if runtime.GOOS != "linux" {
		check.OK, check.Text = true, "the system's own web view"
		return check
	}
	display, err := Display(ctx, os.Getenv)
	check.OK, check.Text = err == nil, display
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		check.Text, check.Remedy = fault.Happened, fault.Remedy
	}
	return check
}

func (b *Backend) checkWebView() protocol.Check {
	check := protocol.Check{Name: "web view", OK: true, Text: "what draws the window can be loaded"}
	if b.config.WebView == nil {
		return check
	}
	if err := b.config.WebView(); err != nil {
		fault := WebViewFault(err)
		check.OK, check.Text, check.Remedy = false, fault.Happened+": "+fault.Detail, fault.Remedy
	}
	return check
}

// WebViewFault says that Config.WebView failed.
func WebViewFault(err error) *protocol.Fault {
	return &protocol.Fault{
		Class:    protocol.ClassUnavailable,
		Happened: "WebKitGTK, which draws the window, can't be loaded",
		Detail:   err.Error(),
		Remedy:   "Install WebKitGTK 4.1 (Debian and Ubuntu: apt install libwebkit2gtk-4.1-0), or " + withoutWindow,
	}
}
