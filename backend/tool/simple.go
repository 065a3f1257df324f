package tool

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is one program with its arguments, as far as they are known.
type command struct {
	prog string
	args []word
	j    *judge
}

// simple judges one program call.
func (j *judge) simple(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		// Variables change what programs do (PATH, LD_PRELOAD, PAGER, …).
		j.find(setsVariables)
		j.word(a.Value)
		if a.Array != nil || a.Index != nil {
			j.find(unclear)
		}
	}
	if len(c.Args) == 0 {
		return
	}
	words := make([]word, len(c.Args))
	for i, a := range c.Args {
		words[i] = j.word(a)
	}
	j.call(words)
}

func (j *judge) call(words []word) {
	first := words[0]
	if !first.known || first.glob || first.home || first.text == "" {
		j.find(unclear)
		return
	}
	c := command{prog: first.text, args: words[1:], j: j}
	if strings.Contains(c.prog, "/") {
		dir, base := path.Split(c.prog)
		switch dir {
		case "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/":
			c.prog = base
		default:
			j.ownProgram(c)
			return
		}
	}
	if inner, ok := unwrapProgram(c); ok {
		if len(inner) == 0 {
			j.find(unclear)
			return
		}
		j.call(inner)
		return
	}
	why := judgeKnown(c)
	if why == harmless {
		return
	}
	j.worst = max(j.worst, why, outsideArgs(c))
	if p := prefixOf(c); p != "" {
		j.prefixes = append(j.prefixes, p)
	} else {
		j.trusted = false
	}
}

// ownProgram judges a program that is called by its path.
func (j *judge) ownProgram(c command) {
	w := word{text: c.prog, known: true}
	if _, ok := j.resolve(w); !ok {
		j.find(max(runsProgram, outsideArgs(c)))
		return
	}
	j.worst = max(j.worst, runsProgram, outsideArgs(c))
	if p := prefixOf(c); p != "" && !j.moved {
		j.prefixes = append(j.prefixes, p)
	} else {
		j.trusted = false
	}
}

// outsideArgs tells whether a program that changes files is given one outside
// the workspace, or one that something runs by itself.
func outsideArgs(c command) reason {
	switch c.prog {
	case "mkdir", "touch", "cp", "mv", "ln", "tee", "chmod", "chown", "truncate", "install", "rsync", "unzip":
		for _, a := range c.args {
			if strings.HasPrefix(a.text, "-") && !strings.Contains(a.text, "/") {
				continue
			}
			rel, ok := c.j.resolve(a)
			switch {
			case !ok && (a.known || a.home):
				return writesOutside
			case ok && runsByItself(rel) != "":
				return selfRunning
			}
		}
	}
	return harmless
}

// unwrapProgram takes away programs that only run another one.
func unwrapProgram(c command) ([]word, bool) {
	rest := c.args
	option := func() bool { return len(rest) > 0 && rest[0].known && strings.HasPrefix(rest[0].text, "-") }
	switch c.prog {
	case "timeout":
		for option() {
			switch o := rest[0].text; {
			case o == "-k" || o == "-s" || o == "--kill-after" || o == "--signal":
				rest = rest[min(2, len(rest)):]
			case o == "--foreground" || o == "--preserve-status" || o == "-v" || strings.HasPrefix(o, "--kill-after=") || strings.HasPrefix(o, "--signal="):
				rest = rest[1:]
			default:
				return nil, true
			}
		}
		if len(rest) < 2 || !rest[0].known || rest[0].text == "" || strings.Trim(rest[0].text, "0123456789.smhd") != "" {
			return nil, true
		}
		return rest[1:], true
	case "nice":
		if option() && rest[0].text == "-n" {
			rest = rest[min(2, len(rest)):]
		}
	case "nohup", "time":
	case "command":
		if option() && (rest[0].text == "-v" || rest[0].text == "-V") {
			return nil, false // looks a program up
		}
	default:
		return nil, false
	}
	if option() {
		return nil, true
	}
	return rest, true
}
