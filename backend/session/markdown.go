package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// Markdown writes a session's conversation as Markdown: what was said, what was
// run and how it ended, not the reasoning.
func (s *Service) Markdown(ctx context.Context, id string, w io.Writer) error {
	record, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	var pages [][]protocol.Item
	for before := ""; ; {
		page, err := s.Page(ctx, id, before, 500)
		if err != nil {
			return err
		}
		pages = append(pages, page.Items)
		if before = page.Before; before == "" {
			break
		}
	}
	out := bufio.NewWriter(w)
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // Flush tells of errors
	say("# %s\n\n*%s, %s on %s*\n", oneLine(record.Title), record.Created.Local().Format(time.DateOnly), turnsText(record.Turns), record.Backend)
	for _, page := range slices.Backward(pages) {
		for _, item := range page {
			markdownItem(say, item)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the conversation: %w", err)
	}
	return nil
}

func turnsText(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", n)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func markdownItem(say func(string, ...any), item protocol.Item) {
	switch item.Kind {
	case protocol.KindUser:
		say("\n---\n\n**You** (%s)\n\n%s\n", item.Time.Local().Format("2006-01-02 15:04"), strings.TrimSpace(item.User.Text))
		for _, a := range item.User.Attachments {
			say("\n*Attached: %s*\n", a.Name)
		}
	case protocol.KindAssistant:
		say("\n%s\n", strings.TrimSpace(item.Assistant.Text))
	case protocol.KindTool:
		t := item.Tool
		title := t.Ask.Title
		if title == "" {
			title = t.Name
		}
		end := string(t.Status)
		if t.Result.ExitCode != nil {
			end = fmt.Sprintf("exit %d", *t.Result.ExitCode)
		}
		text := t.Result.Display
		if text == "" {
			text = t.Result.Output
		}
		say("\n%s (%s)\n\n%s\n", code(oneLine(title)), end, fenced(strings.TrimRight(text, "\n")))
	case protocol.KindNotice:
		say("\n*%s*\n", item.Notice.Text)
	case protocol.KindFault:
		say("\n**%s.** %s\n", item.Fault.Happened, item.Fault.Kept)
	case protocol.KindSummary:
		say("\n> Summary of what came before:\n>\n> %s\n", strings.ReplaceAll(strings.TrimSpace(item.Summary.Text), "\n", "\n> "))
	}
}

// code puts a text into backticks, more of them than it holds.
func code(text string) string {
	ticks := "`"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	if len(ticks) > 1 {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// fenced puts a text into a block that it can't end itself; empty stays empty.
func fenced(text string) string {
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
