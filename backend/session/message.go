package session

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// Send gives a session a message. It returns once the message is durable: its
// content in the store, its place in the workflow.
func (s *Service) Send(ctx context.Context, id string, request protocol.SendRequest) (protocol.SendResult, error) {
	message, err := s.keep(ctx, request)
	if err != nil {
		return protocol.SendResult{}, err
	}
	var result protocol.SendResult
	err = s.update(ctx, protocol.AgentID(id), protocol.UpdateSendMessage, message.ID, message, &result)
	return result, err
}

// RetryTurn works the failed last turn again, or has one that waits try now.
func (s *Service) RetryTurn(ctx context.Context, id string) error {
	record, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	if record.Turn != nil {
		return s.nudge(ctx, id) // it waits to try again, or is just doing so
	}
	message := protocol.QueuedMessage{ID: NewID(), Retry: true}
	return s.update(ctx, protocol.AgentID(id), protocol.UpdateRetryTurn, message.ID, message, nil)
}

// keep puts a message's content into the store.
func (s *Service) keep(ctx context.Context, request protocol.SendRequest) (protocol.QueuedMessage, error) {
	message := protocol.Message{ID: request.ID, Text: request.Text}
	if message.ID == "" {
		message.ID = NewID()
	}
	if err := checkMessage(request); err != nil {
		return protocol.QueuedMessage{}, err
	}
	for _, file := range request.Files {
		attachment, err := s.keepFile(ctx, file)
		if err != nil {
			return protocol.QueuedMessage{}, err
		}
		message.Attachments = append(message.Attachments, attachment)
	}
	content, err := s.keepMessage(ctx, message)
	if err != nil {
		return protocol.QueuedMessage{}, err
	}
	return protocol.QueuedMessage{
		ID: message.ID, Content: content, Preview: preview(message.Text),
		Attachments: len(message.Attachments), Steer: request.Steer,
	}, nil
}

func checkMessage(request protocol.SendRequest) error {
	bad := func(happened, remedy string) error {
		return &protocol.Fault{Class: protocol.ClassBadInput, Happened: happened, Kept: "Nothing was sent.", Remedy: remedy}
	}
	switch {
	case strings.TrimSpace(request.Text) == "" && len(request.Files) == 0:
		return bad("The message is empty", "Write something, or attach a file.")
	case len(request.Text) > protocol.MaxMessageBytes:
		return bad(fmt.Sprintf("The message is %s long; the limit is %s", size(len(request.Text)), size(protocol.MaxMessageBytes)),
			"Put the text into a file and attach it.")
	case !utf8.ValidString(request.Text):
		return bad("The message is not valid UTF-8 text", "Attach it as a file instead.")
	case len(request.Files) > protocol.MaxAttachments:
		return bad(fmt.Sprintf("There are %d files; the limit is %d", len(request.Files), protocol.MaxAttachments),
			"Put them into the workspace folder instead.")
	}
	return nil
}

func size(n int) string {
	if n < 10<<20 {
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MB", n>>20)
}

func (s *Service) keepFile(ctx context.Context, file protocol.Upload) (protocol.Attachment, error) {
	content, err := base64.StdEncoding.DecodeString(file.Base64)
	if err != nil {
		return protocol.Attachment{}, &protocol.Fault{
			Class: protocol.ClassBadInput, Happened: "The file " + file.Name + " could not be read", Detail: err.Error(),
		}
	}
	if len(content) > protocol.MaxAttachmentBytes {
		return protocol.Attachment{}, &protocol.Fault{
			Class:    protocol.ClassBadInput,
			Happened: fmt.Sprintf("The file %s has %s; the limit is %s", file.Name, size(len(content)), size(protocol.MaxAttachmentBytes)),
			Kept:     "Nothing was sent.", Remedy: "Put it into the workspace folder instead.",
		}
	}
	id, err := s.Objects.Put(ctx, content)
	if err != nil {
		return protocol.Attachment{}, storeFault("keep the file "+file.Name, err)
	}
	return protocol.Attachment{Name: file.Name, MIME: file.MIME, Size: int64(len(content)), Object: string(id)}, nil
}

func (s *Service) keepMessage(ctx context.Context, message protocol.Message) (string, error) {
	content, err := json.Marshal(message)
	if err != nil {
		return "", fmt.Errorf("encode the message: %w", err)
	}
	id, err := s.Objects.Put(ctx, content)
	if err != nil {
		return "", storeFault("keep the message", err)
	}
	return string(id), nil
}

func preview(text string) string {
	text = strings.Join(strings.Fields(short(text, 4*protocol.PreviewRunes)), " ")
	if utf8.RuneCountInString(text) <= protocol.PreviewRunes {
		return text
	}
	return string([]rune(text)[:protocol.PreviewRunes-1]) + "…"
}

func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// queuedMessage reads a message that waits.
func (s *Service) queuedMessage(ctx context.Context, session, id string) (protocol.Message, error) {
	record, err := s.Get(ctx, session)
	if err != nil {
		return protocol.Message{}, err
	}
	for _, q := range record.Queue {
		if q.ID != id {
			continue
		}
		content, err := s.Objects.Get(ctx, store.ID(q.Content))
		if err != nil {
			return protocol.Message{}, storeFault("read the message", err)
		}
		var message protocol.Message
		if err := json.Unmarshal(content, &message); err != nil {
			return protocol.Message{}, fmt.Errorf("decode the message: %w", err)
		}
		return message, nil
	}
	return protocol.Message{}, &protocol.Fault{
		Class: protocol.ClassNotFound, Happened: "This message no longer waits: the agent has it already",
	}
}

// QueuedText returns the whole text of a message that waits.
func (s *Service) QueuedText(ctx context.Context, session, id string) (string, error) {
	message, err := s.queuedMessage(ctx, session, id)
	return message.Text, err
}

// EditQueued replaces the text of a message that waits; its files stay.
func (s *Service) EditQueued(ctx context.Context, session, id, text string) error {
	message, err := s.queuedMessage(ctx, session, id)
	if err != nil {
		return err
	}
	message.Text = text
	check := protocol.SendRequest{Text: text, Files: make([]protocol.Upload, len(message.Attachments))}
	if err := checkMessage(check); err != nil {
		return err
	}
	content, err := s.keepMessage(ctx, message)
	if err != nil {
		return err
	}
	return s.changeQueue(ctx, session, protocol.QueueChange{
		Op: protocol.QueueEdit, ID: id, Content: content, Preview: preview(text), Attachments: len(message.Attachments),
	})
}

// RemoveQueued takes a message that waits back.
func (s *Service) RemoveQueued(ctx context.Context, session, id string) error {
	return s.changeQueue(ctx, session, protocol.QueueChange{Op: protocol.QueueRemove, ID: id})
}

// MoveQueued gives a message that waits another place, from 0.
func (s *Service) MoveQueued(ctx context.Context, session, id string, to int) error {
	return s.changeQueue(ctx, session, protocol.QueueChange{Op: protocol.QueueMove, ID: id, To: to})
}

// SteerQueued puts a message that waits into the turn under way.
func (s *Service) SteerQueued(ctx context.Context, session, id string) error {
	return s.changeQueue(ctx, session, protocol.QueueChange{Op: protocol.QueueSteer, ID: id})
}

func (s *Service) changeQueue(ctx context.Context, session string, change protocol.QueueChange) error {
	return s.update(ctx, protocol.AgentID(session), protocol.UpdateEditQueue, "queue-"+NewID(), change, nil)
}
