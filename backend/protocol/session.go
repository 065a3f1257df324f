package protocol

import "time"

// SessionState is what a session is doing, as the sidebar shows it.
type SessionState string

// The states of a session.
const (
	// StateIdle: between turns, waiting for a message.
	StateIdle SessionState = "idle"
	// StateWorking: a turn is under way.
	StateWorking SessionState = "working"
	// StateNeedsYou: a turn waits for an approval.
	StateNeedsYou SessionState = "needs_you"
	// StateWaiting: a turn waits for something that time will mend
	// (rate limit, lost connection); Session.Retry tells until when.
	StateWaiting SessionState = "waiting"
	// StateFailed: the last turn failed; Retry is offered.
	StateFailed SessionState = "failed"
	// StateEnded: the session was destroyed.
	StateEnded SessionState = "ended"
)

// Session is the record of one session: the state that its workflow carries
// and projects into the store after every change. Version grows by one with
// each change, so that a reader can drop an older record that arrives late.
type Session struct {
	ID      string `json:"id"`
	Version int64  `json:"version"`

	Title string `json:"title"`
	// TitleAuto is true until the user has named the session.
	TitleAuto bool `json:"titleAuto"`

	Backend string `json:"backend"`
	// Workspace is the root folder in the backend's own terms. Empty until the
	// sandbox exists.
	Workspace string `json:"workspace"`
	// OwnWorkspace is true when we made the folder and may delete it.
	OwnWorkspace bool `json:"ownWorkspace"`
	// Folder is the name that a folder of ours gets; see Place.
	Folder string `json:"folder,omitempty"`
	Image  string `json:"image,omitempty"`
	// Sandbox is the provider's own reference, opaque to everybody else.
	Sandbox string `json:"sandbox,omitempty"`
	// Confined tells whether commands are kept inside the workspace.
	Confined bool `json:"confined"`

	State SessionState `json:"state"`
	// Turn is the turn under way, nil between turns.
	Turn      *OpenTurn       `json:"turn,omitempty"`
	Retry     *Retry          `json:"retry,omitempty"`
	Approvals []Approval      `json:"approvals,omitempty"`
	Queue     []QueuedMessage `json:"queue,omitempty"`
	Fault     *Fault          `json:"fault,omitempty"`

	Options Options `json:"options"`

	// Parent is the session that this one was forked from.
	Parent string `json:"parent,omitempty"`
	// Head is the store id of the last commit.
	Head string `json:"head,omitempty"`
	// Turns counts the commits from the root to Head.
	Turns int `json:"turns"`
	// Serial is the last number given to a turn. It only grows, also when the
	// head moves back.
	Serial int `json:"serial"`
	// Snapshot is the store id of the files as they were last captured, empty if
	// none was taken.
	Snapshot string `json:"snapshot,omitempty"`
	// Snapshots is what the user chose for this session's snapshots.
	Snapshots SnapshotPolicy `json:"snapshots"`
	// SnapshotAsk is set while the user has to choose what to leave out.
	SnapshotAsk *SnapshotAsk `json:"snapshotAsk,omitempty"`
	// Setup is set until the files that the session begins with are in place.
	Setup *Setup `json:"setup,omitempty"`
	// Moving is set while the session is being put somewhere, nil otherwise.
	Moving *Moving `json:"moving,omitempty"`
	// Left are places that the session moved away from and that are kept, because
	// they hold what was not captured. They go when the session is destroyed.
	Left []Place `json:"left,omitempty"`
	// Held is the snapshot of what a folder held where files are just being put.
	Held string `json:"held,omitempty"`
	// Rewinds are the last rewinds, newest last, at most 20: each can be undone.
	Rewinds []Rewound `json:"rewinds,omitempty"`
	// Usage sums the tokens of all turns.
	Usage Usage `json:"usage"`
	// ContextTokens is the size of the last model request, 0 when unknown.
	ContextTokens int64 `json:"contextTokens"`

	Created time.Time `json:"created" ts_type:"string"`
	// Updated is when a turn last began or ended, or a message was sent.
	Updated time.Time `json:"updated" ts_type:"string"`
}

// Moving tells of a fork, switch or rewind under way.
type Moving struct {
	// What is as in Receipt.
	What string `json:"what"`
	To   Spot   `json:"to"`
	// Waits is true while it waits for the end of a turn.
	Waits bool      `json:"waits,omitempty"`
	Since time.Time `json:"since" ts_type:"string"`
}

