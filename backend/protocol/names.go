// Package protocol holds the names and the data that workflows, activities,
// clients and the window share. It imports nothing but the standard library,
// so that every layer can depend on it and it depends on none.
package protocol

// TaskQueue is the one task queue that every worker of the product serves.
const TaskQueue = "sandbox-agent"

// Workflow types and ids.
const (
	SessionManagerWorkflow = "SessionManagerWorkflow"
	AgentWorkflow          = "AgentWorkflow"

	// SessionManagerID is the workflow id of the singleton registry.
	SessionManagerID = "session-manager"
	// AgentIDPrefix plus the session id is the workflow id of a session.
	AgentIDPrefix = "agent-"
)

// AgentID returns the workflow id of a session.
func AgentID(session string) string { return AgentIDPrefix + session }

// HostLost is the type of the error with which the engine ends an activity
// whose process is gone.
const HostLost = "HostLost"

// Updates of the SessionManagerWorkflow. Each is a validated command.
const (
	UpdateCreate    = "create"
	UpdateFork      = "fork"
	UpdateRename    = "rename"
	UpdateDestroy   = "destroy"
	UpdateReconcile = "reconcile"
)

// Updates of the AgentWorkflow. Each is a validated command, acknowledged only
// once it is durable.
const (
	UpdateSendMessage     = "send-message"
	UpdateEditQueue       = "edit-queue"
	UpdateResolveApproval = "resolve-approval"
	UpdateSetOptions      = "set-options"
	UpdateRetryTurn       = "retry-turn"
	UpdateCheckpoint      = "checkpoint"
	UpdateSwitchBackend   = "switch-backend"
	UpdateRewind          = "rewind"
	UpdateSetSnapshots    = "set-snapshots"
)

// Signals are idempotent nudges: losing or repeating one changes nothing that
// the next one would not set right.
const (
	SignalInterrupt = "interrupt"
	SignalTitle     = "title"
	SignalEnd       = "end"
	// SignalNudge has a turn that waits try again now.
	SignalNudge = "nudge"
)

// Queries return small state only; conversations are read from the store.
const (
	QueryState = "state"
	QueryList  = "list"
)

// Activity types: verb and object.
const (
	ActivityPrepareSandbox  = "PrepareSandbox"
	ActivityPrepareTurn     = "PrepareTurn"
	ActivityCallModel       = "CallModel"
	ActivityRunTool         = "RunTool"
	ActivityRecordOutcome   = "RecordOutcome"
	ActivityCommitTurn      = "CommitTurn"
	ActivityCompactContext  = "CompactContext"
	ActivityPublishSession  = "PublishSession"
	ActivityReleaseSandbox  = "ReleaseSandbox"
	ActivityCreateSandbox   = "CreateSandbox"
	ActivityCaptureSnapshot = "CaptureSnapshot"
	ActivityPlaceSnapshot   = "PlaceSnapshot"
	ActivityRecordNotice    = "RecordNotice"
	ActivityCommitMark      = "CommitMark"
)
