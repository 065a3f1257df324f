package protocol

// Setup is how a session begins that goes on where another was: its files are
// put into its sandbox before anything else.
type Setup struct {
	// Snapshot is the tree to begin with; empty is none.
	Snapshot string `json:"snapshot,omitempty"`
	// Source is where the same files may lie already: quicker to copy than what
	// is in the store, which is what counts.
	Source Place `json:"source"`
	Onto   Onto  `json:"onto,omitempty"`
	// What and From are for the receipt; Turn is the number of the turn that it
	// is the state of.
	What  string `json:"what"`
	From  Spot   `json:"from"`
	Turn  int    `json:"turn"`
	Title string `json:"title,omitempty"` // of the session that it was forked from
	// Current is what the target held, once that is captured.
	Current *Captured `json:"current,omitempty"`
}

// Captured is what a capture found.
type Captured struct {
	// Snapshot is its store id.
	Snapshot string `json:"snapshot"`
	// Entries counts files, links and folders; Bytes is the size of the files.
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
}

// ForkInput is the argument of the manager's fork update.
type ForkInput struct {
	// ID is of the new session, chosen by the caller; the same again is the same
	// fork.
	ID string `json:"id"`
	// Parent is the session that is forked; empty for an import.
	Parent string `json:"parent,omitempty"`
	// Title is empty for the default: Base with a number or the backend's name.
	Title string `json:"title,omitempty"`
	Base  string `json:"base,omitempty"`
	// OtherPlace tells that the backend is another than the parent's.
	OtherPlace bool `json:"otherPlace,omitempty"`

	Place     Place          `json:"place"`
	Options   Options        `json:"options"`
	Snapshots SnapshotPolicy `json:"snapshots"`
	Setup     Setup          `json:"setup"`
	// Head, Turns and Usage are of the conversation that it goes on with.
	Head  string `json:"head,omitempty"`
	Turns int    `json:"turns"`
	Usage Usage  `json:"usage"`
}

// CheckpointInput is the argument of the checkpoint update: the files are
// captured at the next moment between two turns.
type CheckpointInput struct {
	ID string `json:"id"` // chosen by the caller
	// Keep says for what the files are captured, in a line of the conversation,
	// and keeps them as a rewind would: its undo, under ID, puts them back.
	Keep string `json:"keep,omitempty"`
}

// CheckpointResult is a session's state between two turns.
type CheckpointResult struct {
	Head      string `json:"head,omitempty"`
	Turns     int    `json:"turns"`
	Snapshot  string `json:"snapshot,omitempty"`
	Usage     Usage  `json:"usage"`
	Place     Place  `json:"place"`
	Workspace string `json:"workspace"`
}

// SwitchInput is the argument of the switch-backend update.
type SwitchInput struct {
	ID    string `json:"id"` // chosen by the caller
	Place Place  `json:"place"`
	Onto  Onto   `json:"onto,omitempty"`
	// Stop ends a turn under way; else it waits for its end.
	Stop bool `json:"stop,omitempty"`
}

// RewindInput is the argument of the rewind update.
type RewindInput struct {
	ID   string     `json:"id"` // chosen by the caller
	What RewindWhat `json:"what"`
	Stop bool       `json:"stop,omitempty"`
	// Head, Turns and Snapshot are where it goes back to.
	Head     string `json:"head,omitempty"`
	Turns    int    `json:"turns"`
	Snapshot string `json:"snapshot,omitempty"`
	// Undo is the id of the rewind that is taken back.
	Undo string `json:"undo,omitempty"`
}

// CreateSandboxInput asks for a sandbox beside the one that the session has.
type CreateSandboxInput struct {
	SessionID string `json:"sessionId"`
	Place     Place  `json:"place"`
}

// CaptureSnapshotInput asks for a snapshot of a workspace.
type CaptureSnapshotInput struct {
	SessionID string         `json:"sessionId"`
	Place     Place          `json:"place"`
	Policy    SnapshotPolicy `json:"policy"`
	// Previous is the snapshot to count changes against.
	Previous string `json:"previous,omitempty"`
	// Quiet ends the session's running commands first.
	Quiet bool `json:"quiet,omitempty"`
	// Beside is true for a place that is not the session's own (yet).
	Beside bool `json:"beside,omitempty"`
}

// CaptureSnapshotResult tells what was captured.
type CaptureSnapshotResult struct {
	Captured
	// Changed counts the entries that differ from Previous.
	Changed      int       `json:"changed"`
	Skipped      []Skipped `json:"skipped,omitempty"` // at most 20
	SkippedCount int       `json:"skippedCount,omitempty"`
	// Ask is set, and nothing captured, when the workspace is over the limits.
	Ask *SnapshotAsk `json:"ask,omitempty"`
}

// PlaceSnapshotInput asks to make a workspace equal to a snapshot.
type PlaceSnapshotInput struct {
	SessionID string `json:"sessionId"`
	Place     Place  `json:"place"`
	Snapshot  string `json:"snapshot"`
	// From is the backend where the snapshot was taken.
	From string `json:"from,omitempty"`
	// Source is as in Setup.
	Source *Place `json:"source,omitempty"`
	Onto   Onto   `json:"onto,omitempty"`
	// Current is what the workspace holds, captured before; nil is nothing.
	Current *Captured `json:"current,omitempty"`
	Exclude []string  `json:"exclude,omitempty"`
	// Beside is true for a place that is not the session's own (yet).
	Beside bool `json:"beside,omitempty"`
}

// PlaceSnapshotResult tells what was written.
type PlaceSnapshotResult struct {
	Files        int       `json:"files"`
	Bytes        int64     `json:"bytes"`
	Written      int       `json:"written"`
	Removed      int       `json:"removed"`
	Skipped      []Skipped `json:"skipped,omitempty"` // at most 100
	SkippedCount int       `json:"skippedCount,omitempty"`
}

// CommitMarkInput asks to write a line into the conversation between two turns.
type CommitMarkInput struct {
	// Turn names the line, as a turn is named.
	Turn     TurnRef    `json:"turn"`
	Notice   NoticeItem `json:"notice"`
	Snapshot string     `json:"snapshot,omitempty"`
	Backend  string     `json:"backend,omitempty"`
}

// RecordNoticeInput asks to write a notice into the turn under way.
type RecordNoticeInput struct {
	Turn   TurnRef    `json:"turn"`
	Seq    int        `json:"seq"`
	Notice NoticeItem `json:"notice"`
}
