package backend_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// These calls make values that nobody can change afterwards.
var constantMakers = []string{
	"errors.New", "fmt.Errorf", "regexp.MustCompile", "strings.NewReplacer", "template.Must",
	"sync.OnceValue", "sync.OnceValues", "sync.OnceFunc", "time.Date", "bytes.Repeat", "strings.Repeat",
	"attribute.Key", "reflect.TypeFor", "reflect.TypeOf",
}

// mutableGlobals finds package-level variables that hold state: declared without a value,
// made to be filled, or written to anywhere in their package. Errors, compiled expressions,
// embedded files and tables that are only read are no state. It is a heuristic: it does not
// follow pointers or methods.
func mutableGlobals(t *tree, allowed map[string]string) []string {
	var out []string
	for _, f := range t.library() {
		for _, decl := range f.ast.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.VAR {
				continue
			}
			for _, s := range d.Specs {
				spec := s.(*ast.ValueSpec)
				if embedded(d.Doc) || embedded(spec.Doc) {
					continue
				}
				for i, name := range spec.Names {
					if _, ok := allowed[f.pkg+"."+name.Name]; ok || name.Name == "_" {
						continue
					}
					var value ast.Expr
					if i < len(spec.Values) {
						value = spec.Values[i]
					}
					if why := t.state(f.pkg, name.Name, value); why != "" {
						out = append(out, fmt.Sprintf("%s: variable %s %s", t.at(name), name.Name, why))
					}
				}
			}
		}
	}
	return out
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// state says why a variable is state, or nothing.
func (t *tree) state(pkg, name string, value ast.Expr) string {
	switch v := value.(type) {
	case nil:
		return "has no value of its own: something must fill it"
	case *ast.CallExpr:
		if !constant(v) {
			return "comes from a call that may make something changeable"
		}
	case *ast.UnaryExpr:
		if v.Op == token.AND {
			return "is a pointer: what it points to can be changed"
		}
	case *ast.CompositeLit:
		if s, ok := v.Type.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && (x.Name == "sync" || x.Name == "atomic") {
				return "is a lock or a counter"
			}
		}
	}
	for _, f := range t.library() {
		if f.pkg != pkg {
			continue
		}
		if at := t.written(f, name); at != "" {
			return "is changed at " + at
		}
	}
	return ""
}

// constant tells whether a call is a conversion or makes a value that can't be changed.
func constant(call *ast.CallExpr) bool {
	switch fun := call.Fun.(type) {
	case *ast.ArrayType: // []byte("…"), of which only the writes are looked for
		return true
	case *ast.SelectorExpr:
		x, ok := fun.X.(*ast.Ident)
		return ok && slices.Contains(constantMakers, x.Name+"."+fun.Sel.Name)
	}
	return false
}

// written finds a place where the file assigns to the package-level variable, to a part of it,
// or takes its address. A function that declares the name itself means its own variable.
func (t *tree) written(f *sourceFile, name string) string {
	at := ""
	for _, decl := range f.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil || declares(fn, name) {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			var targets []ast.Expr
			switch s := n.(type) {
			case *ast.AssignStmt:
				targets = s.Lhs
			case *ast.IncDecStmt:
				targets = []ast.Expr{s.X}
			case *ast.RangeStmt:
				targets = []ast.Expr{s.Key, s.Value}
			case *ast.UnaryExpr:
				if s.Op == token.AND {
					targets = []ast.Expr{s.X}
				}
			case *ast.CallExpr:
				if id, ok := s.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(s.Args) > 0 {
					targets = s.Args[:1]
				}
			}
			for _, target := range targets {
				if base(target) == name {
					at = t.at(n)
				}
			}
			return at == ""
		})
	}
	return at
}

// base returns the variable at the root of x, x[i], x.f, *x, x[i].f…
func base(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// declares tells whether a function has a parameter, a result or a variable of that name.
func declares(fn *ast.FuncDecl, name string) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		var names []ast.Expr
		switch s := n.(type) {
		case *ast.Field:
			for _, id := range s.Names {
				names = append(names, id)
			}
		case *ast.ValueSpec:
			for _, id := range s.Names {
				names = append(names, id)
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				names = s.Lhs
			}
		case *ast.RangeStmt:
			if s.Tok == token.DEFINE {
				names = []ast.Expr{s.Key, s.Value}
			}
		}
		for _, e := range names {
			if id, ok := e.(*ast.Ident); ok && id.Name == name {
				found = true
			}
		}
		return !found
	})
	return found
}
