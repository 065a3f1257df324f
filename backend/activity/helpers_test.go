package activity_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/activity"
	"temporal-sandbox-agent/backend/event"
	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/tool"
	"temporal-sandbox-agent/backend/trace"
	"temporal-sandbox-agent/backend/transcript"
	"temporal-sandbox-agent/backend/workplace"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

// activities are real ones on a store of their own, with a model at modelURL
// and a folder to work in.
func activities(t *testing.T, modelURL string) (a *activity.Activities, conversations *transcript.Transcript, work string) {
	t.Helper()
	dir := t.TempDir()
	objects, _, err := store.Open(t.Context(), filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = objects.Close() })
	work = filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	provider := local.New(local.Config{WorkspacesDir: filepath.Join(dir, "workspaces"), StateDir: filepath.Join(dir, "state"), Home: dir + "/home"})
	t.Cleanup(func() { _ = provider.Close() })
	models := llm.NewRegistry(llm.Config{
		Settings: func() llm.Settings {
			return llm.Settings{OpenAI: llm.OpenAISettings{Key: "not-a-key", BaseURL: modelURL}}
		},
		Targets: []llm.Target{},
	})
	t.Cleanup(models.Close)
	conversations = transcript.New(objects)
	a = &activity.Activities{
		Transcript: conversations, Objects: objects, Models: models, Tools: tool.NewSet(),
		Places: workplace.New(workplace.Backend{
			Provider: provider, Journal: func(sb sandbox.Sandbox) (workplace.Journal, error) { return journal.Open(sb), nil },
		}),
		Events: &event.Bus{}, Tracer: trace.Off{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	return a, conversations, work
}
