// Package backend_test holds the architecture of the project as a test: each rule with the
// reason for it, run over the real source, and (arch_rules_test.go) shown to fail on source
// that breaks it.
package backend_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	moduleName = "temporal-sandbox-agent"
	maxLines   = 500
)

// A rule is one sentence about the whole source. check returns what breaks it, one line each.
type rule struct {
	name   string
	reason string
	check  func(t *tree) []string
}

// wired are the implementations behind the contracts, put together in one place.
var wired = []string{
	"backend/engine/...", "backend/workflow/...", "backend/activity/...",
	"sandbox/local/...", "sandbox/docker/...", "sandbox/e2b/...", "sandbox/daytona/...",
}

// vendors says which folders may know a library that belongs to one part of the house.
var vendors = []struct {
	library string
	users   []string
	reason  string
}{
	{"github.com/openai/openai-go/...", []string{"backend/llm/..."}, "models are reached through llm.Model, so that another API is one more file there"},
	{"github.com/docker/docker/...", []string{"sandbox/docker/..."}, "Docker is one sandbox among others"},
	{"github.com/wailsapp/wails/...", []string{"."}, "the backend runs without a window: in the command line, in a worker, in tests"},
	{"go.temporal.io/server/...", []string{"backend/engine/..."}, "the embedded server is the engine's secret; others dial it as they would any cluster"},
	{"github.com/temporalio/ui-server/...", []string{"backend/engine/..."}, "developer tools are the engine's"},
	{"github.com/zalando/go-keyring/...", []string{"backend/config/..."}, "keys are read in one place, which knows what to do without a keyring"},
	{"github.com/spf13/cobra/...", []string{".", "backend/cli/..."}, "only the command line parses command lines"},
	{"github.com/adrg/xdg/...", []string{"backend/config/..."}, "paths are decided once, so that a data folder can be moved as a whole"},
	{"github.com/joho/godotenv/...", []string{"backend/config/..."}, "settings are read in one place"},
	{"modernc.org/sqlite/...", []string{"backend/store/...", "backend/engine/..."}, "each database has one owner"},
	{"gocloud.dev/...", []string{"backend/store/..."}, "a bucket is one way to keep objects"},
	{"github.com/creack/pty/...", []string{"sandbox/journal/...", "sandbox/local/..."}, "terminals are made where processes are"},
}

// allowedGlobals are package-level variables that change, with the reason for each.
var allowedGlobals = map[string]string{
	"..version": "the linker writes it: -X main.version",
}

// allowedContexts are files that make a context of their own, with the reason for each.
var allowedContexts = map[string]string{
	"sandbox/journal/holder.go":   "the main of a process of its own, which holds a command's terminal",
	"backend/engine/logbridge.go": "Temporal's logger is called without a context, and slog asks for one",
}

