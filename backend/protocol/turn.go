package protocol

// Place says where a session's files and commands are.
type Place struct {
	Backend string `json:"backend"`
	// Workspace is the wanted root; empty asks for a fresh folder.
	Workspace string `json:"workspace,omitempty"`
	// Folder is the name of a fresh folder, decided once when the session is
	// made; empty is the session's id.
	Folder string `json:"folder,omitempty"`
	Image  string `json:"image,omitempty"`
	// Sandbox is the provider's reference once the sandbox exists.
	Sandbox string `json:"sandbox,omitempty"`
}

// TurnRef names a turn and what it stands on.
type TurnRef struct {
	SessionID string `json:"sessionId"`
	TurnID    string `json:"turnId"`
	Index     int    `json:"index"`
	// Head is the commit before this turn.
	Head string `json:"head,omitempty"`
}

// CreateInput is the argument of the manager's create update.
type CreateInput struct {
	// ID is chosen by the caller (a UUID); the same id again is the same session.
	ID      string  `json:"id"`
	Title   string  `json:"title,omitempty"`
	Place   Place   `json:"place"`
	Options Options `json:"options"`
	// First is the first message, if it is known already.
	First *QueuedMessage `json:"first,omitempty"`
}

// RenameInput is the argument of the manager's rename update.
type RenameInput struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// DestroyInput is the argument of the manager's destroy update.
type DestroyInput struct {
	ID string `json:"id"`
	// RemoveWorkspace deletes the folder if we made it.
	RemoveWorkspace bool `json:"removeWorkspace"`
}

// Interrupt is the argument of the interrupt signal.
type Interrupt struct {
	// Turn is the turn to stop; empty stops whichever is under way.
	Turn string `json:"turn,omitempty"`
}

// SetTitle is the argument of the title signal.
type SetTitle struct {
	Title string `json:"title"`
}

// End is the argument of the end signal: the session is over.
type End struct {
	RemoveWorkspace bool `json:"removeWorkspace"`
}

// ReconcileInput tells the manager which sessions are really running.
type ReconcileInput struct {
	// Running are sessions whose workflow runs; those missing are added.
	Running []RegistryEntry `json:"running"`
	// Gone are sessions whose workflow was looked up and does not run.
	Gone []string `json:"gone,omitempty"`
}

// ReconcileResult tells what the manager changed.
type ReconcileResult struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// ManagerInput is the argument of the SessionManagerWorkflow, carried over
// when it continues as new.
type ManagerInput struct {
	Entries []RegistryEntry `json:"entries,omitempty"`
}

// AgentInput is the argument of the AgentWorkflow, carried over when it
// continues as new. It holds ids and small settings only.
type AgentInput struct {
	Session Session `json:"session"`
	// Recent are the ids of the last messages, for deduplication.
	Recent []string `json:"recent,omitempty"`
	// First is the first message of a new session.
	First *QueuedMessage `json:"first,omitempty"`
	// End is set when the session was ended while it was carried over.
	End *End `json:"end,omitempty"`
}

// PrepareSandboxInput asks for a new session's sandbox before its first turn,
// so that its files can be seen.
type PrepareSandboxInput struct {
	SessionID string `json:"sessionId"`
	Place     Place  `json:"place"`
}

// PrepareSandboxResult tells where the session works.
type PrepareSandboxResult struct {
	Sandbox      string `json:"sandbox"`
	Workspace    string `json:"workspace"`
	OwnWorkspace bool   `json:"ownWorkspace"`
	Confined     bool   `json:"confined"`
}

// PrepareTurnInput asks to write a turn's messages and to have its sandbox
// ready.
type PrepareTurnInput struct {
	Turn     TurnRef         `json:"turn"`
	Place    Place           `json:"place"`
	Options  Options         `json:"options"`
	Messages []QueuedMessage `json:"messages"`
	// WantTitle asks for a title made of the first message.
	WantTitle bool `json:"wantTitle"`
}

// PrepareTurnResult tells what the turn works with.
type PrepareTurnResult struct {
	Sandbox      string `json:"sandbox"`
	Workspace    string `json:"workspace"`
	OwnWorkspace bool   `json:"ownWorkspace"`
	Confined     bool   `json:"confined"`
	// Provider and Model are the resolved ones.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Title    string `json:"title,omitempty"`
	// NextSeq is the next free item number of the turn.
	NextSeq int `json:"nextSeq"`
}

