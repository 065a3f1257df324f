// Package cli is the command line: the same product without a window. What it
// prints and its exit codes are what scripts hold on to.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox/journal"
)

// Exit codes.
const (
	ExitDone        = 0
	ExitFailed      = 1 // the turn or the command failed
	ExitUsage       = 2 // the command line makes no sense
	ExitUnavailable = 3 // the backend, the model or the engine can't be used
	ExitInterrupted = 4 // stopped, or waiting for an approval
)

// exitError carries an exit code; its text was or will be printed once.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage makes an error of a command line that makes no sense.
func usage(format string, args ...any) error {
	return &exitError{code: ExitUsage, err: fmt.Errorf(format, args...)}
}

// ExitCode is the process's exit code for an error of a command.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return faultCode(fault.Class)
	}
	if errors.Is(err, context.Canceled) {
		return ExitInterrupted
	}
	return ExitFailed
}

func faultCode(class protocol.Class) int {
	switch class {
	case protocol.ClassUnavailable, protocol.ClassSandboxGone, protocol.ClassNoKey, protocol.ClassBackendDown:
		return ExitUnavailable
	case protocol.ClassBadInput, protocol.ClassOccupied:
		return ExitUsage
	case protocol.ClassCancelled:
		return ExitInterrupted
	default:
		return ExitFailed
	}
}

// Open opens the product for a command. Commands that only read what is in the
// store leave the engine alone and are quick.
type Open func(ctx context.Context, config backend.Config) (*backend.Backend, error)

// Process is what the program around the command line gives it.
type Process struct {
	Version string
	Open    Open
	// Window opens the window: what the program does without a command. May be
	// nil.
	Window func(ctx context.Context, config backend.Config) error
	// WebView loads what draws the window, see backend.Config.
	WebView func() error
	Out     io.Writer
	Err     io.Writer
	In      io.Reader
}

// App is what the commands share.
type App struct {
	Process
	dataDir string
}

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, args []string, process Process) int {
	// The app starts itself to hold commands; nothing else of it must run then.
	if len(args) > 0 && args[0] == journal.HolderArg {
		return journal.HolderMain(args[1:])
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	a := &App{Process: process}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		Explain(a.Err, err)
	}
	return ExitCode(err)
}

func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "temporal-sandbox-agent",
		Short:         "A coding agent that works in a real folder and never loses its place",
		Version:       a.Version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.Window == nil {
				return cmd.Help()
			}
			return a.Window(cmd.Context(), a.config())
		},
	}
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.PersistentFlags().StringVar(&a.dataDir, "data-dir", "", "keep all data in this folder (or set TSA_DATA_DIR)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%v\n\n%s", err, cmd.UsageString())
	})
	root.AddCommand(a.smokeCommand(), a.runCommand(), a.sessionsCommand(), a.doctorCommand())
	countArgs(root)
	return root
}

// countArgs has the wrong number of arguments told as wrong usage.
func countArgs(command *cobra.Command) {
	if check := command.Args; check != nil {
		command.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usage("%v\n\n%s", err, cmd.UsageString())
			}
			return nil
		}
	}
	for _, c := range command.Commands() {
		countArgs(c)
	}
}

// config is the configuration that the common flags ask for.
func (a *App) config() backend.Config {
	return backend.Config{DataDir: a.dataDir, Version: a.Version, WebView: a.WebView}
}

// closeLimit is how long a command waits for a clean end.
const closeLimit = 5 * time.Second

// with opens the product, runs f and closes it again.
func (a *App) with(ctx context.Context, config backend.Config, f func(*backend.Backend) error) (err error) {
	b, err := a.Open(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
		defer cancel()
		err = errors.Join(err, b.Close(ctx))
	}()
	for _, notice := range b.Notices() {
		_, _ = fmt.Fprintln(a.Err, notice)
	}
	return f(b)
}

// printJSON writes v as one indented JSON value.
func (a *App) printJSON(v any) error {
	encoder := json.NewEncoder(a.Out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// Explain writes an error as the user should meet it.
func Explain(w io.Writer, err error) {
	fault, ok := errors.AsType[*protocol.Fault](err)
	if !ok {
		_, _ = fmt.Fprintln(w, "error:", err)
		return
	}
	_, _ = fmt.Fprintln(w, "error:", fault.Happened)
	for _, line := range []string{fault.Kept, fault.Remedy} {
		if line != "" {
			_, _ = fmt.Fprintln(w, "  "+line)
		}
	}
	if fault.Detail != "" {
		_, _ = fmt.Fprintln(w, "  detail:", fault.Detail)
	}
}

// terminal tells whether f is a terminal that a person sits at.
func terminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device, and nobody sits at it
	return err != nil || !os.SameFile(info, null)
}
