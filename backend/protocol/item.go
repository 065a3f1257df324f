package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// ItemKind says which of an Item's parts is set.
type ItemKind string

// The kinds of items.
const (
	KindUser      ItemKind = "user"
	KindAssistant ItemKind = "assistant"
	KindReasoning ItemKind = "reasoning"
	KindTool      ItemKind = "tool"
	KindNotice    ItemKind = "notice"
	KindFault     ItemKind = "fault"
	KindSummary   ItemKind = "summary" // a compaction: stands for all before it
	KindTurnEnd   ItemKind = "turn_end"
)

// Item is one entry of a conversation. Exactly the part named by Kind is set.
// An item may be written again under the same ID while its turn is under way
// (a tool that runs, then ends); after the turn's commit it never changes.
type Item struct {
	// ID is the turn's id, a slash, and Seq in six digits: ids of one turn
	// sort as they happened.
	ID   string    `json:"id"`
	Turn string    `json:"turn"`
	Seq  int       `json:"seq"`
	Kind ItemKind  `json:"kind"`
	Time time.Time `json:"time" ts_type:"string"`

	User      *UserItem      `json:"user,omitempty"`
	Assistant *AssistantItem `json:"assistant,omitempty"`
	Reasoning *ReasoningItem `json:"reasoning,omitempty"`
	Tool      *ToolItem      `json:"tool,omitempty"`
	Notice    *NoticeItem    `json:"notice,omitempty"`
	Fault     *Fault         `json:"fault,omitempty"`
	Summary   *SummaryItem   `json:"summary,omitempty"`
	TurnEnd   *TurnEndItem   `json:"turnEnd,omitempty"`
}

// NewItem returns an item of a turn with its id set; seq is 0 to 999,999.
func NewItem(turn string, seq int, at time.Time) Item {
	return Item{ID: fmt.Sprintf("%s/%06d", turn, seq), Turn: turn, Seq: seq, Time: at.UTC()}
}

// CallID names the execution of a tool call: unique over all sessions, the
// same when the call is run again, and safe as a file name. It begins with the
// session's id and a dot, and with the turn's id and a dash.
func (i Item) CallID() string { return strings.ReplaceAll(i.ID, "/", "-") }

// UserItem is a message of the user.
type UserItem struct {
	MessageID   string       `json:"messageId"`
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Steered is true when it was sent into a turn under way.
	Steered bool `json:"steered,omitempty"`
}

// AssistantItem is text of the model, in Markdown.
type AssistantItem struct {
	Text string `json:"text"`
	// Partial is true when the turn ended before the text did.
	Partial bool `json:"partial,omitempty"`
	// Raw is the provider's own form, sent back to it unchanged.
	Raw json.RawMessage `json:"raw,omitempty" ts_type:"any"`
}

// ReasoningItem is the model's reasoning: a summary to read and, for the
// provider, its own opaque form.
type ReasoningItem struct {
	Summary  string          `json:"summary"`
	Provider string          `json:"provider,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty" ts_type:"any"`
}

// ToolStatus is how far a tool call has come.
type ToolStatus string

// The states of a tool call.
const (
	ToolPending     ToolStatus = "pending" // not started (or waits for an approval)
	ToolRunning     ToolStatus = "running"
	ToolDone        ToolStatus = "done"        // ran to its end, whatever its exit code
	ToolFailed      ToolStatus = "failed"      // could not do what was asked
	ToolDenied      ToolStatus = "denied"      // the user said no
	ToolInterrupted ToolStatus = "interrupted" // stopped, or lost in the middle
)

// Ended tells whether no more will come.
func (s ToolStatus) Ended() bool { return s != ToolPending && s != ToolRunning }

