//go:build unix

package local_test

import (
	"os"
	"testing"

	"temporal-sandbox-agent/sandbox/journal"
)

// TestMain lets the tests be the program that holds commands, as main does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == journal.HolderArg {
		os.Exit(journal.HolderMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}