// Rewound is where a session was before a rewind.
type Rewound struct {
	ID   string     `json:"id"`
	What RewindWhat `json:"what"`
	// Head, Turns and Snapshot are the session's own of then.
	Head     string    `json:"head,omitempty"`
	Turns    int       `json:"turns"`
	Snapshot string    `json:"snapshot,omitempty"`
	At       time.Time `json:"at" ts_type:"string"`
	// Back tells that the rewind took another one back.
	Back bool `json:"back,omitempty"`
}

// OpenTurn is the turn under way.
type OpenTurn struct {
	// ID is unique over all sessions and never used again: session id, a dot,
	// and a number that only grows.
	ID string `json:"id"`
	// Index is the turn's place in the conversation, from 1.
	Index int `json:"index"`
	// Step counts the model calls of the turn, from 1.
	Step    int       `json:"step"`
	Started time.Time `json:"started" ts_type:"string"`
	// Doing says in a few words what runs now ("Thinking", a command's line).
	Doing string `json:"doing"`
	// Content are the store ids of the messages that the turn works: until its
	// end they may be read again.
	Content []string `json:"content,omitempty"`
	// Stopping is true once Stop was asked for.
	Stopping bool `json:"stopping"`
}

// MaxRetryPause bounds what a service may ask us to wait: longer means that the
// user should decide.
const MaxRetryPause = 15 * time.Minute

// Retry tells what a waiting turn waits for.
type Retry struct {
	At      time.Time `json:"at" ts_type:"string"`
	Attempt int       `json:"attempt"`
	Class   string    `json:"class"`
	Reason  string    `json:"reason"`
}

// ApprovalMode says when the user is asked before a tool runs.
type ApprovalMode string

// The approval modes.
const (
	ApproveAlways ApprovalMode = "ask"   // ask before every tool that acts
	ApproveRisky  ApprovalMode = "auto"  // ask for what is not known to be harmless
	ApproveNever  ApprovalMode = "never" // never ask
)

// Valid tells whether m is one of the modes.
func (m ApprovalMode) Valid() bool {
	return m == ApproveAlways || m == ApproveRisky || m == ApproveNever
}

// Options are what the user may change between and during turns.
type Options struct {
	// Provider and Model name who answers; empty means the default of the
	// settings at the time of the next turn.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Effort is the reasoning effort ("low", "medium", "high", …); empty is
	// the model's own default.
	Effort  string       `json:"effort"`
	Approve ApprovalMode `json:"approve"`
	// AllowPrefixes are command prefixes that need no approval in this session.
	AllowPrefixes []string `json:"allowPrefixes,omitempty"`
}

// OptionsChange changes the fields that are not nil.
type OptionsChange struct {
	Provider      *string       `json:"provider,omitempty"`
	Model         *string       `json:"model,omitempty"`
	Effort        *string       `json:"effort,omitempty"`
	Approve       *ApprovalMode `json:"approve,omitempty"`
	AllowPrefixes *[]string     `json:"allowPrefixes,omitempty"`
}

// RegistryEntry is what the SessionManagerWorkflow keeps of each session.
type RegistryEntry struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Backend string    `json:"backend"`
	Parent  string    `json:"parent,omitempty"`
	Created time.Time `json:"created" ts_type:"string"`
}

// Usage counts tokens and, where the price is known, money.
type Usage struct {
	InputTokens     int64 `json:"inputTokens"`
	CachedTokens    int64 `json:"cachedTokens"`
	OutputTokens    int64 `json:"outputTokens"`
	ReasoningTokens int64 `json:"reasoningTokens"`
	// CostMicros is in millionths of a US dollar; it counts only calls whose
	// price is known.
	CostMicros int64 `json:"costMicros"`
	// Unpriced is true when some call had no known price.
	Unpriced bool `json:"unpriced,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:     u.InputTokens + v.InputTokens,
		CachedTokens:    u.CachedTokens + v.CachedTokens,
		OutputTokens:    u.OutputTokens + v.OutputTokens,
		ReasoningTokens: u.ReasoningTokens + v.ReasoningTokens,
		CostMicros:      u.CostMicros + v.CostMicros,
		Unpriced:        u.Unpriced || v.Unpriced,
	}
}
