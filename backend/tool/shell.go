package tool

import (
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxJudged is the longest command that is analysed, in bytes. Nobody reads a
// longer one either, and nesting costs stack.
const maxJudged = 8 << 10

// judge goes through a command line and notes all that makes it risky.
type judge struct {
	root string
	// dir is where the command runs, seen from the root; below is true if that
	// is not the root itself, moved if the command goes elsewhere.
	dir          string
	below, moved bool
	tty          bool

	loops map[string]loopVar

	worst reason
	// prefixes would allow the commands that are not harmless, if trusted is
	// true: nothing is in the command that no prefix stands for.
	prefixes []string
	trusted  bool
}

// loopVar is a variable that takes the names of files in the workspace. With
// glob they come from the disk; with wild they may begin with a "-".
type loopVar struct{ glob, wild bool }

func judgeCommand(cmd, workdir string, tty bool, root string) *judge {
	j := &judge{root: root, tty: tty, trusted: true, loops: map[string]loopVar{}}
	j.dir = "."
	if workdir != "" {
		dir, ok := within(root, workdir)
		if !ok {
			j.find(runsOutside)
		}
		j.dir, j.below = dir, dir != "."
	}
	if len(cmd) > maxJudged || strings.ContainsFunc(cmd, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f }) {
		j.find(unclear)
		return j
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd), "")
	if err != nil {
		j.find(unclear)
		return j
	}
	j.stmts(file.Stmts)
	return j
}

// find notes something that no prefix can allow.
func (j *judge) find(r reason) {
	j.worst = max(j.worst, r)
	j.trusted = false
}

func (j *judge) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		j.stmt(s)
	}
}

func (j *judge) stmt(s *syntax.Stmt) {
	if s.Coprocess || s.Disown {
		j.find(unclear)
	}
	before := len(j.prefixes)
	if s.Cmd != nil {
		j.command(s.Cmd)
	}
	_, simple := s.Cmd.(*syntax.CallExpr)
	// What an allowed program writes into a file of the workspace is allowed
	// with it; what a harmless one writes (echo) is not.
	covered := simple && len(j.prefixes) > before
	for i, r := range s.Redirs {
		j.redirect(r, covered, i == len(s.Redirs)-1 && (s.Cmd == nil || !s.Cmd.End().After(r.OpPos)))
	}
}

func (j *judge) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		j.simple(c)
	case *syntax.BinaryCmd:
		j.stmt(c.X)
		j.stmt(c.Y)
	case *syntax.Subshell:
		j.stmts(c.Stmts)
	case *syntax.Block:
		j.stmts(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			j.stmts(c.Cond)
			j.stmts(c.Then)
		}
	case *syntax.WhileClause:
		j.stmts(c.Cond)
		j.stmts(c.Do)
	case *syntax.ForClause:
		j.forLoop(c)
	case *syntax.CaseClause:
		j.word(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				j.word(p)
			}
			j.stmts(item.Stmts)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			j.stmt(c.Stmt)
		}
	case *syntax.TestClause:
		j.test(c.X)
	case *syntax.FuncDecl:
		// A function may take the name of a program that is judged elsewhere.
		j.find(unclear)
		j.stmt(c.Body)
	case *syntax.DeclClause:
		j.find(setsVariables)
		for _, a := range c.Args {
			j.word(a.Value)
		}
	default: // arithmetic, coprocesses
		j.find(unclear)
	}
}

var loopName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// forLoop judges a loop over words. The variable must not be one that programs
// look at (PATH); those are in capitals.
func (j *judge) forLoop(c *syntax.ForClause) {
	items, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || !items.InPos.IsValid() || !loopName.MatchString(items.Name.Value) {
		j.find(unclear)
		j.stmts(c.Do)
		return
	}
	v, safe := loopVar{}, true
	for _, item := range items.Items {
		w := j.word(item)
		v.glob = v.glob || w.glob
		v.wild = v.wild || w.wild || strings.HasPrefix(w.text, "-")
		safe = safe && w.known && j.inside(w) == harmless && !strings.ContainsAny(w.text, " \t\n")
	}
	if _, nested := j.loops[items.Name.Value]; safe && !nested {
		j.loops[items.Name.Value] = v
	} else {
		delete(j.loops, items.Name.Value) // nothing is known of it
	}
	j.stmts(c.Do)
	delete(j.loops, items.Name.Value)
}

