package protocol

import "time"

// Limits of a message. A payload of the engine ends at 2 MB, so the text and
// the files of a message travel through the store and only their ids through
// the workflow.
const (
	// MaxMessageBytes is the longest text of one message.
	MaxMessageBytes = 1 << 20
	// MaxAttachmentBytes is the largest attached file.
	MaxAttachmentBytes = 20 << 20
	// MaxAttachments is how many files one message may carry.
	MaxAttachments = 20
	// MaxQueue is how many messages may wait in one session.
	MaxQueue = 100
	// PreviewRunes is the length of a queued message's preview.
	PreviewRunes = 200
)

// Message is what a user sends: kept in the store as one object.
type Message struct {
	// ID is chosen by the sender, once per message; a repeated ID is the same
	// message sent again.
	ID          string       `json:"id"`
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Attachment is a file that came with a message. Images are shown to the
// model; other files are written into the workspace under their name.
type Attachment struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
	Size int64  `json:"size"`
	// Object is the store id of the content.
	Object string `json:"object"`
	// Path is where the file was put in the workspace.
	Path string `json:"path,omitempty"`
}

// QueuedMessage is a message that waits in the workflow: its content is in the
// store.
type QueuedMessage struct {
	ID string `json:"id"`
	// Content is the store id of the Message.
	Content string `json:"content"`
	// Preview is the beginning of the text, at most PreviewRunes long.
	Preview     string    `json:"preview"`
	Attachments int       `json:"attachments,omitempty"`
	Steer       bool      `json:"steer,omitempty"`
	Sent        time.Time `json:"sent" ts_type:"string"`
	// Retry marks the empty message that works a failed turn again.
	Retry bool `json:"retry,omitempty"`
}

// QueueOp is what may be done to a queued message.
type QueueOp string

// The queue operations.
const (
	QueueEdit   QueueOp = "edit"
	QueueRemove QueueOp = "remove"
	QueueMove   QueueOp = "move"
	QueueSteer  QueueOp = "steer"
)

// QueueChange is the argument of the edit-queue update.
type QueueChange struct {
	Op QueueOp `json:"op"`
	ID string  `json:"id"`
	// Content and Preview replace the message's (QueueEdit).
	Content     string `json:"content,omitempty"`
	Preview     string `json:"preview,omitempty"`
	Attachments int    `json:"attachments,omitempty"`
	// To is the new place in the queue, from 0 (QueueMove).
	To int `json:"to,omitempty"`
}

// SendResult acknowledges a message: it is durable.
type SendResult struct {
	ID string `json:"id"`
	// Duplicate is true when the message was already there.
	Duplicate bool `json:"duplicate"`
	// Queued is true when a turn was under way.
	Queued bool `json:"queued"`
}
