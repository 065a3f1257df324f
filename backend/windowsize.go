package backend

import (
	"temporal-sandbox-agent/backend/config"
	"temporal-sandbox-agent/backend/protocol"
)

// usualSize fits the smallest screens that people work on.
var usualSize = config.WindowSize{Width: 1240, Height: 720}

// WindowSize is how large the window should be: as it was last time. It needs
// no open backend, since the window comes first.
func (c Config) WindowSize() config.WindowSize {
	paths, err := config.FindPaths(c.DataDir)
	if err != nil {
		return usualSize // opening the backend will tell
	}
	return config.LoadWindowSize(paths, usualSize)
}

// KeepWindowSize keeps the size for the next start.
func (b *Backend) KeepWindowSize(width, height int) error {
	size := config.WindowSize{Width: width, Height: height}
	if !size.Sound() {
		return &protocol.Fault{Class: protocol.ClassBadInput, Happened: "No window is as large as that"}
	}
	return config.SaveWindowSize(b.paths, size)
}
