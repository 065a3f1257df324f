package llm_test

import (
	"encoding/json"
	"testing"

	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/tool"
)

// The demo speaks the language of the real tools: they take its calls, and ask
// only where the demo says that they do.
func TestDemoCallsFitTheTools(t *testing.T) {
	tools := tool.NewSet()
	var specs []llm.ToolSpec
	for _, x := range tools.All() {
		specs = append(specs, llm.ToolSpec{Name: x.Name(), Description: x.Description(), Schema: x.Schema()})
	}
	r := llm.NewRegistry(llm.Config{Settings: func() llm.Settings { return llm.Settings{} }, Targets: []llm.Target{}})
	model, err := r.Open(llm.ProviderDemo, llm.DemoModel)
	if err != nil {
		t.Fatal(err)
	}
	running := "Still running after 1.00 s; session_id: t3-2\nOutput:\nx\n"
	for _, c := range []struct {
		text    string
		results []string // before the call that is looked at
		tool    string
		risky   bool
	}{
		{"list", nil, "exec_command", false},
		{"list src", nil, "exec_command", false},
		{"read a.txt", nil, "read_file", false},
		{"view a.png", nil, "view_image", false},
		{"create a.txt with hi", nil, "apply_patch", false},
		{"append x to a.txt", nil, "apply_patch", false},
		{"delete a.txt", nil, "apply_patch", false},
		{"replace it's with \"x\" in a.txt", nil, "exec_command", false},
		{"replace a with b in a.txt", []string{"Exit code: 0 (0.01 s)\nOutput:\n3:a\n"}, "apply_patch", false},
		{"wait 3", nil, "exec_command", false},
		{"wait 3", []string{running}, "write_stdin", false},
		{"run ls", nil, "exec_command", false},
		{"run make install", nil, "exec_command", true},
		{"approve", nil, "exec_command", true},
		{"tour", nil, "exec_command", false},
		{"tour", []string{"Exit code: 0 (0.01 s)\nNo output."}, "apply_patch", false},
	} {
		req := llm.Request{Tools: specs, Input: []llm.Entry{{Kind: llm.EntryUser, Text: c.text}}}
		for _, result := range c.results {
			call := answer(t, model, req)
			req.Input = append(req.Input, call, llm.Entry{Kind: llm.EntryResult, CallID: call.CallID, Text: result})
		}
		call := answer(t, model, req)
		x, ok := tools.Lookup(call.Name)
		if !ok || call.Name != c.tool {
			t.Errorf("%s: calls %q, want %q", c.text, call.Name, c.tool)
			continue
		}
		ask, err := x.Assess(json.RawMessage(call.Args), tool.Env{Backend: "local", Root: "/w"})
		if err != nil || ask.Risky != c.risky {
			t.Errorf("%s: %s: risky %v (%s), want %v; error %v", c.text, call.Args, ask.Risky, ask.Reason, c.risky, err)
		}
	}
}

// answer returns the one call of an answer.
func answer(t *testing.T, m llm.Model, req llm.Request) llm.Entry {
	t.Helper()
	out, err := m.Stream(t.Context(), req, func(llm.Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	call := out.Output[len(out.Output)-1]
	if call.Kind != llm.EntryCall {
		t.Fatalf("no call: %+v", out.Output)
	}
	return call
}
