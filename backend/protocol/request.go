package protocol

// CreateRequest asks for a new session.
type CreateRequest struct {
	// ID may be chosen by the caller (a UUID), so that asking again does not
	// make a second one.
	ID      string `json:"id,omitempty"`
	Title   string `json:"title,omitempty"`
	Backend string `json:"backend,omitempty"`
	// Workspace is an absolute folder; empty asks for a fresh one.
	Workspace string  `json:"workspace,omitempty"`
	Image     string  `json:"image,omitempty"`
	Options   Options `json:"options"`
	// First is the first message, sent with the creation.
	First *SendRequest `json:"first,omitempty"`
}

// SendRequest is a message to send.
type SendRequest struct {
	// ID is chosen by the sender once per message (a UUID).
	ID    string   `json:"id"`
	Text  string   `json:"text"`
	Files []Upload `json:"files,omitempty"`
	// Steer puts it into the turn under way instead of after it.
	Steer bool `json:"steer,omitempty"`
}

// Upload is a file that comes with a message.
type Upload struct {
	Name   string `json:"name"`
	MIME   string `json:"mime"`
	Base64 string `json:"base64"`
}

// LogPart is a part of a command's full output.
type LogPart struct {
	Offset int64 `json:"offset"`
	// Bytes is how many bytes of the log Text stands for.
	Bytes int    `json:"bytes"`
	Text  string `json:"text"`
	// Size is the whole log so far; Ended tells that no more will come.
	Size  int64 `json:"size"`
	Ended bool  `json:"ended"`
}

// FolderInfo tells what picking a folder as a workspace would mean.
type FolderInfo struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	// Entries counts what is in it, at most 1,000.
	Entries  int  `json:"entries"`
	Writable bool `json:"writable"`
	Git      bool `json:"git"`
	// Refused says why it can't be a workspace ("This is your home folder…").
	Refused string `json:"refused,omitempty"`
}

// TestResult is the answer of a test button.
type TestResult struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// Boot is all that the window needs to draw itself first.
type Boot struct {
	Version  string       `json:"version"`
	Platform string       `json:"platform"`
	Engine   EngineStatus `json:"engine"`
	Settings Settings     `json:"settings"`
	Sessions []Session    `json:"sessions"`
	// DefaultProvider and DefaultModel answer when a session names none.
	DefaultProvider string `json:"defaultProvider"`
	DefaultModel    string `json:"defaultModel"`
	// AskTrace is true when the user must be asked once about tracing.
	AskTrace bool `json:"askTrace"`
	// TraceTo is who would get traces: "OpenAI", or the host that is set in its
	// place.
	TraceTo string `json:"traceTo"`
	DataDir string `json:"dataDir"`
	// Home is the user's home folder, which paths are shortened with; empty
	// if there is none.
	Home string `json:"home"`
}

// Check is one line of the doctor's report.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Needed is false for what may be missing.
	Needed bool   `json:"needed"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}
