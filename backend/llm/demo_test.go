package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// demoTools is what the agent has; the demo only asks whether there are any.
var demoTools = []ToolSpec{{Name: "exec_command"}, {Name: "write_stdin"}, {Name: "apply_patch"}, {Name: "read_file"}, {Name: "view_image"}}

// play sends a message and gives the demo one result after another for its
// calls. It returns the calls as "tool args" and what was said last.
func play(t *testing.T, text string, results ...string) (calls []string, last string) {
	t.Helper()
	req := Request{Tools: demoTools, Input: []Entry{
		{Kind: EntryUser, Text: "run `old`"},
		{Kind: EntryCall, CallID: "old", Name: "exec_command", Args: "{}"},
		{Kind: EntryResult, CallID: "old", Text: "Exit code: 7 (0.01 s)\nNo output."},
		{Kind: EntryAssistant, Text: "It ended."},
		{Kind: EntryUser, Text: text},
	}}
	ids := map[string]bool{}
	for {
		out := stream(t, demo{}.Open(DemoModel), req)
		req.Input = append(req.Input, out.Output...)
		asked := 0
		for _, e := range out.Output {
			if e.Kind == EntryAssistant {
				last = e.Text
			}
			if e.Kind != EntryCall {
				continue
			}
			asked++
			if !json.Valid([]byte(e.Args)) || ids[e.CallID] {
				t.Fatalf("bad call %+v", e)
			}
			ids[e.CallID] = true
			calls = append(calls, e.Name+" "+e.Args)
			if len(results) == 0 {
				t.Fatalf("no result for %s", calls[len(calls)-1])
			}
			req.Input = append(req.Input, Entry{Kind: EntryResult, CallID: e.CallID, Text: results[0]})
			results = results[1:]
		}
		if asked == 0 {
			if len(results) > 0 {
				t.Fatalf("%d results were not wanted; said %q", len(results), last)
			}
			return calls, last
		}
	}
}

// The words of the tools.
const (
	toolOK      = "Exit code: 0 (0.01 s)\nOutput:\n"
	toolDenied  = "The user denied this call.\nReason: not today"
	toolRunning = "Still running after 1.00 s; session_id: t3-2\nOutput:\nsecond 1 of 3\n"
	toolAdded   = "Patch applied:\nA hello.txt (+1 -0)"
	toolChanged = "Patch applied:\nM hello.txt (+1 -1)"
	toolMissing = "Nothing was changed: hello.txt can't be updated: there is no such file."
)

func patchOf(lines ...string) string {
	b, err := json.Marshal(patchArgs{"*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"})
	if err != nil {
		panic(err)
	}
	return "apply_patch " + string(b)
}

