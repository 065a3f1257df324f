package tool

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument as far as it is known before it runs.
type word struct {
	// text is what the program gets, if known is true, but for globs.
	text  string
	known bool
	// glob is true if file names take the place of the word, wild if they may
	// begin with anything, as a "-" would.
	glob, wild bool
	// splits is true if it may become more words than one.
	splits bool
	// home is true if it leads to somebody's home folder.
	home bool
	// file is true if it is known but for the name of a file in the workspace,
	// for which text has "file".
	file bool
	// secret is true if it holds the value of a variable that is not known to
	// be harmless to show.
	secret bool
}

// is tells whether the word is just this text.
func (w word) is(text string) bool { return w.known && !w.glob && w.text == text }

// word evaluates a word. Commands inside of it are judged.
func (j *judge) word(w *syntax.Word) word {
	out := word{known: true}
	if w == nil {
		return out
	}
	for i, part := range w.Parts {
		j.part(&out, part, i == 0, false)
	}
	if out.text == "[" { // the program, not a pattern
		out.glob, out.wild = false, false
	}
	return out
}

func (j *judge) part(out *word, part syntax.WordPart, first, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			out.text += unescapeQuoted(p.Value)
			return
		}
		j.literal(out, p.Value, first)
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			out.known = false
		}
		out.text += p.Value
	case *syntax.DblQuoted:
		if p.Dollar {
			out.known = false // translated
		}
		for i, inner := range p.Parts {
			j.part(out, inner, first && i == 0, true)
		}
	case *syntax.ParamExp:
		j.variable(out, p, quoted)
		out.splits = out.splits || !quoted
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			j.find(unclear)
		}
		j.stmts(p.Stmts)
		out.known = false
		out.splits = out.splits || !quoted
	case *syntax.ProcSubst:
		if p.Op != syntax.CmdIn {
			j.find(unclear)
		}
		// The word becomes the name of a pipe that holds what was judged.
		j.stmts(p.Stmts)
		out.text += "/dev/null"
	case *syntax.ArithmExp:
		j.arithmetic(p.X)
		out.known = false
	case *syntax.ExtGlob:
		out.glob, out.wild, out.known = true, true, false
	default:
		j.find(unclear)
		out.known = false
	}
}

// literal adds unquoted text.
func (j *judge) literal(out *word, s string, first bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
			if i < len(s) && s[i] != '\n' {
				out.text += s[i : i+1]
			}
			continue
		case '*', '?', '[':
			out.glob = true
			out.wild = out.wild || out.text == ""
		case '~':
			// Also after "=" and ":", where some shells expand it.
			if (first && i == 0) || (i > 0 && (s[i-1] == '=' || s[i-1] == ':')) || (i == 0 && strings.HasSuffix(out.text, "=")) {
				out.home = true
			}
		case '{':
			inner, _, closed := strings.Cut(s[i:], "}")
			if !closed || strings.Contains(inner, ",") || strings.Contains(inner, "..") {
				out.known = false // several words
			}
		}
		out.text += s[i : i+1]
	}
}

func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// variable adds $name. A form that does more than that may run anything.
func (j *judge) variable(out *word, p *syntax.ParamExp, quoted bool) {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil ||
		p.Names != 0 || p.Exp != nil || p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0 ||
		p.Split != syntax.OptUnset || p.GlobSubst != syntax.OptUnset || p.RcExpand != syntax.OptUnset {
		j.find(unclear)
		out.known, out.secret = false, true
		return
	}
	name := p.Param.Value
	out.known = false
	if v, ok := j.loops[name]; ok {
		if v.glob && !quoted {
			return // a name with spaces in it would fall into parts
		}
		if strings.HasSuffix(out.text, ".") {
			return // "." and the name may make ".."
		}
		out.file = true
		out.wild = out.wild || (out.text == "" && v.wild)
		out.text += "file"
		return
	}
	switch name {
	case "HOME":
		out.home = true
	case "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "HOSTNAME", "LANG", "PATH", "RANDOM", "SECONDS", "LINENO", "UID", "EUID",
		"PPID", "BASH_VERSION", "OSTYPE", "TERM", "?", "#", "$", "!":
	default:
		out.secret = true
	}
}

// arithmetic allows numbers only: a variable in an expression is evaluated as
// one itself and can run commands.
func (j *judge) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			if lit := n.Lit(); lit == "" || strings.Trim(lit, "0123456789") != "" {
				j.find(unclear)
			}
			return false
		case nil, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
			return true
		default:
			j.find(unclear)
			return false
		}
	})
}
