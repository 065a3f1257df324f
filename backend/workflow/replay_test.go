package workflow_test

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"

	"temporal-sandbox-agent/backend/workflow"
)

// Histories of released versions must replay on today's code: a session that
// sleeps for months wakes up on a newer version. They are recorded on the real
// engine by the tests of package backend (see RECORD_HISTORIES there).
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 18 {
		t.Fatalf("there are %d recorded histories, want at least 18", len(files))
	}
	for _, file := range files {
		t.Run(filepath.ToSlash(file), func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			workflow.Register(replayer)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
				t.Error(err)
			}
		})
	}
}