// CallModelInput asks for the model's next answer.
type CallModelInput struct {
	Turn  TurnRef `json:"turn"`
	Place Place   `json:"place"`
	// Step counts from 1, Attempt from 1 for each step.
	Step    int `json:"step"`
	Attempt int `json:"attempt"`
	// Seq is the number of the first item that this call may write.
	Seq      int    `json:"seq"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Effort   string `json:"effort,omitempty"`
	// Steered are messages to put before the call.
	Steered []QueuedMessage `json:"steered,omitempty"`
}

// CallModelResult is the model's answer, without its text.
type CallModelResult struct {
	NextSeq int        `json:"nextSeq"`
	Calls   []ToolCall `json:"calls,omitempty"`
	Usage   Usage      `json:"usage"`
	// ContextTokens is the size of the request plus the answer; Window is what
	// the model takes, 0 when unknown.
	ContextTokens int64 `json:"contextTokens"`
	Window        int64 `json:"window"`
}

// ToolCall is one call of a tool, with what the workflow needs to judge it.
type ToolCall struct {
	ID   string `json:"id"`
	Item string `json:"item"`
	Tool string `json:"tool"`
	Ask  Ask    `json:"ask"`
	// Invalid is true when the call can't be run (unknown tool, malformed
	// arguments): its result is already written for the model.
	Invalid bool `json:"invalid,omitempty"`
}

// RunToolInput asks to run one call. Running it again with the same call id
// never runs a command again.
type RunToolInput struct {
	Turn  TurnRef `json:"turn"`
	Place Place   `json:"place"`
	Item  string  `json:"item"`
	Call  string  `json:"call"`
	// Resumed is true when the process that ran it before was lost.
	Resumed bool `json:"resumed,omitempty"`
}

// RunToolResult tells how the call ended; its output is in the store.
type RunToolResult struct {
	Status ToolStatus `json:"status"`
}

// RecordOutcomeInput writes the end of a call that was not run to its end.
type RecordOutcomeInput struct {
	Turn   TurnRef    `json:"turn"`
	Item   string     `json:"item"`
	Status ToolStatus `json:"status"`
	// Text is told to the model.
	Text string `json:"text"`
}

// CommitTurnInput closes a turn.
type CommitTurnInput struct {
	Turn       TurnRef `json:"turn"`
	Place      Place   `json:"place"`
	Outcome    Outcome `json:"outcome"`
	Fault      *Fault  `json:"fault,omitempty"`
	DurationMs int64   `json:"durationMs"`
	Steps      int     `json:"steps"`
	Usage      Usage   `json:"usage"`
	Provider   string  `json:"provider"`
	Model      string  `json:"model"`
	// Steered are messages that were taken into the turn by a step that did not
	// end; the first belongs at SteeredSeq. Those that the step has not written
	// are written with the commit.
	Steered    []QueuedMessage `json:"steered,omitempty"`
	SteeredSeq int             `json:"steeredSeq,omitempty"`
	// Base and Snapshot are the files before and after the turn, as far as they
	// could be captured; NoSnapshot says why they could not.
	Base       string    `json:"base,omitempty"`
	Snapshot   string    `json:"snapshot,omitempty"`
	Changed    int       `json:"changed,omitempty"`
	Skipped    []Skipped `json:"skipped,omitempty"`
	NoSnapshot *Fault    `json:"noSnapshot,omitempty"`
}

// CommitTurnResult names the new head.
type CommitTurnResult struct {
	Head string `json:"head"`
}

// CompactContextInput asks for a summary that stands for what was said before.
type CompactContextInput struct {
	Turn     TurnRef `json:"turn"`
	Attempt  int     `json:"attempt"`
	Seq      int     `json:"seq"`
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
}

// CompactContextResult tells the next free item number.
type CompactContextResult struct {
	NextSeq int   `json:"nextSeq"`
	Usage   Usage `json:"usage"`
}

// PublishSessionInput projects a record into the store and to who watches.
type PublishSessionInput struct {
	Session Session `json:"session"`
	// Ended removes the record: the session was destroyed.
	Ended bool `json:"ended,omitempty"`
}

// ReleaseSandboxInput ends what a session has running.
type ReleaseSandboxInput struct {
	SessionID string `json:"sessionId"`
	Place     Place  `json:"place"`
	// RemoveWorkspace deletes a folder that we made.
	RemoveWorkspace bool `json:"removeWorkspace"`
	// Moved is true when the session lives on elsewhere: what its commands put
	// out is kept as far as it outlives the sandbox.
	Moved bool `json:"moved,omitempty"`
}
