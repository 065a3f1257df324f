//go:build !(linux && lazywebkit)

// Package webkit has nothing to do in this build: where it is needed, the
// system has loaded WebKit with the program.
package webkit

// Load does nothing.
func Load() error { return nil }
