package llm

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// The arguments of the tools, as they ask for them.
type (
	execArgs struct {
		Cmd     string `json:"cmd"`
		YieldMs int    `json:"yield_time_ms,omitempty"`
	}
	stdinArgs struct {
		Session string `json:"session_id"`
		YieldMs int    `json:"yield_time_ms,omitempty"`
	}
	patchArgs struct {
		Patch string `json:"patch"`
	}
	pathArgs struct {
		Path string `json:"path"`
	}
)

func execute(cmd string) demoCall {
	return demoCall{"exec_command", execArgs{Cmd: cmd}}
}

func patch(lines ...string) demoCall {
	all := append([]string{"*** Begin Patch"}, lines...)
	return demoCall{"apply_patch", patchArgs{strings.Join(append(all, "*** End Patch"), "\n")}}
}

// shellQuote makes one word of the shell of any text.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// prefixed puts a sign before each line.
func prefixed(sign, text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = sign + lines[i]
	}
	return lines
}

func code(s string) string { return "`" + s + "`" }

// say answers with a fixed text and is done.
type say string

func (t say) next(scene) reply { return reply{text: string(t)} }

// denial answers a step that the user did not allow.
func denial(what string) reply {
	return reply{text: "You denied it, so " + what + ". Say what you want instead."}
}

// problem answers a step that did not work, with the tool's own words.
func problem(what string, r demoResult) reply {
	return reply{text: what + " The tool says:\n\n" + fence("", r.text, 12)}
}

// createScript makes a file. One that exists is replaced by the same patch: the
// tool tells which it was.
type createScript struct{ file, content string }

func (c createScript) next(s scene) reply {
	r, ok := s.last()
	switch {
	case !ok:
		add := append([]string{"*** Add File: " + c.file}, prefixed("+", c.content)...)
		return reply{text: "I create " + code(c.file) + ".", calls: []demoCall{patch(add...)}}
	case r.denied():
		return denial("nothing was written")
	case !r.patched():
		return problem(code(c.file)+" was not written.", r)
	case strings.Contains(r.text, "\nM "):
		return reply{text: code(c.file) + " was there before; it now has the new content (" + size(c.content) + "). The card above opens the difference."}
	default:
		return reply{text: "Created " + code(c.file) + " (" + size(c.content) + "). It is a real file in the workspace: see it in the pane at the right, or say `read " + c.file + "`."}
	}
}

// appendScript adds lines at the end of a file, or makes it.
type appendScript struct{ file, content string }

func (a appendScript) next(s scene) reply {
	lines := prefixed("+", a.content)
	switch r, ok := s.last(); {
	case !ok:
		update := append([]string{"*** Update File: " + a.file, "@@"}, lines...)
		return reply{
			text:  "I add " + count(len(lines), "line") + " at the end of " + code(a.file) + ".",
			calls: []demoCall{patch(append(update, "*** End of File")...)},
		}
	case r.denied():
		return denial(code(a.file) + " is as it was")
	case r.patched() && len(s.results) == 1:
		return reply{text: "Added to the end of " + code(a.file) + ". The card above opens the difference."}
	case r.patched():
		return reply{text: "There was no " + code(a.file) + ", so I created it with that text."}
	case len(s.results) == 1 && r.missing():
		return reply{
			text:  "There is no " + code(a.file) + " yet. I create it.",
			calls: []demoCall{patch(append([]string{"*** Add File: " + a.file}, lines...)...)},
		}
	default:
		return problem(code(a.file)+" was not changed.", r)
	}
}

// replaceScript changes a text in a file: it looks for the lines, then patches
// exactly them.
type replaceScript struct{ old, new, file string }

// maxReplaced is how many lines one replacement changes.
const maxReplaced = 50

var grepLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\d+:(.*)$`) })

func (c replaceScript) next(s scene) reply {
	if strings.Contains(c.old, "\n") {
		return reply{text: "I replace text within lines only. Name one line's text, or edit the file with another model."}
	}
	switch r, ok := s.last(); {
	case !ok:
		return reply{
			text:  "I look for " + code(c.old) + " in " + code(c.file) + ".",
			calls: []demoCall{execute("grep -nF -e " + shellQuote(c.old) + " -- " + shellQuote(c.file))},
		}
	case r.denied():
		return denial(code(c.file) + " is as it was")
	case len(s.results) == 1:
		return c.change(r)
	case r.patched():
		return reply{text: "Replaced in " + code(c.file) + ". The card above opens the difference."}
	default:
		return problem(code(c.file)+" was not changed.", r)
	}
}

func (c replaceScript) change(found demoResult) reply {
	exit, ended := found.exit()
	matches := grepLine().FindAllStringSubmatch(found.output(), -1)
	switch {
	case ended && exit == 1:
		return reply{text: "There is no " + code(c.old) + " in " + code(c.file) + ", so nothing was changed."}
	case !ended || exit != 0 || len(matches) == 0:
		return problem("I could not look into "+code(c.file)+".", found)
	case len(matches) > maxReplaced:
		return reply{text: count(len(matches), "line") + " of " + code(c.file) + " have it; I change at most " + strconv.Itoa(maxReplaced) + " at once, so nothing was changed."}
	}
	lines := []string{"*** Update File: " + c.file}
	for _, m := range matches {
		lines = append(lines, "@@", "-"+m[1])
		lines = append(lines, prefixed("+", strings.ReplaceAll(m[1], c.old, c.new))...)
	}
	return reply{text: "Found in " + count(len(matches), "line") + ". I change " + them(len(matches)) + " with a patch.", calls: []demoCall{patch(lines...)}}
}

// deleteScript deletes a file.
type deleteScript struct{ file string }

func (d deleteScript) next(s scene) reply {
	switch r, ok := s.last(); {
	case !ok:
		return reply{text: "I delete " + code(d.file) + ".", calls: []demoCall{patch("*** Delete File: " + d.file)}}
	case r.denied():
		return denial(code(d.file) + " is still there")
	case r.patched():
		return reply{text: "Deleted " + code(d.file) + "."}
	default:
		return problem(code(d.file)+" was not deleted.", r)
	}
}

// readScript shows a file.
type readScript struct{ file string }

// readMark is the line that read_file puts before what it read.
var readMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^.*(, lines \d[^\n]*:\n| is a folder with [^\n]*:\n| is empty\.$)`)
})

func (c readScript) next(s scene) reply {
	r, ok := s.last()
	if !ok {
		return reply{calls: []demoCall{{"read_file", pathArgs{c.file}}}}
	}
	mark := readMark().FindString(r.text)
	switch content := r.text[len(mark):]; {
	case r.denied():
		return denial(code(c.file) + " was not read")
	case mark == "":
		return problem("I could not read "+code(c.file)+".", r)
	case content == "":
		return reply{text: code(c.file) + " is empty."}
	default:
		return reply{text: "This is " + code(c.file) + ":\n\n" + fence("", content, 60)}
	}
}

// viewScript looks at an image.
type viewScript struct{ file string }

var pixelMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d × \d+ pixels`) })

func (c viewScript) next(s scene) reply {
	switch r, ok := s.last(); {
	case !ok:
		return reply{calls: []demoCall{{"view_image", pathArgs{c.file}}}}
	case r.denied():
		return denial(code(c.file) + " was not opened")
	case !pixelMark().MatchString(r.text):
		return problem("I could not open "+code(c.file)+".", r)
	default:
		return reply{text: "The image is in the card above. A real model would now see it; this demo has no eyes, only a script."}
	}
}

// listScript lists a folder.
type listScript struct{ dir string }

func (l listScript) next(s scene) reply {
	cmd, where := "ls -la", "the workspace"
	if l.dir != "" && l.dir != "." {
		cmd, where = "ls -la -- "+shellQuote(l.dir), code(l.dir)
	}
	r, ok := s.last()
	if !ok {
		return reply{calls: []demoCall{execute(cmd)}}
	}
	exit, ended := r.exit()
	switch {
	case r.denied():
		return denial("nothing was listed")
	case !ended || exit != 0:
		return problem("I could not list "+where+".", r)
	default:
		return reply{text: "This is in " + where + ":\n\n" + fence("", r.output(), 60)}
	}
}

// missing tells whether a patch failed because a file is not there.
func (r demoResult) missing() bool { return strings.Contains(r.text, "there is no such file") }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// size says how much a file with this text is: its last line ends, too.
func size(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return count(strings.Count(text, "\n")+1, "line") + ", " + strconv.Itoa(len(text)+1) + " bytes"
}
