package backend

import "temporal-sandbox-agent/backend/config"

// usualSize fits the smallest screens that people work on.
var usualSize = config.WindowSize{Width: 1280, Height: 800}

// WindowSize is how large the window should be: as it was last time. It needs
// no open backend, since the window comes first.
func (c Config) WindowSize() config.WindowSize {
	paths, err := config.FindPaths(c.DataDir)
	if err != nil {
		return usualSize // opening the backend will tell
	}
	return config.LoadWindowSize(paths, usualSize)
}

// KeepWindowSize keeps the size for the next start. A maximised window keeps
// the size that it had before.
func (b *Backend) KeepWindowSize(size config.WindowSize) {
	if size.Maximised {
		before := config.LoadWindowSize(b.paths, usualSize)
		size.Width, size.Height = before.Width, before.Height
	}
	if err := config.SaveWindowSize(b.paths, size); err != nil {
		b.log.Warn("the window's size is not remembered", "error", err)
	}
}
