package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
)

// targetFlags say where a tree goes.
type targetFlags struct {
	backend, workspace, image, onto string
}

func (f *targetFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.backend, "backend", "", "where it works: local or docker")
	flags.StringVar(&f.workspace, "workspace", "", "local: the folder to work in; a fresh one if not given")
	flags.StringVar(&f.image, "image", "", "docker: the image")
	flags.StringVar(&f.onto, "onto", "", "what to do with a folder that holds other files: merge or replace; refused if not given")
}

// target checks the flags; backend is that of the session.
func (f *targetFlags) target(backend string) (protocol.Target, error) {
	t := protocol.Target{Backend: f.backend, Workspace: f.workspace, Image: f.image, Onto: protocol.Onto(f.onto)}
	switch t.Onto {
	case protocol.OntoEmpty, protocol.OntoMerge, protocol.OntoReplace:
	default:
		return t, usage("--onto is merge or replace, not %q", f.onto)
	}
	if t.Backend == "" {
		t.Backend = backend
	}
	if t.Workspace != "" {
		abs, err := filepath.Abs(t.Workspace)
		if err != nil {
			return t, usage("--workspace: %v", err)
		}
		t.Workspace = abs
	}
	return t, nil
}

// moved is what fork, switch, rewind and import print as JSON.
type moved struct {
	ID        string           `json:"id"`
	Title     string           `json:"title"`
	Done      string           `json:"done"` // forked, switched, rewound or imported
	Backend   string           `json:"backend"`
	Workspace string           `json:"workspace"`
	Receipt   protocol.Receipt `json:"receipt"`
}

// told ends a command that moved a tree.
func (a *App) told(asJSON bool, m moved) error {
	if asJSON {
		return a.printJSON(m)
	}
	r := m.Receipt
	_, _ = fmt.Fprintf(a.Out, "%s: %s\nworkspace: %s (%s)\n", m.Done, m.ID, m.Workspace, m.Backend)
	_, _ = fmt.Fprintf(a.Out, "carried:   %d files and folders, %s, in %s; %d written, %d removed\n",
		r.Files, bytesText(r.Bytes), (time.Duration(r.DurationMs) * time.Millisecond), r.Written, r.Removed)
	if len(r.Excluded) > 0 {
		_, _ = fmt.Fprintf(a.Out, "left out:  %q\n", r.Excluded)
	}
	for _, s := range r.Skipped {
		_, _ = fmt.Fprintf(a.Out, "not carried: %q %s\n", s.Path, s.Why)
	}
	if r.Undo != "" {
		_, _ = fmt.Fprintf(a.Out, "undo with: sessions rewind %s --undo\n", m.ID[:min(shortID, len(m.ID))])
	}
	return nil
}

// left says what became of a command that nobody waits for any more: it is
// durable.
func left(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return &exitError{code: ExitInterrupted, err: errors.New("left; what was begun goes on, now or when the app is opened again")}
}

// bytesText writes a size for people.
func bytesText(n int64) string {
	const unit = 1000
	if n < unit {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	value, suffix := float64(n)/unit, "kB"
	for _, s := range []string{"MB", "GB", "TB"} {
		if value < unit {
			break
		}
		value, suffix = value/unit, s
	}
	return fmt.Sprintf("%.1f %s", value, suffix)
}

func (a *App) forkCommand() *cobra.Command {
	var to targetFlags
	var title, when string
	var turn int
	var filesOnly, asJSON bool
	command := &cobra.Command{
		Use:   "fork ID",
		Short: "Make a session that goes on where another is",
		Long: `Makes a new session with the conversation and the files of another one: as they are now, or
as they were at the end of a turn (--turn). It works on the same backend, or another one.
During a turn, say --when last (from the last turn that is over) or --when end (wait).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.withSession(ctx, args[0], func(b *backend.Backend, s protocol.Session) error {
				request := protocol.ForkRequest{ID: s.ID, Title: title, When: protocol.When(when), FilesOnly: filesOnly}
				var err error
				if request.Target, err = to.target(s.Backend); err != nil {
					return err
				}
				if request.Target.Image == "" && request.Target.Backend == s.Backend {
					request.Target.Image = s.Image
				}
				if turn > 0 {
					if request.Turn, err = b.Sessions.TurnID(ctx, s.ID, turn); err != nil {
						return err
					}
				}
				out, err := b.Sessions.Fork(ctx, request)
				if err != nil {
					return left(ctx, err)
				}
				n := out.Session
				return a.told(asJSON, moved{n.ID, n.Title, "forked", n.Backend, n.Workspace, out.Receipt})
			})
		},
	}
	to.add(command)
	command.Flags().StringVar(&title, "title", "", "title of the new session")
	command.Flags().IntVar(&turn, "turn", 0, "fork from the end of this turn, counted from 1")
	command.Flags().StringVar(&when, "when", "", "during a turn: last or end")
	command.Flags().BoolVar(&filesOnly, "files-only", false, "take the files, not the conversation")
	doneFlag(command, &asJSON)
	return command
}

func (a *App) switchCommand() *cobra.Command {
	var to targetFlags
	var when string
	var asJSON bool
	command := &cobra.Command{
		Use:   "switch ID",
		Short: "Move a session with its files to another backend or folder",
		Long: `Moves a session to another place: its files are captured, put there and checked, and only
then the session moves. If that fails, it stays where it is.
During a turn, say --when end (after it) or --when stop (stop it first).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.withSession(ctx, args[0], func(b *backend.Backend, s protocol.Session) error {
				target, err := to.target(s.Backend)
				if err != nil {
					return err
				}
				receipt, err := b.Sessions.Switch(ctx, protocol.SwitchRequest{ID: s.ID, When: protocol.When(when), Target: target})
				if err != nil {
					return left(ctx, err)
				}
				if err := b.Sessions.Settle(ctx, s.ID); err != nil {
					return err
				}
				return a.told(asJSON, moved{s.ID, s.Title, "switched", receipt.To.Backend, receipt.To.Workspace, receipt})
			})
		},
	}
	to.add(command)
	command.Flags().StringVar(&when, "when", "", "during a turn: end or stop")
	doneFlag(command, &asJSON)
	return command
}