// test judges [[ … ]]. Numbers are evaluated as expressions in it, which can
// run commands; so are the names of variables.
func (j *judge) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		j.word(x)
	case *syntax.ParenTest:
		j.test(x.X)
	case *syntax.UnaryTest:
		switch x.Op {
		case syntax.TsVarSet, syntax.TsRefVar, syntax.TsOptSet:
			j.find(unclear)
		}
		j.test(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			j.find(unclear)
		}
		j.test(x.X)
		j.test(x.Y)
	default:
		j.find(unclear)
	}
}

var (
	plainDelimiter = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	descriptor     = regexp.MustCompile(`^([0-9]+-?|-)$`)
)

// redirect judges a redirection; covered tells that an allowed program makes
// the output, last that nothing follows it.
func (j *judge) redirect(r *syntax.Redirect, covered, last bool) {
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		j.find(unclear)
	}
	w := j.word(r.Word)
	switch r.Op {
	case syntax.RdrIn:
		if reason := j.inside(w); reason != harmless {
			j.find(reason)
		} else if w.glob {
			j.find(unclear)
		}
	case syntax.DplIn, syntax.DplOut:
		if w.known && descriptor.MatchString(w.text) {
			return
		}
		j.writes(w, covered)
	case syntax.Hdoc, syntax.DashHdoc:
		if !plainDelimiter.MatchString(w.text) {
			j.find(unclear)
		}
		if body := j.hereDoc(r); body.secret {
			j.find(readsEnvironment)
		}
	case syntax.WordHdoc:
		if w.secret {
			j.find(readsEnvironment)
		}
	case syntax.RdrAll, syntax.AppAll:
		if !last {
			// A shell that does not know &> ends the command at the & and runs
			// what follows as another one.
			j.find(unclear)
		}
		j.writes(w, covered)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrInOut:
		j.writes(w, covered)
	default:
		j.find(unclear)
	}
}

func (j *judge) hereDoc(r *syntax.Redirect) word {
	for _, part := range r.Word.Parts {
		if _, ok := part.(*syntax.Lit); !ok {
			return word{} // a quoted delimiter: nothing in the text is special
		}
	}
	out := word{known: true}
	if r.Hdoc != nil {
		for _, part := range r.Hdoc.Parts {
			j.part(&out, part, false, true)
		}
	}
	return out
}

// writes judges output into a file.
func (j *judge) writes(w word, covered bool) {
	if w.is("/dev/null") || w.is("/dev/stdout") || w.is("/dev/stderr") {
		return
	}
	rel, ok := j.resolve(w)
	switch {
	case !w.known || w.glob || !ok:
		j.find(writesOutside)
	case runsByItself(rel) != "":
		j.find(selfRunning)
	case covered:
		j.worst = max(j.worst, changesFiles)
	default:
		j.find(changesFiles)
	}
}

// resolve returns the path of a known word, seen from the root. It is not ok if
// it leads out of the workspace or can't be told.
func (j *judge) resolve(w word) (string, bool) {
	if w.home {
		return "", false
	}
	p := w.text
	parent := false
	for part := range strings.SplitSeq(p, "/") {
		up := part == ".."
		// ".*" is the folder above too.
		if w.glob && strings.HasPrefix(part, ".") && strings.ContainsAny(part, "*?[") {
			up = true
		}
		parent = parent || up
	}
	absolute := path.IsAbs(p)
	if parent && (j.moved && !absolute || w.glob || w.file) {
		return "", false
	}
	if absolute {
		return within(j.root, p)
	}
	return within(j.root, path.Join(j.dir, p))
}

// inside judges a path that is read.
func (j *judge) inside(w word) reason {
	if !w.known && !w.file {
		if w.home {
			return readsOutside
		}
		return unclear
	}
	if _, ok := j.resolve(w); ok {
		return harmless
	}
	if !w.glob && !w.home && publicPath(path.Clean(w.text)) {
		return harmless
	}
	return readsOutside
}

// publicPath tells of paths outside the workspace that hold nothing private:
// the system's programs and their documentation.
func publicPath(p string) bool {
	switch p {
	case "/dev/null", "/etc/os-release", "/etc/debian_version", "/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg":
		return true
	}
	for _, dir := range []string{"/usr", "/bin", "/lib", "/lib64", "/sbin"} {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}
