package backend

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"

	"temporal-sandbox-agent/backend/protocol"
)

// openExternally opens a file or folder with the system's own program for it.
func openExternally(ctx context.Context, name string) error {
	program := "xdg-open"
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program = "explorer"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return &protocol.Fault{
			Class: protocol.ClassUnavailable, Happened: "No program to open files was found",
			Remedy: "Install xdg-utils.", Detail: err.Error(),
		}
	}
	// The program outlives this call, and the app.
	command := exec.CommandContext(context.WithoutCancel(ctx), path, name)
	if err := command.Start(); err != nil {
		return &protocol.Fault{Class: protocol.ClassUnavailable, Happened: "The file could not be opened", Detail: err.Error()}
	}
	go func() { _ = command.Wait() }()
	return nil
}

// CheckURL refuses what must not be given to the system's browser: a link in an
// answer of a model may name anything.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return nil
	}
	return &protocol.Fault{
		Class: protocol.ClassBadInput, Happened: "Only web pages are opened from here", Detail: text,
	}
}

// count says a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