func (a *App) rewindCommand() *cobra.Command {
	var turn int
	var what, when string
	var undo, asJSON bool
	command := &cobra.Command{
		Use:   "rewind ID --turn N",
		Short: "Take a session back to the end of a turn, or take a rewind back",
		Long: `Takes the conversation, the files or both back to the end of a turn; 0 is the beginning. What
is in the workspace is captured first, so that --undo puts everything back as it was.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if !undo && !cmd.Flags().Changed("turn") {
				return usage("say to which turn with --turn, or --undo")
			}
			return a.withSession(ctx, args[0], func(b *backend.Backend, s protocol.Session) error {
				request := protocol.RewindRequest{ID: s.ID, What: protocol.RewindWhat(what), When: protocol.When(when)}
				var err error
				switch {
				case undo && len(s.Rewinds) == 0:
					return &protocol.Fault{Class: protocol.ClassNotFound, Happened: "This session was not rewound"}
				case undo:
					request.Undo = s.Rewinds[len(s.Rewinds)-1].ID
				case turn > 0:
					if request.Turn, err = b.Sessions.TurnID(ctx, s.ID, turn); err != nil {
						return err
					}
				}
				receipt, err := b.Sessions.Rewind(ctx, request)
				if err != nil {
					return left(ctx, err)
				}
				if err := b.Sessions.Settle(ctx, s.ID); err != nil {
					return err
				}
				return a.told(asJSON, moved{s.ID, s.Title, "rewound", receipt.To.Backend, receipt.To.Workspace, receipt})
			})
		},
	}
	command.Flags().IntVar(&turn, "turn", 0, "the turn, counted from 1; 0 is the beginning")
	command.Flags().StringVar(&what, "what", "both", "conversation, files or both")
	command.Flags().StringVar(&when, "when", "", "during a turn: end or stop")
	command.Flags().BoolVar(&undo, "undo", false, "take the last rewind back")
	doneFlag(command, &asJSON)
	return command
}

func (a *App) exportCommand() *cobra.Command {
	var markdown, asJSON bool
	command := &cobra.Command{
		Use:   "export ID FILE",
		Short: "Write a session into one file (.tsa), or its conversation as Markdown",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.withSession(ctx, args[0], func(b *backend.Backend, s protocol.Session) error {
				export := b.Export
				if markdown || filepath.Ext(args[1]) == ".md" {
					export = b.ExportMarkdown
				}
				if err := export(ctx, s.ID, args[1]); err != nil {
					return err
				}
				if asJSON {
					info, err := os.Stat(args[1])
					if err != nil {
						return fmt.Errorf("look at the export: %w", err)
					}
					return a.printJSON(exported{ID: s.ID, Title: s.Title, Done: "exported", File: args[1], Bytes: info.Size()})
				}
				return nil
			})
		},
	}
	command.Flags().BoolVar(&markdown, "markdown", false, "the conversation as Markdown; so does a FILE that ends in .md")
	doneFlag(command, &asJSON)
	return command
}

// exported is what export prints as JSON.
type exported struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Done  string `json:"done"`
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func (a *App) importCommand() *cobra.Command {
	var to targetFlags
	var title string
	var asJSON bool
	command := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a session from a file that export wrote",
		Long: `Makes a session from a .tsa file: conversation and files. Every part of the file is checked
before anything of it is used.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			target, err := to.target("local")
			if err != nil {
				return err
			}
			return a.with(ctx, a.config(), func(b *backend.Backend) error {
				out, err := b.Import(ctx, args[0], title, target)
				if err != nil {
					return err
				}
				n := out.Session
				return a.told(asJSON, moved{n.ID, n.Title, "imported", n.Backend, n.Workspace, out.Receipt})
			})
		},
	}
	to.add(command)
	command.Flags().StringVar(&title, "title", "", "title of the new session")
	doneFlag(command, &asJSON)
	return command
}
