package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
	"temporal-sandbox-agent/backend/trace"
	"temporal-sandbox-agent/sandbox"
)

// smokePrompt asks for the greeting that smoke looks for.
const smokePrompt = "Say hello: answer with one short greeting that begins with the word Hello, and nothing else."

const greeting = "hello"

// smokeLimit bounds the whole test.
const smokeLimit = 2 * time.Minute

func (a *App) smokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "smoke",
		Short: "Check that server, worker, workflow, model and local sandbox work together",
		Long: `Starts a Temporal server of its own in a temporary folder, runs one workflow with one
model call on a local sandbox, and shuts down. With OPENAI_API_KEY it asks OpenAI
(EXAMPLES_TEMPORAL_MODEL names the model), else the built-in demo.

EXAMPLES_TEMPORAL_TRACE is openai (the default), none, or openai_with_temporal_spans.
Exit code 0 means that the greeting arrived.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			mode := os.Getenv("EXAMPLES_TEMPORAL_TRACE")
			if mode == "" {
				mode = string(trace.ModeOpenAI)
			}
			parsed, err := trace.ParseMode(mode)
			if err != nil {
				return usage("EXAMPLES_TEMPORAL_TRACE: %v", err)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), smokeLimit)
			defer cancel()
			return a.smoke(ctx, parsed)
		},
	}
}

func (a *App) smoke(ctx context.Context, mode trace.Mode) (err error) {
	dir, err := os.MkdirTemp("", "tsa-smoke-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := backend.Config{DataDir: dir, Version: a.Version, Trace: mode}
	return a.with(ctx, config, func(b *backend.Backend) error {
		id := session.NewID()
		events := b.Watch(ctx, id)
		message := session.NewID()
		created, err := b.Sessions.Create(ctx, protocol.CreateRequest{
			ID: id, Backend: "local", Options: protocol.Options{Approve: protocol.ApproveNever},
			First: &protocol.SendRequest{ID: message, Text: smokePrompt},
		})
		if err != nil {
			return err
		}
		quiet := &collector{}
		f := &follower{app: a, b: b, session: created.ID, message: message, out: quiet}
		if err := f.follow(ctx, events); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.Out, "%s\n", strings.TrimSpace(quiet.answer))
		if !strings.Contains(strings.ToLower(quiet.answer), greeting) {
			return &exitError{code: ExitFailed, err: errors.New("the model did not greet")}
		}
		return a.smokeSandbox(ctx, b, created.ID, quiet.by)
	})
}

// smokeSandbox runs a command where the session works, and says that all is
// well with the model that answered.
func (a *App) smokeSandbox(ctx context.Context, b *backend.Backend, id, by string) error {
	record, err := b.Sessions.Get(ctx, id)
	if err != nil {
		return err
	}
	place, err := b.Places.Open(ctx, id, protocol.Place{Backend: record.Backend, Sandbox: record.Sandbox})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	result, err := place.Sandbox.Exec(ctx, sandbox.Cmd{Args: []string{"pwd"}, Stdout: &out})
	if err != nil {
		return err
	}
	if result.ExitCode != 0 || strings.TrimSpace(out.String()) == "" {
		return &exitError{code: ExitFailed, err: fmt.Errorf("the sandbox answered %d", result.ExitCode)}
	}
	_, _ = fmt.Fprintf(a.Out, "workflow, model (%s) and local sandbox work together\n", by)
	return nil
}

// collector keeps the answer and whose it is, and prints nothing.
type collector struct{ answer, by string }

func (c *collector) session(protocol.Session) {}
func (c *collector) event(protocol.Event)     {}
func (c *collector) seen(string) bool         { return true }
func (c *collector) item(i protocol.Item) {
	if i.Assistant != nil {
		c.answer = i.Assistant.Text
	}
	if i.TurnEnd != nil {
		c.by = i.TurnEnd.Provider
	}
}
func (c *collector) end(protocol.Session, protocol.Outcome, *protocol.Fault) {}