func rules() []rule {
	list := []rule{
		{
			"protocol is plain data",
			"workflows, client and window share it: what it imports, all of them would",
			only("backend/protocol/..."),
		},
		{
			"the store knows its driver and nothing else",
			"everything else is kept in it, so nothing else can be below it",
			only("backend/store/...", "modernc.org/sqlite/...", "gocloud.dev/...", "github.com/klauspost/compress/...", "github.com/gofrs/flock"),
		},
		{
			"sandboxes don't know the backend",
			"the contract and its implementations are a library that others can use and test alone",
			never([]string{"sandbox/..."}, "backend/..."),
		},
		{
			"the sandbox contract knows no implementation, and no implementation another",
			"adding or dropping one must touch its folder and backend.go only",
			sandboxesApart,
		},
		{
			"workflows import the protocol and Temporal's workflow packages only",
			"a workflow is replayed, perhaps by next year's version: what it calls must answer the same again",
			only("backend/workflow/...", "backend/protocol/...", "go.temporal.io/sdk/workflow", "go.temporal.io/sdk/temporal",
				"go.temporal.io/sdk/log", "go.temporal.io/api/enums/..."),
		},
		{
			"workflows are deterministic",
			"time, chance, goroutines and the outside world differ between the run and its replay",
			deterministic,
		},
		{
			"snapshots know the store and no sandbox",
			"they see files through a narrow interface, so that every backend gets them for nothing",
			onlyOurs("backend/snapshot/...", "backend/store/...", "backend/protocol/..."),
		},
		{
			"only backend.go wires",
			"there is one place to read what the app is made of, and one to change it; beside it only the engine is asked how it is",
			wiredInOnePlace,
		},
		{
			"only programs and the command line import the composition root",
			"what imports it imports everything",
			onlyPrograms("backend", "backend/cli/..."),
		},
		{
			"only app.go talks to the window",
			"bindings stay thin and the rest testable without a display",
			windowInOneFile,
		},
		{
			fmt.Sprintf("no source file is longer than %d lines", maxLines),
			"one concept a file, findable by its name",
			shortFiles,
		},
		{
			"contexts are passed down",
			"a context made below main can't be cancelled by quitting",
			noCalls(allowedContexts, "context", "Background", "TODO"),
		},
		{
			"only programs end the process",
			"a library that exits skips everybody's clean-up",
			noCalls(nil, "os", "Exit"),
		},
		{
			"no state at package level",
			"two backends in one process, as tests have them, must not share anything",
			func(t *tree) []string { return mutableGlobals(t, allowedGlobals) },
		},
		{
			"typed data across every seam",
			"a map[string]any can't be read, checked or renamed",
			typedSeams,
		},
	}
	for _, v := range vendors {
		list = append(list, rule{strings.TrimSuffix(v.library, "/...") + " is known to " + strings.Join(v.users, ", ") + " only", v.reason, onlyIn(v.library, v.users...)})
	}
	return list
}

func TestArchitecture(t *testing.T) {
	source, err := readTree(os.DirFS(".."), moduleName)
	if err != nil {
		t.Fatal(err)
	}
	if len(source.library()) == 0 {
		t.Fatal("no source found: the test looks at the wrong folder")
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, broken := range r.check(source) {
				t.Errorf("%s\n\tbecause %s", broken, r.reason)
			}
		})
	}
}

// only: the packages import the standard library, themselves and what is allowed.
func only(pkgs string, allowed ...string) func(*tree) []string {
	return func(t *tree) []string {
		return imports(func(f *sourceFile, imported string) bool {
			return matches(f.pkg, pkgs) && !t.standard(imported) && !matches(imported, append(allowed, pkgs)...)
		})(t)
	}
}

// onlyOurs: of this module, the packages import themselves and what is allowed.
func onlyOurs(pkgs string, allowed ...string) func(*tree) []string {
	return func(t *tree) []string {
		return imports(func(f *sourceFile, imported string) bool {
			return matches(f.pkg, pkgs) && t.ours[imported] && !matches(imported, append(allowed, pkgs)...)
		})(t)
	}
}

// onlyIn: a library is imported in these folders only.
func onlyIn(library string, users ...string) func(*tree) []string {
	return imports(func(f *sourceFile, imported string) bool {
		return matches(imported, library) && !matches(f.pkg, users...)
	})
}

// onlyPrograms: a package is imported by programs and what is allowed only.
func onlyPrograms(pkg string, allowed ...string) func(*tree) []string {
	return imports(func(f *sourceFile, imported string) bool {
		return imported == pkg && !f.isMain() && !matches(f.pkg, allowed...)
	})
}

// imports collects the imports of files that are not tests for which broken says so.
func imports(broken func(f *sourceFile, imported string) bool) func(*tree) []string {
	return func(t *tree) []string {
		var out []string
		for _, f := range t.library() {
			for _, imported := range f.imports {
				if broken(f, imported) {
					out = append(out, fmt.Sprintf("%s imports %s", f.path, imported))
				}
			}
		}
		return out
	}
}

// never: the packages don't reach what is denied, directly or through others of this module.
func never(pkgs []string, denied ...string) func(*tree) []string {
	return func(t *tree) []string {
		var out []string
		var seen []string
		for _, f := range t.library() {
			if !matches(f.pkg, pkgs...) || slices.Contains(seen, f.pkg) {
				continue
			}
			seen = append(seen, f.pkg)
			if chain := t.reach(f.pkg, denied...); chain != nil {
				out = append(out, strings.Join(chain, " imports "))
			}
		}
		return out
	}
}

