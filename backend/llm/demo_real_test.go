package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/tool"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

// TestMain lets this program be what runs commands, as the app's own does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == journal.HolderArg {
		os.Exit(journal.HolderMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// room is a real workspace with the real tools, in which the demo works.
type room struct {
	model llm.Model
	tools *tool.Set
	sb    sandbox.Sandbox
	j     *journal.Journal
	req   llm.Request
	calls int
	seen  map[string]int64
}

func newRoom(t *testing.T) *room {
	t.Helper()
	dir := t.TempDir()
	p := local.New(local.Config{WorkspacesDir: filepath.Join(dir, "w"), StateDir: filepath.Join(dir, "s"), Home: filepath.Join(dir, "home"), Holder: true})
	t.Cleanup(func() { _ = p.Close() })
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	r := llm.NewRegistry(llm.Config{Settings: func() llm.Settings { return llm.Settings{} }, Targets: []llm.Target{}})
	model, err := r.Open(llm.ProviderDemo, llm.DemoModel)
	if err != nil {
		t.Fatal(err)
	}
	room := &room{model: model, tools: tool.NewSet(), sb: sb, j: journal.Open(sb), seen: map[string]int64{}}
	for _, x := range room.tools.All() {
		room.req.Tools = append(room.req.Tools, llm.ToolSpec{Name: x.Name(), Schema: x.Schema()})
	}
	return room
}

// say works a message to its end and returns what the demo said last.
func (r *room) say(t *testing.T, text string) string {
	t.Helper()
	r.req.Input = append(r.req.Input, llm.Entry{Kind: llm.EntryUser, Text: text})
	said := ""
	for range 50 {
		out, err := r.model.Stream(t.Context(), r.req, func(llm.Delta) {})
		if err != nil {
			t.Fatal(err)
		}
		r.req.Input = append(r.req.Input, out.Output...)
		called := false
		for _, e := range out.Output {
			switch e.Kind {
			case llm.EntryAssistant:
				said = e.Text
			case llm.EntryCall:
				called = true
				r.req.Input = append(r.req.Input, llm.Entry{Kind: llm.EntryResult, CallID: e.CallID, Text: r.run(t, e)})
			}
		}
		if !called {
			return said
		}
	}
	t.Fatalf("%q does not end", text)
	return ""
}

func (r *room) run(t *testing.T, call llm.Entry) string {
	t.Helper()
	x, ok := r.tools.Lookup(call.Name)
	if !ok {
		t.Fatalf("no tool %q", call.Name)
	}
	r.calls++
	env := tool.Env{Backend: "local", Root: r.sb.Root()}
	if _, err := x.Assess(json.RawMessage(call.Args), env); err != nil {
		t.Errorf("%s %s: %v", call.Name, call.Args, err)
	}
	out, err := x.Run(t.Context(), tool.Call{
		ID: fmt.Sprintf("s1.t1-%d", r.calls), Args: json.RawMessage(call.Args), Env: env, Sandbox: r.sb, Journal: r.j,
		Seen: func(_ context.Context, log string) (int64, error) { return r.seen[log], nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.seen[out.Result.Log] = max(r.seen[out.Result.Log], out.Result.OutputBytes)
	return out.Result.Output
}

func (r *room) file(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.sb.Root(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What the demo says it does is really done, by the real tools in a real folder.
func TestDemoOnRealTools(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	says := func(text, want string) {
		t.Helper()
		if got := r.say(t, text); !strings.Contains(got, want) {
			t.Errorf("%s: says %q, want %q in it", text, got, want)
		}
	}
	has := func(name, want string) {
		t.Helper()
		if got := r.file(t, name); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
	says("append x to notes.txt", "There was no `notes.txt`")
	has("notes.txt", "x\n")
	says("create hello.txt with hi there", "Created `hello.txt`")
	has("hello.txt", "hi there\n")
	says("create hello.txt with hi *there*", "was there before")
	says("append *** End Patch to hello.txt", "Added to the end")
	says("append it's hi again to hello.txt", "Added to the end")
	has("hello.txt", "hi *there*\n*** End Patch\nit's hi again\n")
	says("replace hi with $& bye in hello.txt", "Replaced in `hello.txt`")
	has("hello.txt", "$& bye *there*\n*** End Patch\nit's $& bye again\n")
	says("replace nowhere with x in hello.txt", "There is no `nowhere`")
	says("replace x with y in gone.txt", "could not look into")
	says("read hello.txt", "$& bye *there*\n*** End Patch")
	says("read gone.txt", "could not read")
	says("create 'a b/odd name.txt' with x", "Created")
	has("a b/odd name.txt", "x\n")
	says("list", "hello.txt")
	says("list nowhere", "could not list")
	says("run `printf 'a\\nb\\n'; exit 3`", "exit code 3")
	says("run echo \"$((6*7))\"", "exit code 0.\n\n```\n42\n```")
	says("view hello.txt", "could not open")
	says("delete hello.txt", "Deleted `hello.txt`")
	says("delete hello.txt", "was not deleted")
	says("approve", "It ran once")
	says("wait 3", "Done: 3 seconds")
}

func TestDemoTourOnRealTools(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	if said := r.say(t, "tour"); !strings.Contains(said, "**6. That is it.**") || strings.Contains(said, "which is fine") {
		t.Errorf("says %q", said)
	}
	if got := r.file(t, "tour/greet.sh"); !strings.Contains(got, "for time in morning afternoon evening; do") || strings.Contains(got, "Hello, $name") {
		t.Errorf("the program is %q", got)
	}
	for _, want := range []string{"Hello, world.", "Good evening, there.", "-echo \"Hello, $name.\""} {
		found := false
		for _, e := range r.req.Input {
			found = found || e.Kind == llm.EntryResult && strings.Contains(e.Text, want)
		}
		if !found {
			t.Errorf("no result has %q", want)
		}
	}
}