// ToolItem is a tool call and its result.
type ToolItem struct {
	CallID string `json:"callId"`
	Name   string `json:"name"`
	// Args is the JSON text that the model sent, well-formed or not.
	Args   string     `json:"args"`
	Ask    Ask        `json:"ask"`
	Status ToolStatus `json:"status"`
	Result ToolResult `json:"result"`
	// Step is the model call of the turn that made this call: the calls of one
	// answer share it, and are sent back together.
	Step int `json:"step,omitempty"`
	// Raw is the provider's own form of the call, sent back to it unchanged.
	Raw json.RawMessage `json:"raw,omitempty" ts_type:"any"`
	// Started is zero until the tool runs.
	Started time.Time `json:"started" ts_type:"string"`
}

// ToolResult is what a tool gave back.
type ToolResult struct {
	// Output is the text that the model sees, cut in the middle if too long.
	Output string `json:"output"`
	// Display is the text that the user sees when it differs from Output.
	Display string `json:"display,omitempty"`
	// ExitCode is set for commands that ended.
	ExitCode *int `json:"exitCode,omitempty"`
	// DurationMs is how long it ran, in milliseconds.
	DurationMs int64 `json:"durationMs"`
	// OutputBytes is the size of the whole output; Truncated tells that Output
	// has less.
	OutputBytes int64 `json:"outputBytes"`
	Truncated   bool  `json:"truncated,omitempty"`
	TimedOut    bool  `json:"timedOut,omitempty"`
	// Process is set when a command still runs in the background: the id that
	// write_stdin takes.
	Process string `json:"process,omitempty"`
	// Log is the journal's call id under which the full output is kept.
	Log string `json:"log,omitempty"`
	// Changes are the files that a patch changed.
	Changes []FileChange `json:"changes,omitempty"`
	// Image is the store id of an image that the model was shown.
	Image     string `json:"image,omitempty"`
	ImageMIME string `json:"imageMime,omitempty"`
}

// FileChange is one file of a patch.
type FileChange struct {
	Path string `json:"path"`
	// Op is "add", "update", "delete" or "move".
	Op      string `json:"op"`
	To      string `json:"to,omitempty"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Diff is a unified diff, at most 64 KiB.
	Diff string `json:"diff,omitempty"`
}

// NoticeItem is a single muted line ("recovered", "model retried in 12 s").
type NoticeItem struct {
	Code   string `json:"code"`
	Text   string `json:"text"`
	Detail string `json:"detail,omitempty"`
	// Receipt is of forks, switches, rewinds and imports.
	Receipt *Receipt `json:"receipt,omitempty"`
}

// SummaryItem stands, in the model's eyes, for everything before it.
type SummaryItem struct {
	Text         string `json:"text"`
	BeforeTokens int64  `json:"beforeTokens"`
}

// Outcome is how a turn ended.
type Outcome string

// The outcomes of a turn.
const (
	OutcomeDone        Outcome = "done"
	OutcomeInterrupted Outcome = "interrupted"
	OutcomeFailed      Outcome = "failed"
)

// TurnEndItem closes a turn.
type TurnEndItem struct {
	Index      int     `json:"index"`
	Outcome    Outcome `json:"outcome"`
	DurationMs int64   `json:"durationMs"`
	Steps      int     `json:"steps"`
	Usage      Usage   `json:"usage"`
	Provider   string  `json:"provider"`
	Model      string  `json:"model"`
	Backend    string  `json:"backend"`
	// Snapshot is the store id of the files after the turn, empty when none
	// was taken.
	Snapshot string `json:"snapshot,omitempty"`
	// Base is the store id of the files before it, empty when none was taken.
	Base string `json:"base,omitempty"`
	// Changed counts the files, links and folders in which they differ.
	Changed int `json:"changed,omitempty"`
	// Skipped are files that the snapshot has not, or not as they should be, at
	// most 20.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Page is a part of a conversation, oldest first.
type Page struct {
	Items []Item `json:"items"`
	// Before is passed to get the page before this one; empty at the start.
	Before string `json:"before,omitempty"`
	// Session is the record at the time of reading.
	Session Session `json:"session"`
}
