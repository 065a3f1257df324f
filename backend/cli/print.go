package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// printer shows a turn.
type printer interface {
	session(protocol.Session)
	item(protocol.Item)
	event(protocol.Event)
	end(record protocol.Session, outcome protocol.Outcome, fault *protocol.Fault)
	// seen tells whether an item of the turn was shown.
	seen(turn string) bool
}

func (a *App) printer(asJSON bool) printer {
	if asJSON {
		encoder := json.NewEncoder(a.Out)
		encoder.SetEscapeHTML(false)
		return &jsonPrinter{encoder: encoder, shown: newShown()}
	}
	return &textPrinter{out: a.Out, shown: newShown()}
}

// shown remembers what was printed, so that an item is printed once for each
// state that it has.
type shown struct {
	items map[string]protocol.ToolStatus
	turns map[string]bool
}

func newShown() shown {
	return shown{items: map[string]protocol.ToolStatus{}, turns: map[string]bool{}}
}

// fresh tells whether this state of the item was not printed yet. States only
// move on: pending, running, ended.
func (s *shown) fresh(item protocol.Item) bool {
	s.turns[item.Turn] = true
	status := protocol.ToolStatus("written")
	if item.Tool != nil {
		status = item.Tool.Status
	}
	before, ok := s.items[item.ID]
	if ok && (before == status || before.Ended() || (before == protocol.ToolRunning && status == protocol.ToolPending)) {
		return false
	}
	s.items[item.ID] = status
	return true
}

func (s *shown) seen(turn string) bool { return s.turns[turn] }

// jsonPrinter prints one event a line.
type jsonPrinter struct {
	encoder *json.Encoder
	shown
}

// result is the last line of --json.
type result struct {
	Type      string          `json:"type"`
	SessionID string          `json:"sessionId"`
	State     string          `json:"state"`
	Outcome   string          `json:"outcome,omitempty"`
	Workspace string          `json:"workspace"`
	Fault     *protocol.Fault `json:"fault,omitempty"`
	Usage     protocol.Usage  `json:"usage"`
}

func (p *jsonPrinter) event(e protocol.Event) { _ = p.encoder.Encode(e) }

func (p *jsonPrinter) session(s protocol.Session) {
	p.event(protocol.Event{Type: protocol.EventSession, SessionID: s.ID, Session: &s})
}

func (p *jsonPrinter) item(i protocol.Item) {
	if p.fresh(i) {
		session, _, _ := strings.Cut(i.Turn, ".")
		p.event(protocol.Event{Type: protocol.EventItem, SessionID: session, Item: &i})
	}
}

func (p *jsonPrinter) end(s protocol.Session, outcome protocol.Outcome, fault *protocol.Fault) {
	_ = p.encoder.Encode(result{
		Type: "result", SessionID: s.ID, State: string(s.State), Outcome: string(outcome),
		Workspace: s.Workspace, Fault: fault, Usage: s.Usage,
	})
}

// textPrinter prints a transcript for people.
type textPrinter struct {
	out io.Writer
	shown
	waiting string
}

func (p *textPrinter) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format+"\n", args...)
}

func (p *textPrinter) event(protocol.Event) {}

func (p *textPrinter) session(s protocol.Session) {
	if s.Retry == nil {
		p.waiting = ""
		return
	}
	if text := fmt.Sprintf("%s; trying again at %s", s.Retry.Reason, s.Retry.At.Local().Format(time.TimeOnly)); text != p.waiting {
		p.waiting = text
		p.line("· %s", text)
	}
}

func (p *textPrinter) item(i protocol.Item) {
	if i.Tool != nil && !i.Tool.Status.Ended() {
		return
	}
	if !p.fresh(i) {
		return
	}
	switch i.Kind {
	case protocol.KindUser:
		p.line("> %s\n", strings.ReplaceAll(i.User.Text, "\n", "\n> "))
	case protocol.KindAssistant:
		p.line("%s\n", strings.TrimSpace(i.Assistant.Text))
	case protocol.KindTool:
		p.tool(*i.Tool)
	case protocol.KindNotice:
		p.line("· %s", i.Notice.Text)
	case protocol.KindFault:
		p.line("! %s", i.Fault.Happened)
	}
}

// outputLines is how many lines of a command's output are printed.
const outputLines = 12

func (p *textPrinter) tool(t protocol.ToolItem) {
	title := t.Ask.Title
	if title == "" {
		title = t.Name
	}
	p.line("$ %s  [%s]", title, toolEnd(t))
	text := t.Result.Display
	if text == "" {
		text = t.Result.Output
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if over := len(lines) - outputLines; over > 0 {
		lines = append(lines[:outputLines:outputLines], fmt.Sprintf("… %d more lines", over))
	}
	for _, line := range lines {
		if line != "" {
			p.line("  %s", line)
		}
	}
	p.line("")
}

// toolEnd says how a tool ended in a few words.
func toolEnd(t protocol.ToolItem) string {
	took := (time.Duration(t.Result.DurationMs) * time.Millisecond).String()
	switch {
	case t.Result.ExitCode != nil:
		return fmt.Sprintf("exit %d, %s", *t.Result.ExitCode, took)
	case t.Result.Process != "":
		return "runs on in the background"
	default:
		return string(t.Status)
	}
}

func (p *textPrinter) end(s protocol.Session, _ protocol.Outcome, _ *protocol.Fault) {
	p.line("session:   %s", s.ID)
	p.line("workspace: %s", s.Workspace)
}