func sandboxesApart(t *tree) []string {
	implementations := []string{"sandbox/local/...", "sandbox/docker/...", "sandbox/e2b/...", "sandbox/daytona/..."}
	out := never([]string{"sandbox", "sandbox/journal/...", "sandbox/sandboxtest/..."}, implementations...)(t)
	for _, own := range implementations {
		others := slices.DeleteFunc(slices.Clone(implementations), func(i string) bool { return i == own })
		out = append(out, never([]string{own}, others...)(t)...)
	}
	return out
}

func deterministic(t *tree) []string {
	out := imports(func(f *sourceFile, imported string) bool {
		return matches(f.pkg, "backend/workflow/...") && matches(imported, "os/...", "net/...", "database/...", "math/rand/...",
			"crypto/rand", "sync/...", "log/...", "io/fs", "path/filepath", "unsafe")
	})(t)
	for _, f := range t.library() {
		if !matches(f.pkg, "backend/workflow/...") {
			continue
		}
		out = append(out, t.calls(f, "time", "Now", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Since", "Until")...)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt:
				out = append(out, "go statement at "+t.at(n))
			case *ast.SelectStmt:
				out = append(out, "select statement at "+t.at(n))
			case *ast.ChanType:
				out = append(out, "channel at "+t.at(n))
			}
			return true
		})
	}
	return out
}

func wiredInOnePlace(t *tree) []string {
	return imports(func(f *sourceFile, imported string) bool {
		// A package may have parts below it, which it uses itself.
		inside := slices.ContainsFunc(wired, func(w string) bool { return matches(f.pkg, w) && matches(imported, w) })
		asks := f.pkg == "backend" && matches(imported, "backend/engine/...")
		// The benchmark measures what a snapshot of a folder costs, without the rest.
		measures := f.pkg == "build/bench" && imported == "sandbox/local"
		return matches(imported, wired...) && f.path != "backend/backend.go" && !inside && !asks && !measures
	})(t)
}

func windowInOneFile(t *tree) []string {
	return imports(func(f *sourceFile, imported string) bool {
		return matches(imported, "github.com/wailsapp/wails/v2/pkg/runtime") && f.path != "app.go"
	})(t)
}

func shortFiles(t *tree) []string {
	var out []string
	for _, f := range t.files {
		if !f.test && f.lines > maxLines {
			out = append(out, fmt.Sprintf("%s has %d lines", f.path, f.lines))
		}
	}
	return out
}

// noCalls: outside programs and tests nobody calls these functions.
func noCalls(allowed map[string]string, pkg string, functions ...string) func(*tree) []string {
	return func(t *tree) []string {
		var out []string
		for _, f := range t.library() {
			if _, ok := allowed[f.path]; !ok && !f.isMain() {
				out = append(out, t.calls(f, pkg, functions...)...)
			}
		}
		return out
	}
}

// typedSeams looks at what other packages can see: the signatures of exported functions and
// the fields of exported types.
func typedSeams(t *tree) []string {
	var out []string
	for _, f := range t.library() {
		for _, decl := range f.ast.Decls {
			var visible ast.Node
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() {
					visible = d.Type
				}
			case *ast.GenDecl:
				if d.Tok == token.TYPE && d.Specs[0].(*ast.TypeSpec).Name.IsExported() {
					visible = d
				}
			}
			if visible == nil {
				continue
			}
			ast.Inspect(visible, func(n ast.Node) bool {
				if m, ok := n.(*ast.MapType); ok && untyped(m.Value) {
					out = append(out, "map of any value at "+t.at(m))
				}
				return true
			})
		}
	}
	return out
}

func untyped(e ast.Expr) bool {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name == "any"
	}
	i, ok := e.(*ast.InterfaceType)
	return ok && len(i.Methods.List) == 0
}
