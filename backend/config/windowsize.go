package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// WindowSize is how large the window was when it was closed, in the pixels of
// the system's scale.
type WindowSize struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Sound tells whether a window may have this size.
func (s WindowSize) Sound() bool {
	const least, most = 200, 20_000
	return s.Width >= least && s.Height >= least && s.Width <= most && s.Height <= most
}

func (p Paths) windowSizeFile() string { return filepath.Join(p.State, "window.json") }

// LoadWindowSize returns the size that was kept, or otherwise if there is none
// that makes sense.
func LoadWindowSize(p Paths, otherwise WindowSize) WindowSize {
	var size WindowSize
	content, err := os.ReadFile(p.windowSizeFile())
	if err != nil || json.Unmarshal(content, &size) != nil || !size.Sound() {
		return otherwise
	}
	return size
}

// SaveWindowSize keeps a size for the next start.
func SaveWindowSize(p Paths, size WindowSize) error {
	content, err := json.Marshal(size)
	if err != nil {
		return fmt.Errorf("encode the window's size: %w", err)
	}
	if err := writeFile(p.windowSizeFile(), content); err != nil {
		return fmt.Errorf("keep the window's size: %w", err)
	}
	return nil
}
