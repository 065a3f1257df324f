package backend_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A tree is the project's source as the architecture rules see it: read from the files, not
// from `go list`, so that files for other systems and other build tags count too.
type tree struct {
	goset *token.FileSet
	files []*sourceFile
	ours  map[string]bool // imports that are folders of this module
}

// A sourceFile is one hand-written source file. Generated files are not in a tree.
type sourceFile struct {
	path    string // from the project's root, with slashes
	pkg     string // its folder: "backend/store", "." for the root
	test    bool
	lines   int
	ast     *ast.File // nil for files that are not Go
	imports []string  // import paths; those of this module as folders: "backend/store"
}

// isMain tells whether the file belongs to a program and not to a library.
func (f *sourceFile) isMain() bool { return f.ast != nil && f.ast.Name.Name == "main" }

// standard tells whether an import is of the standard library.
func (t *tree) standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !t.ours[imported] && !strings.Contains(first, ".") && imported != "C"
}

var (
	skippedFolders = []string{"node_modules", "dist", "wailsjs", "testdata", "cache", "bin"}
	sourceEndings  = []string{".go", ".ts", ".js", ".svelte", ".css", ".sh"}
)

// readTree reads every hand-written source file below fsys, but for other modules' folders.
func readTree(fsys fs.FS, module string) (*tree, error) {
	t := &tree{goset: token.NewFileSet(), ours: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, err := fs.Stat(fsys, path.Join(name, "go.mod"))
			hidden := strings.HasPrefix(entry.Name(), ".") // .git, caches of tools
			if name != "." && (hidden || err == nil || slices.Contains(skippedFolders, entry.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(sourceEndings, path.Ext(name)) {
			return nil
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := t.parse(name, content, module)
		if f != nil {
			t.files = append(t.files, f)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	return t, nil
}

// parse returns nil for a generated file.
func (t *tree) parse(name string, content []byte, module string) (*sourceFile, error) {
	f := &sourceFile{
		path:  name,
		pkg:   path.Dir(name),
		test:  strings.HasSuffix(name, "_test.go") || strings.Contains(name, ".test.") || strings.Contains(name, ".spec."),
		lines: bytes.Count(content, []byte("\n")),
	}
	if path.Ext(name) != ".go" {
		return f, nil
	}
	var err error
	f.ast, err = parser.ParseFile(t.goset, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(f.ast) {
		return nil, nil
	}
	for _, i := range f.ast.Imports {
		imported := strings.Trim(i.Path.Value, `"`)
		if imported == module || strings.HasPrefix(imported, module+"/") {
			imported = path.Join(".", strings.TrimPrefix(imported, module)) // the folder; "." is the root
			t.ours[imported] = true
		}
		f.imports = append(f.imports, imported)
	}
	return f, nil
}

// library returns the Go files that are not tests.
func (t *tree) library() []*sourceFile {
	return slices.DeleteFunc(slices.Clone(t.files), func(f *sourceFile) bool { return f.test || f.ast == nil })
}

// at gives a position as "file:line".
func (t *tree) at(n ast.Node) string {
	p := t.goset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// matches tells whether a folder or import path is what pattern names: itself, or with
// "/..." at the end it and all below it.
func matches(name string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if top, all := strings.CutSuffix(pattern, "/..."); all {
			return name == top || strings.HasPrefix(name, top+"/")
		}
		return name == pattern
	})
}

// reach returns a chain of imports, tests apart, from the folder to one that matches the
// patterns, or nil when there is none.
func (t *tree) reach(from string, patterns ...string) []string {
	came := map[string]string{from: ""}
	queue := []string{from}
	for len(queue) > 0 {
		pkg := queue[0]
		queue = queue[1:]
		for _, f := range t.library() {
			if f.pkg != pkg {
				continue
			}
			for _, imported := range f.imports {
				if _, seen := came[imported]; seen {
					continue
				}
				came[imported] = pkg
				if matches(imported, patterns...) {
					chain := []string{imported}
					for p := pkg; p != ""; p = came[p] {
						chain = append([]string{p}, chain...)
					}
					return chain
				}
				if t.ours[imported] {
					queue = append(queue, imported)
				}
			}
		}
	}
	return nil
}

// calls returns where the file uses one of the functions of an imported package, as
// "time.Now at file:line". It goes by the name under which the file imports the package.
func (t *tree) calls(f *sourceFile, imported string, functions ...string) []string {
	name := path.Base(imported)
	found := false
	for _, i := range f.ast.Imports {
		if strings.Trim(i.Path.Value, `"`) == imported {
			found = true
			if i.Name != nil {
				name = i.Name.Name
			}
		}
	}
	if !found {
		return nil
	}
	var out []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == name && slices.Contains(functions, s.Sel.Name) {
			out = append(out, fmt.Sprintf("%s.%s at %s", name, s.Sel.Name, t.at(s)))
		}
		return true
	})
	return out
}
