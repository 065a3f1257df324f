//go:build linux

package local_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"temporal-sandbox-agent/sandbox/journal"
)

// TestMain lets the tests be the program that holds commands, as main does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == journal.HolderArg {
		os.Exit(journal.HolderMain(os.Args[2:]))
	}
	if base := os.Getenv(crashEnv); base != "" {
		if err := runCrashApp(context.Background(), base, os.Getenv(crashHolder) == "true"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
