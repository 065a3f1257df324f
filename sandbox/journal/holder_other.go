//go:build !unix

package journal

// HolderMain fails: there are no holders on this system.
func HolderMain([]string) int { return 2 }
