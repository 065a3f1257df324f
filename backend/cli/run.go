package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/session"
)

// runFlags are the flags of run.
type runFlags struct {
	session, title             string
	fresh, wait, steer, asJSON bool
	backend, workspace, image  string
	provider, model, effort    string
	approve                    string
}

func (a *App) runCommand() *cobra.Command {
	var f runFlags
	command := &cobra.Command{
		Use:   `run [flags] "prompt"`,
		Short: "Work one turn without a window",
		Long: `Sends the prompt to a session and prints what happens until the turn ends.
With --session ID --wait and no prompt it follows the turn under way to its end.

--json prints one event a line, each with a "type".
Exit codes: 0 done, 1 the turn failed, 2 usage, 3 backend unavailable, 4 interrupted or waiting for an approval.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt := strings.Join(args, " ")
			if err := f.check(prompt); err != nil {
				return err
			}
			config := a.config()
			config.Model = f.model
			return a.with(cmd.Context(), config, func(b *backend.Backend) error {
				return a.run(cmd.Context(), b, f, prompt)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.session, "session", "", "send to this session (an id, or its beginning)")
	flags.BoolVar(&f.fresh, "new", false, "make a new session (the default without --session)")
	flags.BoolVar(&f.wait, "wait", false, "follow the turn under way to its end; needs --session and no prompt")
	flags.BoolVar(&f.steer, "steer", false, "put the prompt into the turn under way instead of after it")
	flags.StringVar(&f.title, "title", "", "title of the new session")
	flags.StringVar(&f.backend, "backend", "", "where it works: local or docker")
	flags.StringVar(&f.workspace, "workspace", "", "the folder to work in; a fresh one if not given")
	flags.StringVar(&f.image, "image", "", "image, for backends that have one")
	flags.StringVar(&f.provider, "provider", "", "who answers: openai, demo, or a local server's name")
	flags.StringVar(&f.model, "model", "", "the model")
	flags.StringVar(&f.effort, "effort", "", "reasoning effort, for models that have it")
	flags.StringVar(&f.approve, "approve", "", "when to ask: ask (always), auto (for what is risky), never")
	flags.BoolVar(&f.asJSON, "json", false, "print one event a line as JSON")
	return command
}

func (f *runFlags) check(prompt string) error {
	mode := protocol.ApprovalMode(f.approve)
	switch {
	case f.session != "" && f.fresh:
		return usage("--session and --new exclude each other")
	case f.wait && (f.session == "" || prompt != ""):
		return usage("--wait needs --session and no prompt")
	case !f.wait && strings.TrimSpace(prompt) == "":
		return usage("there is no prompt")
	case f.approve != "" && !mode.Valid():
		return usage("--approve is ask, auto or never, not %q", f.approve)
	case f.session != "" && (f.backend != "" || f.workspace != "" || f.image != "" || f.title != ""):
		return usage("--backend, --workspace, --image and --title are for new sessions")
	case f.workspace != "" && !filepath.IsAbs(f.workspace):
		abs, err := filepath.Abs(f.workspace)
		if err != nil {
			return usage("--workspace: %v", err)
		}
		f.workspace = abs
	}
	return nil
}

func (a *App) run(ctx context.Context, b *backend.Backend, f runFlags, prompt string) error {
	// Watching begins before the message is sent, so that nothing is missed.
	watching, stop := context.WithCancel(ctx)
	defer stop()
	id, err := a.target(ctx, b, f)
	if err != nil {
		return err
	}
	events := b.Watch(watching, id)
	messageID := ""
	switch {
	case f.wait:
	case f.session != "":
		messageID = session.NewID()
		if err := f.apply(ctx, b, id); err != nil {
			return err
		}
		if _, err := b.Sessions.Send(ctx, id, protocol.SendRequest{ID: messageID, Text: prompt, Steer: f.steer}); err != nil {
			return err
		}
	default:
		messageID = session.NewID()
		_, err := b.Sessions.Create(ctx, protocol.CreateRequest{
			ID: id, Title: f.title, Backend: f.backend, Workspace: f.workspace, Image: f.image,
			Options: protocol.Options{Provider: f.provider, Model: f.model, Effort: f.effort, Approve: protocol.ApprovalMode(f.approve)},
			First:   &protocol.SendRequest{ID: messageID, Text: prompt},
		})
		if err != nil {
			return err
		}
	}
	out := a.printer(f.asJSON)
	follower := &follower{app: a, b: b, session: id, message: messageID, out: out, ask: !f.asJSON && terminal(a.In)}
	return a.untilInterrupt(ctx, b, id, func(ctx context.Context) error { return follower.follow(ctx, events) })
}

// target is the session that the flags name, or the id of a new one.
func (a *App) target(ctx context.Context, b *backend.Backend, f runFlags) (string, error) {
	if f.session == "" {
		return session.NewID(), nil
	}
	found, err := b.Sessions.Find(ctx, f.session)
	return found.ID, err
}

// apply changes the session's options to those of the flags.
func (f *runFlags) apply(ctx context.Context, b *backend.Backend, id string) error {
	var change protocol.OptionsChange
	any := false
	set := func(to **string, v string) {
		if v != "" {
			*to, any = &v, true
		}
	}
	set(&change.Provider, f.provider)
	set(&change.Model, f.model)
	set(&change.Effort, f.effort)
	if f.approve != "" {
		mode := protocol.ApprovalMode(f.approve)
		change.Approve, any = &mode, true
	}
	if !any {
		return nil
	}
	return b.Sessions.SetOptions(ctx, id, change)
}

// untilInterrupt runs f; the first Ctrl C stops the turn, a second one leaves
// at once.
func (a *App) untilInterrupt(ctx context.Context, b *backend.Backend, id string, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	select {
	case err := <-done:
		return err
	case <-signals:
	}
	_, _ = fmt.Fprintln(a.Err, "stopping the turn; Ctrl C again leaves at once")
	stopped := make(chan error, 1)
	go func() { stopped <- b.Sessions.Stop(ctx, id) }()
	select {
	case err := <-done:
		return errors.Join(&exitError{code: ExitInterrupted, err: errors.New("interrupted")}, err)
	case <-signals:
		return &exitError{code: ExitInterrupted, err: errors.New("left; the turn goes on when the app is opened again")}
	case err := <-stopped:
		if err != nil {
			return err
		}
	}
	select {
	case err := <-done:
		return err
	case <-signals:
		return &exitError{code: ExitInterrupted, err: errors.New("left")}
	}
}
