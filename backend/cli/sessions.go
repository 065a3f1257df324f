package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
)

func (a *App) sessionsCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, fork, switch, rewind, export, import, rename, answer, stop and destroy sessions",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() }, // else Args does not count
	}
	command.AddCommand(a.listCommand(), a.showCommand(), a.renameCommand(), a.destroyCommand(),
		a.forkCommand(), a.switchCommand(), a.rewindCommand(), a.exportCommand(), a.importCommand(),
		a.stopCommand(), a.answerCommand("approve", protocol.DecisionAllow), a.answerCommand("deny", protocol.DecisionDeny))
	return command
}

// reading is the configuration of commands that only read the store: they need
// no engine and disturb none.
func (a *App) reading() backend.Config {
	config := a.config()
	config.StoreOnly = true
	return config
}

func (a *App) listCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List all sessions, the last used first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), a.reading(), func(b *backend.Backend) error {
				sessions, err := b.Sessions.List(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					if sessions == nil {
						sessions = []protocol.Session{}
					}
					return a.printJSON(sessions)
				}
				return a.table(sessions)
			})
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print an array")
	return command
}

// shortID is how many characters of an id are shown; any unique beginning is
// taken.
const shortID = 8

func (a *App) table(sessions []protocol.Session) error {
	if len(sessions) == 0 {
		_, err := fmt.Fprintln(a.Out, "There are no sessions. Make one with: run \"your prompt\"")
		return err
	}
	w := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ID\tTITLE\tSTATE\tBACKEND\tTURNS\tUSED")
	for _, s := range sessions {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n",
			s.ID[:min(shortID, len(s.ID))], oneLine(s.Title), strings.ReplaceAll(string(s.State), "_", " "), s.Backend, s.Turns, ago(s.Updated))
	}
	return w.Flush()
}

func oneLine(s string) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > 50 {
		runes = append(runes[:49:49], '…')
	}
	return string(runes)
}

// ago says when something was: relative under a day, else the date.
func ago(t time.Time) string {
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return t.Local().Format(time.DateOnly)
	}
}

// shownSession is what show prints as JSON.
type shownSession struct {
	Session protocol.Session `json:"session"`
	Items   []protocol.Item  `json:"items"`
}

func (a *App) showCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show ID",
		Short: "Print a session's whole conversation",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), a.reading(), func(b *backend.Backend) error {
				found, err := b.Sessions.Find(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				items, err := conversation(cmd.Context(), b, found.ID)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(shownSession{Session: found, Items: items})
				}
				out := a.printer(false)
				for _, item := range items {
					out.item(item)
				}
				out.end(found, "", nil)
				return nil
			})
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print the record and all items")
	return command
}

// conversation reads all pages, oldest first.
func conversation(ctx context.Context, b *backend.Backend, id string) ([]protocol.Item, error) {
	var pages [][]protocol.Item
	before := ""
	for {
		page, err := b.Sessions.Page(ctx, id, before, 500)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page.Items)
		if page.Before == "" {
			break
		}
		before = page.Before
	}
	items := []protocol.Item{}
	for i := len(pages) - 1; i >= 0; i-- {
		items = append(items, pages[i]...)
	}
	return items, nil
}

// done is what a command that changes a session prints as JSON.
type done struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Done is renamed, destroyed, stopped, allowed or denied.
	Done      string `json:"done"`
	Workspace string `json:"workspace"`
	// WorkspaceRemoved is true if the folder was removed with the session.
	WorkspaceRemoved bool `json:"workspaceRemoved,omitempty"`
}

// doneFlag adds --json to a command that changes a session.
func doneFlag(command *cobra.Command, asJSON *bool) {
	command.Flags().BoolVar(asJSON, "json", false, "print what was done as an object")
}

// changed ends a command that changed a session: the next command must read the
// change, also when this process is gone. What hinders that is no failure of the
// change.
func (a *App) changed(ctx context.Context, b *backend.Backend, asJSON bool, s protocol.Session, what string) error {
	if err := b.Sessions.Settle(ctx, s.ID); err != nil {
		_, _ = fmt.Fprintln(a.Err, "the list of sessions may show this a little later:", err)
	}
	return a.tell(asJSON, s, what, false)
}

// tell prints what was done, if that was asked for: without --json silence says
// that it went well.
func (a *App) tell(asJSON bool, s protocol.Session, what string, removed bool) error {
	if !asJSON {
		return nil
	}
	return a.printJSON(done{ID: s.ID, Title: s.Title, Done: what, Workspace: s.Workspace, WorkspaceRemoved: removed})
}

