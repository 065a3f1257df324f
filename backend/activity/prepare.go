package activity

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/workplace"
)

// attachmentsDir is where files that come with a message are put, inside the
// workspace.
const attachmentsDir = "attachments"

// PrepareSandbox makes a new session's sandbox.
func (a *Activities) PrepareSandbox(ctx context.Context, in protocol.PrepareSandboxInput) (protocol.PrepareSandboxResult, error) {
	defer alive(ctx)()
	place, err := a.Places.Open(ctx, in.SessionID, in.Place)
	if err != nil {
		return protocol.PrepareSandboxResult{}, fail(ctx, err)
	}
	return protocol.PrepareSandboxResult{
		Sandbox:      place.Ref,
		Workspace:    place.Sandbox.Root(),
		OwnWorkspace: place.Sandbox.Ref().OwnRoot,
		Confined:     place.Confined,
	}, nil
}

// PrepareTurn has the sandbox ready and writes the turn's messages.
func (a *Activities) PrepareTurn(ctx context.Context, in protocol.PrepareTurnInput) (protocol.PrepareTurnResult, error) {
	defer alive(ctx)()
	out, err := a.prepareTurn(ctx, in)
	return out, fail(ctx, err)
}

func (a *Activities) prepareTurn(ctx context.Context, in protocol.PrepareTurnInput) (protocol.PrepareTurnResult, error) {
	// The message is written first: whatever fails after it, it stands in the
	// conversation.
	messages, err := a.messages(ctx, in.Messages)
	if err != nil {
		return protocol.PrepareTurnResult{}, err
	}
	items := make([]protocol.Item, 0, len(messages)+1)
	for i, m := range messages {
		items = append(items, a.userItem(in.Turn, i, m, in.Messages[i]))
	}
	if err := a.write(ctx, in.Turn, items...); err != nil {
		return protocol.PrepareTurnResult{}, fmt.Errorf("write the message: %w", err)
	}
	provider, model, err := a.Models.Resolve(ctx, in.Options.Provider, in.Options.Model)
	if err != nil {
		return protocol.PrepareTurnResult{}, err
	}
	place, err := a.Places.Open(ctx, in.Turn.SessionID, in.Place)
	if err != nil {
		return protocol.PrepareTurnResult{}, err
	}
	if err := a.putAttachments(ctx, place, messages); err != nil {
		return protocol.PrepareTurnResult{}, err
	}
	out := protocol.PrepareTurnResult{
		Sandbox:      place.Ref,
		Workspace:    place.Sandbox.Root(),
		OwnWorkspace: place.Sandbox.Ref().OwnRoot,
		Confined:     place.Confined,
		Provider:     provider,
		Model:        model,
		NextSeq:      len(items),
	}
	if in.WantTitle && len(messages) > 0 {
		out.Title = titleOf(messages[0].Text)
	}
	return out, nil
}

// messages reads the content of queued messages; a retry has none.
func (a *Activities) messages(ctx context.Context, queued []protocol.QueuedMessage) ([]protocol.Message, error) {
	var messages []protocol.Message
	for _, q := range queued {
		if q.Retry {
			messages = append(messages, protocol.Message{ID: q.ID})
			continue
		}
		content, err := a.Objects.Get(ctx, store.ID(q.Content))
		if err != nil {
			return nil, fmt.Errorf("read message %s: %w", q.ID, err)
		}
		var m protocol.Message
		if err := json.Unmarshal(content, &m); err != nil {
			return nil, fmt.Errorf("decode message %s: %w", q.ID, err)
		}
		messages = append(messages, m)
	}
	return messages, nil
}

func (a *Activities) userItem(turn protocol.TurnRef, seq int, m protocol.Message, q protocol.QueuedMessage) protocol.Item {
	item := protocol.NewItem(turn.TurnID, seq, q.Sent)
	if q.Retry {
		item.Kind = protocol.KindNotice
		item.Notice = &protocol.NoticeItem{Code: "retry", Text: "Trying the last turn again"}
		return item
	}
	item.Kind = protocol.KindUser
	files := slices.Clone(m.Attachments)
	for i := range files {
		files[i].Path = attachmentPath(files[i])
	}
	item.User = &protocol.UserItem{MessageID: q.ID, Text: m.Text, Attachments: files, Steered: q.Steer}
	return item
}

// putAttachments writes the files of messages into the workspace, images too:
// the agent may want to work with them.
func (a *Activities) putAttachments(ctx context.Context, place *workplace.Place, messages []protocol.Message) error {
	for _, m := range messages {
		for _, file := range m.Attachments {
			content, err := a.Objects.Get(ctx, store.ID(file.Object))
			if err != nil {
				return fmt.Errorf("read attachment %s: %w", file.Name, err)
			}
			name := attachmentPath(file)
			if err := place.Sandbox.Files().Write(ctx, name, bytes.NewReader(content), 0); err != nil {
				return fmt.Errorf("write attachment %s: %w", name, err)
			}
		}
	}
	return nil
}

// attachmentPath is where an attached file is put, relative to the root.
func attachmentPath(file protocol.Attachment) string {
	return path.Join(attachmentsDir, fileName(file.Name))
}

// fileName makes a plain file name of what a user's system calls a file.
func fileName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, name)
	switch name {
	case "", ".", "..", "/":
		return "file"
	}
	return name
}

// maxAutoTitle is the length of a title made of a message, in runes.
const maxAutoTitle = 60

// titleOf makes a title of a message: its first line, cut at a word.
func titleOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	runes := []rune(line)
	if len(runes) <= maxAutoTitle {
		return line
	}
	cut := string(runes[:maxAutoTitle])
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
		cut = cut[:at]
	}
	return cut + "…"
}
