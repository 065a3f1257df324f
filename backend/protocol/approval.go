package protocol

import "time"

// Ask is what a tool call needs to be judged by: made by the tool when the
// model calls it, judged by the workflow.
type Ask struct {
	// Acts is false for calls that only read inside the workspace.
	Acts bool `json:"acts"`
	// Risky is true unless the call is known to be harmless or confined.
	Risky bool `json:"risky"`
	// Reason says why it is risky, in a few words ("needs the network").
	Reason string `json:"reason,omitempty"`
	// Prefixes are the command prefixes that would allow this call; all must
	// be allowed. Empty when no prefix can be trusted.
	Prefixes []string `json:"prefixes,omitempty"`
	// Title is the call in one line: the command as typed, or what it does.
	Title string `json:"title"`
	// Detail is the whole command or change, at most 16 KiB.
	Detail string `json:"detail,omitempty"`
	// Dir is the folder where it runs.
	Dir string `json:"dir,omitempty"`
}

// Approval is a question that waits for the user.
type Approval struct {
	// ID is the id of the tool call.
	ID      string    `json:"id"`
	Turn    string    `json:"turn"`
	Item    string    `json:"item"`
	Tool    string    `json:"tool"`
	Backend string    `json:"backend"`
	Ask     Ask       `json:"ask"`
	Asked   time.Time `json:"asked" ts_type:"string"`
}

// Decision is the answer to an approval.
type Decision string

// The decisions.
const (
	DecisionAllow  Decision = "allow"
	DecisionAlways Decision = "always" // allow, and its prefixes from now on
	DecisionDeny   Decision = "deny"
)

// Resolution is the argument of the resolve-approval update.
type Resolution struct {
	ID       string   `json:"id"`
	Decision Decision `json:"decision"`
	// Note is told to the model when the call is denied, at most 4 KiB.
	Note string `json:"note,omitempty"`
}
