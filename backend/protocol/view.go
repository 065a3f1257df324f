package protocol

import "time"

// BackendInfo feeds one card of the backend picker.
type BackendInfo struct {
	Name      string `json:"name"`
	Label     string `json:"label"`
	Blurb     string `json:"blurb"`
	Available bool   `json:"available"`
	// Reason tells why it can't be used, Remedy what to do about it.
	Reason   string `json:"reason,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
	Version  string `json:"version,omitempty"`
	Confined bool   `json:"confined"`
	// Planned is true for what this version can't do yet, wherever it runs.
	Planned bool `json:"planned,omitempty"`
	// Image is the container image that is taken when none is named, empty where
	// there are no images.
	Image string `json:"image,omitempty"`
}

// ProviderInfo is a provider of models.
type ProviderInfo struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	// Kind is "openai", "compatible" or "demo".
	Kind      string `json:"kind"`
	BaseURL   string `json:"baseUrl,omitempty"`
	Available bool   `json:"available"`
	Reason    string `json:"reason,omitempty"`
	Remedy    string `json:"remedy,omitempty"`
	// Local is true when it was found on this machine.
	Local   bool        `json:"local"`
	Default string      `json:"default,omitempty"`
	Models  []ModelInfo `json:"models,omitempty"`
}

// ModelInfo is one model of a provider.
type ModelInfo struct {
	ID    string `json:"id"`
	Label string `json:"label,omitempty"`
	// Window is the context size in tokens, 0 when unknown.
	Window  int64    `json:"window,omitempty"`
	Efforts []string `json:"efforts,omitempty"`
	Images  bool     `json:"images"`
}

// FileEntry is one entry of a folder of the workspace.
type FileEntry struct {
	Name string `json:"name"`
	// Path is relative to the workspace root, with slashes. Names that are not
	// valid UTF-8 have their bad bytes as \xNN; RawPath is then set.
	Path string `json:"path"`
	// RawPath is the base64 of the real path when it is not valid UTF-8.
	RawPath string `json:"rawPath,omitempty"`
	// Kind is "file", "dir", "link" or "other".
	Kind     string    `json:"kind"`
	Size     int64     `json:"size"`
	Mode     uint32    `json:"mode"`
	Modified time.Time `json:"modified" ts_type:"string"`
	// Target is where a link points to.
	Target string `json:"target,omitempty"`
}

// FileContent is a part of a file.
type FileContent struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Offset and Bytes say which part this is.
	Offset int64  `json:"offset"`
	Bytes  int    `json:"bytes"`
	Text   string `json:"text,omitempty"`
	// Base64 holds the bytes of images and binary files.
	Base64 string `json:"base64,omitempty"`
	MIME   string `json:"mime"`
	// Kind is "text", "image" or "binary".
	Kind     string    `json:"kind"`
	Modified time.Time `json:"modified" ts_type:"string"`
}

// SearchHit is a session found by its title or content.
type SearchHit struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	// Item is empty when the title matched.
	Item    string `json:"item,omitempty"`
	Snippet string `json:"snippet,omitempty"`
}
