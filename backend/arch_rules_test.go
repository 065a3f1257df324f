package backend_test

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// source makes a tree of files from "path", "content" pairs. In contents, OUR/ stands for this
// module.
func source(t *testing.T, pairs ...string) *tree {
	t.Helper()
	files := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(pairs[i+1], "OUR/", moduleName+"/"))}
	}
	s, err := readTree(files, moduleName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ruleNamed(t *testing.T, name string) rule {
	t.Helper()
	for _, r := range rules() {
		if strings.Contains(r.name, name) {
			return r
		}
	}
	t.Fatalf("no rule is named like %q", name)
	return rule{}
}

// lib is a Go file that imports the paths.
func lib(imports ...string) string {
	var b strings.Builder
	b.WriteString("package p\n")
	for _, i := range imports {
		fmt.Fprintf(&b, "import _ %q\n", i)
	}
	return b.String()
}

// Each rule is quiet on source that keeps it and speaks on source that breaks it.
func TestEachRuleCanFail(t *testing.T) {
	const workflow = "backend/workflow/w.go"
	tests := []struct {
		rule   string
		keeps  []string // files
		breaks []string
		says   string // part of what is said of breaks
	}{
		{
			"protocol is plain data",
			[]string{"backend/protocol/p.go", lib("time", "encoding/json")},
			[]string{"backend/protocol/p.go", lib("github.com/google/uuid")},
			"backend/protocol/p.go imports github.com/google/uuid",
		},
		{
			"the store knows its driver",
			[]string{"backend/store/s.go", lib("database/sql", "modernc.org/sqlite", "OUR/backend/store/blob"), "backend/store/blob/b.go", lib()},
			[]string{"backend/store/s.go", lib("OUR/backend/protocol"), "backend/protocol/p.go", lib()},
			"imports backend/protocol",
		},
		{
			"sandboxes don't know the backend",
			[]string{"sandbox/local/l.go", lib("OUR/sandbox"), "sandbox/s.go", lib()},
			[]string{"sandbox/local/l.go", lib("OUR/shared"), "shared/s.go", lib("OUR/backend/protocol"), "backend/protocol/p.go", lib()},
			"sandbox/local imports shared imports backend/protocol",
		},
		{
			"knows no implementation, and no implementation another",
			[]string{"sandbox/docker/d.go", lib("OUR/sandbox"), "sandbox/s.go", lib()},
			[]string{"sandbox/docker/d.go", lib("OUR/sandbox/local"), "sandbox/local/l.go", lib()},
			"sandbox/docker imports sandbox/local",
		},
		{
			"knows no implementation, and no implementation another",
			nil,
			[]string{"sandbox/s.go", lib("OUR/sandbox/local"), "sandbox/local/l.go", lib()},
			"sandbox imports sandbox/local",
		},
		{
			"workflows import the protocol",
			[]string{workflow, lib("time", "OUR/backend/protocol", "go.temporal.io/sdk/workflow"), "backend/protocol/p.go", lib()},
			[]string{workflow, lib("OUR/backend/llm"), "backend/llm/l.go", lib()},
			"imports backend/llm",
		},
		{
			"workflows import the protocol",
			nil,
			[]string{workflow, lib("go.temporal.io/sdk/client")},
			"imports go.temporal.io/sdk/client",
		},
		{
			"workflows are deterministic",
			[]string{workflow, "package p\nimport \"time\"\nconst day = 24 * time.Hour\n", "backend/engine/e.go", "package p\nimport \"time\"\nvar _ = time.Now()\n"},
			[]string{workflow, "package p\nimport clock \"time\"\nvar _ = clock.Now()\n"},
			"clock.Now at backend/workflow/w.go:3",
		},
		{"workflows are deterministic", nil, []string{workflow, "package p\nfunc f() { go f() }\n"}, "go statement"},
		{"workflows are deterministic", nil, []string{workflow, "package p\nfunc f(c chan int) {}\n"}, "channel"},
		{"workflows are deterministic", nil, []string{workflow, "package p\nfunc f() { select {} }\n"}, "select"},
		{"workflows are deterministic", nil, []string{workflow, lib("math/rand/v2")}, "math/rand/v2"},
		{
			"snapshots know the store",
			[]string{"backend/snapshot/s.go", lib("github.com/klauspost/compress/zstd", "OUR/backend/store"), "backend/store/s.go", lib()},
			[]string{"backend/snapshot/s.go", lib("OUR/sandbox"), "sandbox/s.go", lib()},
			"imports sandbox",
		},
		{
			"only backend.go wires",
			[]string{"backend/backend.go", lib("OUR/backend/engine", "OUR/sandbox/local"), "backend/engine/e.go", lib("OUR/backend/engine/part")},
			[]string{"backend/session/s.go", lib("OUR/backend/engine"), "backend/engine/e.go", lib()},
			"backend/session/s.go imports backend/engine",
		},
		{
			"only backend.go wires",
			[]string{"backend/status.go", lib("OUR/backend/engine"), "backend/engine/e.go", lib()},
			[]string{"backend/status.go", lib("OUR/sandbox/local"), "sandbox/local/l.go", lib()},
			"backend/status.go imports sandbox/local",
		},
		{
			"import the composition root",
			[]string{"main.go", "package main\nimport _ \"OUR/backend\"\n", "backend/backend.go", lib()},
			[]string{"sandbox/s.go", lib("OUR/backend"), "backend/backend.go", lib()},
			"sandbox/s.go imports backend",
		},
		{
			"only app.go talks to the window",
			[]string{"app.go", lib("github.com/wailsapp/wails/v2/pkg/runtime"), "main.go", lib("github.com/wailsapp/wails/v2")},
			[]string{"main.go", lib("github.com/wailsapp/wails/v2/pkg/runtime")},
			"main.go",
		},
		{
			"no source file is longer",
			[]string{"frontend/src/a.ts", strings.Repeat("\n", maxLines), "a_test.go", "package p\n" + strings.Repeat("\n", maxLines), "gen.go", "// Code generated by x. DO NOT EDIT.\n\npackage p\n" + strings.Repeat("\n", maxLines)},
			[]string{"frontend/src/A.svelte", strings.Repeat("\n", maxLines+1)},
			"frontend/src/A.svelte has 501 lines",
		},
		{
			"contexts are passed down",
			[]string{"main.go", "package main\nimport \"context\"\nvar _ = context.Background()\n", "a_test.go", "package p\nimport \"context\"\nvar _ = context.TODO()\n"},
			[]string{"backend/session/s.go", "package p\nimport \"context\"\nvar _ = context.Background()\n"},
			"context.Background at backend/session/s.go:3",
		},
		{
			"only programs end the process",
			[]string{"main.go", "package main\nimport \"os\"\nfunc main() { os.Exit(1) }\n"},
			[]string{"sandbox/s.go", "package p\nimport \"os\"\nfunc f() { os.Exit(1) }\n"},
			"os.Exit at sandbox/s.go:3",
		},
		{
			"typed data across every seam",
			[]string{"a.go", "package p\nfunc parse() map[string]any { return nil }\ntype T struct{ M map[string]string }\n"},
			[]string{"a.go", "package p\ntype T struct{ M map[string]interface{} }\n"},
			"a.go:2",
		},
		{"typed data across every seam", nil, []string{"a.go", "package p\nfunc Parse() []map[string]any { return nil }\n"}, "a.go:2"},
	}
	for _, v := range vendors {
		library := strings.TrimSuffix(v.library, "/...") + "/part"
		user := strings.TrimSuffix(v.users[0], "/...")
		tests = append(tests, struct {
			rule          string
			keeps, breaks []string
			says          string
		}{
			strings.TrimSuffix(v.library, "/...") + " is known to",
			[]string{path.Join(user, "a.go"), lib(library)},
			[]string{"elsewhere/a.go", lib(library)},
			"elsewhere/a.go imports " + library,
		})
	}
	tested := map[string]bool{"no state at package level": true} // by TestMutableGlobals
	for _, test := range tests {
		r := ruleNamed(t, test.rule)
		tested[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			if got := r.check(source(t, test.keeps...)); len(got) > 0 {
				t.Errorf("speaks on source that keeps it: %q", got)
			}
			got := r.check(source(t, test.breaks...))
			if len(got) == 0 {
				t.Fatal("is quiet on source that breaks it")
			}
			if !strings.Contains(strings.Join(got, "\n"), test.says) {
				t.Errorf("says %q, want %q in it", got, test.says)
			}
		})
	}
	for _, r := range rules() {
		if !tested[r.name] {
			t.Errorf("no example shows that this rule can fail: %s", r.name)
		}
		if r.reason == "" {
			t.Errorf("a rule without a reason: %s", r.name)
		}
	}
}