func (a *App) renameCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "rename ID TITLE",
		Short: "Give a session another title",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(b *backend.Backend, s protocol.Session) error {
				s.Title = strings.Join(args[1:], " ")
				if err := b.Sessions.Rename(cmd.Context(), s.ID, s.Title); err != nil {
					return err
				}
				return a.changed(cmd.Context(), b, asJSON, s, "renamed")
			})
		},
	}
	doneFlag(command, &asJSON)
	return command
}

// withSession opens the engine and finds a session.
func (a *App) withSession(ctx context.Context, id string, f func(*backend.Backend, protocol.Session) error) error {
	return a.with(ctx, a.config(), func(b *backend.Backend) error {
		found, err := b.Sessions.Find(ctx, id)
		if err != nil {
			return err
		}
		return f(b, found)
	})
}

func (a *App) destroyCommand() *cobra.Command {
	var yes, keep, asJSON bool
	command := &cobra.Command{
		Use:   "destroy ID",
		Short: "End a session and remove its conversation",
		Long: `Ends a session: its running commands are ended and its conversation is removed.
Its container, or a workspace folder that was made for it, is removed too, unless
--keep-workspace is given; so is what only this session has in the store: its snapshots with
all that was in them. A folder that you picked is never removed. It asks first, but with --yes
or --json.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(b *backend.Backend, s protocol.Session) error {
				if !yes && !asJSON {
					if !terminal(a.In) {
						return usage("destroying needs --yes where nobody can be asked")
					}
					_, _ = fmt.Fprintf(a.Err, "Destroy %q (%d turns)? Type yes: ", s.Title, s.Turns)
					line, _ := bufio.NewReader(a.In).ReadString('\n')
					if strings.TrimSpace(line) != "yes" {
						return &exitError{code: ExitInterrupted, err: fmt.Errorf("nothing was destroyed")}
					}
				}
				if err := b.Sessions.Destroy(cmd.Context(), s.ID, !keep); err != nil {
					return err
				}
				return a.tell(asJSON, s, "destroyed", a.removed(s, keep))
			})
		},
	}
	doneFlag(command, &asJSON)
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	command.Flags().BoolVar(&keep, "keep-workspace", false, "keep the folder that was made for the session")
	return command
}

// removed tells whether a session's folder went with it. One that should have
// and is still there is told of.
func (a *App) removed(s protocol.Session, keep bool) bool {
	if !s.OwnWorkspace || keep {
		return false
	}
	if _, err := os.Lstat(s.Workspace); err == nil {
		_, _ = fmt.Fprintln(a.Err, "the folder could not be removed:", s.Workspace)
		return false
	}
	return true
}

func (a *App) stopCommand() *cobra.Command {
	var left, asJSON bool
	command := &cobra.Command{
		Use:   "stop ID",
		Short: "Stop the turn under way, or what turns left running",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(b *backend.Backend, s protocol.Session) error {
				stop := b.Sessions.Stop
				if left {
					stop = b.Sessions.StopCommands
				}
				if err := stop(cmd.Context(), s.ID); err != nil {
					return err
				}
				return a.changed(cmd.Context(), b, asJSON, s, "stopped")
			})
		},
	}
	command.Flags().BoolVar(&left, "commands", false, "stop the commands that turns have left running, not a turn")
	doneFlag(command, &asJSON)
	return command
}

func (a *App) answerCommand(name string, decision protocol.Decision) *cobra.Command {
	var note string
	var always, asJSON bool
	command := &cobra.Command{
		Use:   name + " ID",
		Short: map[protocol.Decision]string{protocol.DecisionAllow: "Allow what the agent asks to do", protocol.DecisionDeny: "Deny what the agent asks to do"}[decision],
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(b *backend.Backend, s protocol.Session) error {
				if len(s.Approvals) == 0 {
					return &protocol.Fault{Class: protocol.ClassNotFound, Happened: "This session asks for nothing"}
				}
				answer := protocol.Resolution{ID: s.Approvals[0].ID, Decision: decision, Note: note}
				if always {
					answer.Decision = protocol.DecisionAlways
				}
				if err := b.Sessions.Resolve(cmd.Context(), s.ID, answer); err != nil {
					return err
				}
				what := map[protocol.Decision]string{protocol.DecisionAllow: "allowed", protocol.DecisionDeny: "denied"}[decision]
				return a.changed(cmd.Context(), b, asJSON, s, what)
			})
		},
	}
	doneFlag(command, &asJSON)
	if decision == protocol.DecisionDeny {
		command.Flags().StringVar(&note, "reason", "", "told to the agent")
	} else {
		command.Flags().BoolVar(&always, "always", false, "allow commands that begin like this one from now on")
	}
	return command
}