func TestDemoVocabulary(t *testing.T) {
	found := toolOK + "3:say old and old\n17:\told\n"
	for _, c := range []struct {
		text    string
		results []string
		calls   []string
		says    string
	}{
		{"create hello.txt with hi there", []string{toolAdded}, []string{patchOf("*** Add File: hello.txt", "+hi there")}, "Created `hello.txt` (1 line, 9 bytes)"},
		{"Please CREATE a file called `hello.txt` with the text \"a\nb\"", []string{toolAdded}, []string{patchOf("*** Add File: hello.txt", "+a", "+b")}, "2 lines, 4 bytes"},
		{"create `my notes.md` with:\n```md\n# Notes\n\n- one\n```", []string{toolAdded}, []string{patchOf("*** Add File: my notes.md", "+# Notes", "+", "+- one")}, "Created"},
		{"write new.txt with add x to y", []string{toolAdded}, []string{patchOf("*** Add File: new.txt", "+add x to y")}, "Created"},
		{"create hello.txt with hi", []string{toolChanged}, []string{patchOf("*** Add File: hello.txt", "+hi")}, "was there before"},
		{"create hello.txt with hi", []string{"Nothing was changed: hello.txt is a folder, not a file"}, []string{patchOf("*** Add File: hello.txt", "+hi")}, "is a folder"},
		{"create hello.txt with hi", []string{toolDenied}, []string{patchOf("*** Add File: hello.txt", "+hi")}, "nothing was written"},

		{"append one more to hello.txt", []string{toolChanged}, []string{patchOf("*** Update File: hello.txt", "@@", "+one more", "*** End of File")}, "Added to the end of `hello.txt`"},
		{"add 'go to bed' to the file 'my list'", []string{toolChanged}, []string{patchOf("*** Update File: my list", "@@", "+go to bed", "*** End of File")}, "Added"},
		{"append x to hello.txt", []string{toolMissing, toolAdded}, []string{patchOf("*** Update File: hello.txt", "@@", "+x", "*** End of File"), patchOf("*** Add File: hello.txt", "+x")}, "There was no `hello.txt`"},
		{"append x to hello.txt", []string{"Nothing was changed: hello.txt is a binary file: a patch can't change it"}, []string{patchOf("*** Update File: hello.txt", "@@", "+x", "*** End of File")}, "was not changed"},

		{"replace old with new in hello.txt", []string{found, toolChanged}, []string{
			`exec_command {"cmd":"grep -nF -e 'old' -- 'hello.txt'"}`,
			patchOf("*** Update File: hello.txt", "@@", "-say old and old", "+say new and new", "@@", "-\told", "+\tnew"),
		}, "Replaced in `hello.txt`"},
		{"change \"it's\" to `it is` in 'a b'", []string{"Exit code: 1 (0.00 s)\nNo output."}, []string{`exec_command {"cmd":"grep -nF -e 'it'\\''s' -- 'a b'"}`}, "There is no `it's` in `a b`"},
		{"replace old with new in hello.txt", []string{"Exit code: 2 (0.00 s)\nOutput:\ngrep: hello.txt: No such file or directory\n"}, []string{`exec_command {"cmd":"grep -nF -e 'old' -- 'hello.txt'"}`}, "could not look into"},
		{"replace old with new in hello.txt", []string{toolOK + strings.Repeat("1:old\n", 51)}, []string{`exec_command {"cmd":"grep -nF -e 'old' -- 'hello.txt'"}`}, "at most 50"},
		{"replace old with new in hello.txt", []string{found, toolDenied}, []string{
			`exec_command {"cmd":"grep -nF -e 'old' -- 'hello.txt'"}`,
			patchOf("*** Update File: hello.txt", "@@", "-say old and old", "+say new and new", "@@", "-\told", "+\tnew"),
		}, "is as it was"},

		{"delete hello.txt", []string{"Patch applied:\nD hello.txt"}, []string{patchOf("*** Delete File: hello.txt")}, "Deleted `hello.txt`"},
		{"remove the file -rf", []string{"Nothing was changed: -rf can't be deleted: there is no such file."}, []string{patchOf("*** Delete File: -rf")}, "was not deleted"},

		{"read hello.txt", []string{"hello.txt, lines 1-2 of 2 (8 bytes):\nhi\n```\n"}, []string{`read_file {"path":"hello.txt"}`}, "This is `hello.txt`:\n\n````\nhi\n```\n````"},
		{"show me the file 'a b'?", []string{"a b is empty."}, []string{`read_file {"path":"a b"}`}, "`a b` is empty."},
		{"cat nope", []string{"There is no file or folder nope."}, []string{`read_file {"path":"nope"}`}, "could not read"},
		{"view logo.png", []string{"logo.png: PNG, 10 × 20 pixels, 1 KB."}, []string{`view_image {"path":"logo.png"}`}, "no eyes"},
		{"view notes.txt", []string{"notes.txt can't be shown: it is no image."}, []string{`view_image {"path":"notes.txt"}`}, "could not open"},

		{"list", []string{toolOK + "total 0\n"}, []string{`exec_command {"cmd":"ls -la"}`}, "This is in the workspace:\n\n```\ntotal 0\n```"},
		{"List the files in src.", []string{toolOK}, []string{`exec_command {"cmd":"ls -la -- 'src'"}`}, "This is in `src`"},
		{"ls ..", []string{toolOK}, []string{`exec_command {"cmd":"ls -la -- '..'"}`}, "This is in `..`"},
		{"read 'odd name.'.", []string{"odd name. is empty."}, []string{`read_file {"path":"odd name."}`}, "is empty"},
		{"ls my-dir", []string{"Exit code: 2 (0.00 s)\nOutput:\nls: no\n"}, []string{`exec_command {"cmd":"ls -la -- 'my-dir'"}`}, "could not list"},

		{"run `echo hi`", []string{toolOK + "hi\n"}, []string{`exec_command {"cmd":"echo hi"}`}, "It ended with exit code 0.\n\n```\nhi\n```"},
		{"Run the command: make test && echo \"a\" 'b'", []string{"Exit code: 2 (1.00 s)\nNo output."}, []string{`exec_command {"cmd":"make test && echo \"a\" 'b'"}`}, "exit code 2. That is a result"},
		{"run sleep 9", []string{toolRunning, toolRunning, toolOK + "second 2\n"}, []string{
			`exec_command {"cmd":"sleep 9"}`, `write_stdin {"session_id":"t3-2","yield_time_ms":5000}`, `write_stdin {"session_id":"t3-2","yield_time_ms":5000}`,
		}, "exit code 0"},
		{"run `x`", []string{toolDenied}, []string{`exec_command {"cmd":"x"}`}, "the command was not run"},
		{"run `x`", []string{"Interrupted: the machine went down while this command ran."}, []string{`exec_command {"cmd":"x"}`}, "did not run to its end"},
		{"run `echo`", []string{toolOK + "The user denied this call.\nsession_id: 1\nExit code: 3\n"}, []string{`exec_command {"cmd":"echo"}`}, "It ended with exit code 0"},

		{"wait 3 seconds", []string{toolRunning, "Exit code: 0 (3.00 s)\nOutput:\nsecond 3 of 3\n"}, []string{
			`exec_command {"cmd":"` + jsonText(counter("3")) + `","yield_time_ms":1000}`, `write_stdin {"session_id":"t3-2","yield_time_ms":5000}`,
		}, "Done: 3 seconds, 3 lines, one run"},
		{"long", []string{"Exit code: 143 (2.00 s, ended by SIGTERM)\nNo output."}, []string{`exec_command {"cmd":"` + jsonText(counter("20")) + `","yield_time_ms":1000}`}, "ended early, with exit code 143"},
		{"wait 9999", nil, nil, "between 1 and 600"},
		{"wait 0", nil, nil, "between 1 and 600"},

		{"approve", []string{toolOK + "allowed at 12:00:00\n"}, []string{`exec_command {"cmd":"sh -c 'echo \"allowed at $(date +%H:%M:%S)\" | tee approved.txt'"}`}, "It ran once"},
		{"risky", []string{toolDenied}, []string{`exec_command {"cmd":"sh -c 'echo \"allowed at $(date +%H:%M:%S)\" | tee approved.txt'"}`}, "the command was not run, and the model was told so"},

		{"hello", nil, nil, "Hello. This is the scripted demo"},
		{"Say hello: answer with one short greeting that begins with the word Hello, and nothing else.", nil, nil, "Hello"},
		{"Hi!", nil, nil, "Hello"},
		{"help", nil, nil, "| `tour` |"},
		{"What can you do?", nil, nil, "| `tour` |"},
		{"", nil, nil, "| `tour` |"},
		{"think", nil, nil, "# A long answer"},
		{"Refactor the parser so that it handles errors", nil, nil, "I am a scripted demo, not an AI"},
		{"create something nice", nil, nil, "not an AI"},
		{"delete everything you can find", nil, nil, "not an AI"},
	} {
		t.Run(c.text, func(t *testing.T) {
			calls, last := play(t, c.text, c.results...)
			if got, want := strings.Join(calls, "\n"), strings.Join(c.calls, "\n"); got != want {
				t.Errorf("calls:\n%s\nwant:\n%s", got, want)
			}
			if !strings.Contains(last, c.says) {
				t.Errorf("says %q, want %q in it", last, c.says)
			}
			if strings.Contains(last, "!") && !strings.HasPrefix(last, "# A long") {
				t.Errorf("shouts: %q", last)
			}
		})
	}
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b[1 : len(b)-1])
}