func TestMutableGlobals(t *testing.T) {
	tests := []struct {
		name, code string
		state      bool
	}{
		{"error", `import "errors"; var errGone = errors.New("gone")`, false},
		{"expression", `import "regexp"; var name = regexp.MustCompile("a+")`, false},
		{"interface check", `var _ interface{} = 1`, false},
		{"table", `var sizes = map[string]int{"a": 1}; func f() int { return sizes["a"] }`, false},
		{"embedded file", "import _ \"embed\"\n//go:embed a.txt\nvar text string", false},
		{"bytes", `var magic = []byte("x")`, false},
		{"shadowed by a local variable", `var n = 1; func f() int { n := 2; n++; return n }`, false},
		{"shadowed by a parameter", `var n = 1; func f(n int) int { n++; return n }`, false},
		{"declared only", `var n int`, true},
		{"lock", `import "sync"; var mu sync.Mutex`, true},
		{"lock as a value", `import "sync"; var mu = sync.Mutex{}`, true},
		{"made to be filled", `var seen = make(map[string]bool)`, true},
		{"pointer", `type T struct{ n int }; var shared = &T{}`, true},
		{"from an unknown call", `func load() int { return 1 }; var n = load()`, true},
		{"counted up", `var n = 1; func f() { n++ }`, true},
		{"assigned", `var n = 1; func f() { n = 2 }`, true},
		{"table written", `var sizes = map[string]int{}; func f() { sizes["a"] = 1 }`, true},
		{"field written", `type T struct{ n int }; var t = T{}; func f() { t.n = 1 }`, true},
		{"deleted from", `var sizes = map[string]int{}; func f() { delete(sizes, "a") }`, true},
		{"address taken", `var n = 1; func f() *int { return &n }`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := mutableGlobals(source(t, "a/a.go", "package a\n"+test.code+"\n"), nil)
			if (len(got) > 0) != test.state {
				t.Errorf("got %q, want state: %v", got, test.state)
			}
		})
	}
	t.Run("changed in another file of the package", func(t *testing.T) {
		s := source(t, "a/a.go", "package a\nvar n = 1\n", "a/b.go", "package a\nfunc f() { n = 2 }\n")
		if got := mutableGlobals(s, nil); len(got) != 1 || !strings.Contains(got[0], "a/b.go:2") {
			t.Errorf("got %q, want the write in a/b.go", got)
		}
	})
	t.Run("allowed with a reason", func(t *testing.T) {
		s := source(t, "a/a.go", "package a\nvar n int\n")
		if got := mutableGlobals(s, map[string]string{"a.n": "for this test"}); len(got) != 0 {
			t.Errorf("got %q, want nothing", got)
		}
	})
}
