package protocol

import "time"

// EventType names what an Event carries.
type EventType string

// The event types.
const (
	EventSession  EventType = "session"  // Session: a record changed
	EventRemoved  EventType = "removed"  // SessionID: the session is gone
	EventItem     EventType = "item"     // Item: written or written again
	EventDelta    EventType = "delta"    // Delta: streamed text
	EventOutput   EventType = "output"   // Output: live output of a tool
	EventFiles    EventType = "files"    // Files: the workspace changed
	EventProgress EventType = "progress" // Progress: a long task moves on
	EventEngine   EventType = "engine"   // Engine: state of the engine
	EventGap      EventType = "gap"      // events were dropped: read again from the store
)

// Event is one live, lossy message to whoever watches. What must not be lost
// is in the store; after EventGap a watcher reads it from there.
type Event struct {
	Type      EventType `json:"type"`
	SessionID string    `json:"sessionId,omitempty"`

	Session  *Session      `json:"session,omitempty"`
	Item     *Item         `json:"item,omitempty"`
	Delta    *Delta        `json:"delta,omitempty"`
	Output   *Output       `json:"output,omitempty"`
	Files    *FilesChanged `json:"files,omitempty"`
	Progress *Progress     `json:"progress,omitempty"`
	Engine   *EngineStatus `json:"engine,omitempty"`
}

// Channel says what streamed text belongs to.
type Channel string

// The channels of deltas.
const (
	ChannelText      Channel = "text"
	ChannelReasoning Channel = "reasoning"
	ChannelArgs      Channel = "args" // arguments of a tool call being written
)

// Delta is a piece of streamed text of an item that is not written yet.
// Offset is the byte offset of Text in the item's text of this attempt; a
// higher Attempt clears what an earlier one streamed.
type Delta struct {
	Turn    string  `json:"turn"`
	Item    string  `json:"item"`
	Attempt int     `json:"attempt"`
	Channel Channel `json:"channel"`
	// Tool is the tool's name on ChannelArgs.
	Tool   string `json:"tool,omitempty"`
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

// Output is a piece of a running tool's output, as text with invalid bytes
// replaced. Offset counts the bytes of the raw output before it.
type Output struct {
	Item   string `json:"item"`
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
}

// FilesChanged tells which folders of a workspace changed, relative to the
// root; empty means anything may have.
type FilesChanged struct {
	Dirs []string `json:"dirs,omitempty"`
}

// Progress is a long task that moves. Total is 0 when it is not known.
type Progress struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	End   bool   `json:"end"`
}

// EngineStatus is the state of the engine for the status bar.
type EngineStatus struct {
	// State is "starting", "running", "attached", "recovering" or "failed".
	State string `json:"state"`
	// Role is "owner", "attached" or "cluster".
	Role    string    `json:"role"`
	Text    string    `json:"text,omitempty"`
	Fault   *Fault    `json:"fault,omitempty"`
	Notices []string  `json:"notices,omitempty"`
	Since   time.Time `json:"since" ts_type:"string"`
}
