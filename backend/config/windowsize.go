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
	Width     int  `json:"width"`
	Height    int  `json:"height"`
	Maximised bool `json:"maximised"`
}

func (p Paths) windowSizeFile() string { return filepath.Join(p.State, "window.json") }

// LoadWindowSize returns the size that was kept, or otherwise if there is none
// that makes sense.
func LoadWindowSize(p Paths, otherwise WindowSize) WindowSize {
	var size WindowSize
	content, err := os.ReadFile(p.windowSizeFile())
	if err != nil || json.Unmarshal(content, &size) != nil || size.Width <= 0 || size.Height <= 0 {
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

// Within is the size cut to a screen, with a margin for what the desktop keeps
// for itself.
func (s WindowSize) Within(width, height int) WindowSize {
	const margin = 20 // of each twenty parts, one is left free
	s.Width = min(s.Width, width-width/margin)
	s.Height = min(s.Height, height-height/margin)
	return s
}