func TestDemoTour(t *testing.T) {
	calls, last := play(t, "take a guided tour",
		toolOK+"notes.txt\ntour\ntour-2\ntourist\n",
		"Patch applied:\nA tour-3/greet.sh (+4 -0)",
		toolOK+"Hello, world.\n",
		"Patch applied:\nM tour-3/greet.sh (+3 -1)",
		"Exit code: 1 (0.01 s)\nOutput:\nGood morning, there.\n",
		toolRunning, toolRunning,
		toolOK+"second 10 of 10\n",
	)
	if len(calls) != 8 || !strings.Contains(calls[1], "*** Add File: tour-3/greet.sh") || !strings.Contains(calls[4], "diff -u tour-3/greet.old tour-3/greet.sh") || !strings.HasPrefix(calls[7], "write_stdin") {
		t.Errorf("calls:\n%s", strings.Join(calls, "\n"))
	}
	if !strings.Contains(last, "**6. That is it.**") || !strings.Contains(last, "`tour-3` holds the program") {
		t.Errorf("says %q", last)
	}
	for n, results := range [][]string{
		{toolDenied},
		{toolOK, toolDenied},
		{toolOK, "Nothing was changed: no space"},
		{toolOK, toolAdded, "Interrupted: the machine went down"},
		{toolOK, toolAdded, toolOK, "Nothing was changed: it does not fit"},
		{toolOK, toolAdded, toolOK, toolChanged, toolOK, toolDenied},
	} {
		if _, last := play(t, "tour", results...); !strings.Contains(last, "ends here") {
			t.Errorf("%d: says %q", n, last)
		}
	}
	// Stopping the long command does not spoil the end.
	_, last = play(t, "tour", toolOK, toolAdded, toolOK, toolChanged, toolOK, "Exit code: 143 (2.00 s, ended by SIGTERM)\nNo output.")
	if !strings.Contains(last, "which is fine") || !strings.Contains(last, "**6. That is it.**") {
		t.Errorf("says %q", last)
	}
}

