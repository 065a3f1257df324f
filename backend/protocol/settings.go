package protocol

import "encoding/json"

// Settings are the user's choices for the whole app, kept as a file in the
// configuration folder. The zero value of every field is a sound default.
type Settings struct {
	// Provider, Model and Effort are the defaults of new sessions; empty means
	// the best that is available.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Effort   string `json:"effort"`
	// Endpoints are servers that speak Chat Completions.
	Endpoints []Endpoint `json:"endpoints"`
	// Backend is where new sessions work; empty means "local".
	Backend string `json:"backend"`
	// DockerImage is the image of new containers for which none is named; empty is
	// the app's own choice.
	DockerImage string `json:"dockerImage"`
	// Approve is the approval mode of new sessions; empty means "auto".
	Approve ApprovalMode `json:"approve"`
	// Theme is "system", "light" or "dark"; empty means "system".
	Theme string `json:"theme"`
	// Trace is "none", "openai" or "openai_with_temporal_spans"; empty means
	// that the user was not asked yet, and nothing is sent.
	Trace string `json:"trace"`
	// FirstRunDone is true once the first-run card was dismissed.
	FirstRunDone bool `json:"firstRunDone"`
	// RecentFolders are the last workspace folders, newest first, at most 12.
	RecentFolders []string `json:"recentFolders"`
	// Prefs are the page's own: pane widths, drafts.
	Prefs json.RawMessage `json:"prefs,omitempty" ts_type:"any"`
}

// Endpoint is a server that speaks Chat Completions. Its key, if it wants one,
// is not kept here: see KeyInfo.
type Endpoint struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// KeyInfo tells of a key without telling the key.
type KeyInfo struct {
	// Name is the environment variable's name ("OPENAI_API_KEY"), or what the
	// key of an endpoint is called.
	Name  string `json:"name"`
	Label string `json:"label"`
	Set   bool   `json:"set"`
	// Where it is kept: "environment", ".env", "keyring", "file", "".
	Where string `json:"where"`
	// Hint is the key's end ("…a1b2"), so that the user can tell which it is.
	Hint string `json:"hint,omitempty"`
	// Secret is false for plain settings such as base URLs; Value is then set.
	Secret bool   `json:"secret"`
	Value  string `json:"value,omitempty"`
	// Endpoint is the server of the settings whose key this is; empty for others.
	Endpoint string `json:"endpoint,omitempty"`
	// ReadOnly is true when the environment decides.
	ReadOnly bool `json:"readOnly"`
}