// Everything that help lists is understood.
func TestDemoHelpIsTrue(t *testing.T) {
	n := 0
	for line := range strings.Lines(demoHelp) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for part := range strings.SplitSeq(strings.Split(line, "|")[1], " or ") {
			n++
			said := strings.Trim(part, " `")
			if s, ok := understand(said).(say); ok && s == say(demoUnknown) {
				t.Errorf("%q is not understood", said)
			}
		}
	}
	for line := range strings.Lines(demoUnknown) {
		if said, ok := strings.CutPrefix(line, "- "); ok {
			n++
			if s, ok := understand(strings.Trim(said, "`\n")).(say); ok && s == say(demoUnknown) {
				t.Errorf("%q is not understood", said)
			}
		}
	}
	if n < 17 {
		t.Errorf("only %d examples", n)
	}
}

func TestDemoWithoutToolsSumsUp(t *testing.T) {
	req := Request{Input: []Entry{
		{Kind: EntryUser, Text: "run `make`\nplease"},
		{Kind: EntryCall, CallID: "a", Name: "exec_command", Args: "{}"},
		{Kind: EntryResult, CallID: "a", Text: "Exit code: 0 (1.00 s)"},
		{Kind: EntryUser, Text: "Sum the conversation up."},
	}}
	out := stream(t, demo{}.Open(DemoModel), req)
	want := "Summary by the scripted demo (no AI). The user asked, in this order:\n- run `make`\n\n1 tool calls were made; their effects are in the workspace."
	if len(out.Output) != 1 || out.Output[0].Text != want {
		t.Errorf("got %+v", out.Output)
	}
}

func TestDemoReasonsForShow(t *testing.T) {
	out := stream(t, demo{}.Open(DemoModel), Request{Tools: demoTools, Input: ask("think").Input})
	if len(out.Output) != 2 || out.Output[0].Kind != EntryReasoning || out.Output[1].Kind != EntryAssistant {
		t.Fatalf("got %+v", out.Output)
	}
	for _, want := range []string{"## ", "\n- ", "\n1. ", "| :--- |", "```go\n", "```python\n", "```diff\n", "\n> "} {
		if !strings.Contains(out.Output[1].Text, want) {
			t.Errorf("the long answer has no %q", want)
		}
	}
	if out.Usage != (protocol.Usage{}) {
		t.Errorf("usage %+v: nothing is paid for", out.Usage)
	}
}

func TestDemoPaceAndStop(t *testing.T) {
	slow := demo{pace: 5 * time.Millisecond}.Open(DemoModel)
	began := time.Now()
	stream(t, slow, Request{Tools: demoTools, Input: ask("hello").Input})
	if took, least := time.Since(began), 5*time.Millisecond*time.Duration(len(words(demoHello))); took < least {
		t.Errorf("took %v, want at least %v", took, least)
	}
	ctx, cancel := withContext(t)
	defer cancel()
	r := recorder{cancel: cancel}
	within(t, 5*time.Second, func() {
		_, err := demo{pace: time.Hour}.Open(DemoModel).Stream(ctx, Request{Tools: demoTools, Input: ask("think").Input}, r.sink)
		faultOf(t, err, protocol.ClassCancelled)
	})
	if len(r.deltas) != 1 {
		t.Errorf("%d deltas", len(r.deltas))
	}
}

func TestPiecesKeepRunes(t *testing.T) {
	text := strings.Repeat("é漢", 40)
	for _, p := range pieces(text) {
		if strings.ContainsRune(p, '\uFFFD') {
			t.Fatal("a rune was cut")
		}
	}
	if strings.Join(pieces(text), "") != text || fmt.Sprint(pieces("")) != "[]" {
		t.Error("something was lost")
	}
}
