package llm

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// scene is what the script acts upon: the last message, and what the tools gave
// back since.
type scene struct {
	text    string
	results []demoResult
}

// demoResult is a call of this turn with its result.
type demoResult struct {
	tool string
	text string
}

// demoReply decides what comes next. It keeps nothing: the conversation tells
// how far the script is.
func demoReply(req Request) reply {
	s := sceneOf(req.Input)
	if len(req.Tools) == 0 { // a summary or the like is asked for
		if isGreeting(s.text) {
			return reply{text: demoHello}
		}
		return reply{text: demoSummary(req.Input)}
	}
	return understand(s.text).next(s)
}

func sceneOf(in []Entry) scene {
	at := lastUser(in)
	var s scene
	if at < len(in) && in[at].Kind == EntryUser {
		s.text = strings.TrimSpace(in[at].Text)
	}
	tools := map[string]string{}
	for _, e := range in {
		if e.Kind == EntryCall {
			tools[e.CallID] = e.Name
		}
	}
	for _, e := range in[min(at, len(in)):] {
		if e.Kind == EntryResult {
			s.results = append(s.results, demoResult{tools[e.CallID], e.Text})
		}
	}
	return s
}

// last is the newest result; ok is false before the first.
func (s scene) last() (demoResult, bool) {
	if len(s.results) == 0 {
		return demoResult{}, false
	}
	return s.results[len(s.results)-1], true
}

var (
	exitLine    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^Exit code: (-?\d+)`) })
	sessionMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`session_id: ([A-Za-z0-9_-]+)`) })
	appliedMark = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(Patch applied:|The files are already as the patch wants)`)
	})
	deniedMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^the user (denied|declined|rejected)`) })
)

// exit is the exit code of a command that ended.
func (r demoResult) exit() (code int, ok bool) {
	m := exitLine().FindStringSubmatch(r.head())
	if m == nil {
		return 0, false
	}
	code, err := strconv.Atoi(m[1])
	return code, err == nil
}

// running is the id of a command that has not ended.
func (r demoResult) running() (session string, ok bool) {
	m := sessionMark().FindStringSubmatch(r.head())
	if m == nil {
		return "", false
	}
	return m[1], true
}

// head is the result without the output of the command: what that says is not
// for us to read.
func (r demoResult) head() string {
	before, _, _ := strings.Cut("\n"+r.text, "\nOutput:\n")
	return strings.TrimPrefix(before, "\n")
}

// output is what the command wrote.
func (r demoResult) output() string {
	_, after, ok := strings.Cut("\n"+r.text, "\nOutput:\n")
	if !ok {
		return ""
	}
	return after
}

// denied tells whether the user did not allow it.
func (r demoResult) denied() bool { return deniedMark().MatchString(r.text) }

// patched tells whether a patch was applied.
func (r demoResult) patched() bool { return appliedMark().MatchString(r.text) }

// fence puts text into a code block that it can't close, cut to some lines.
func fence(lang, text string, maxLines int) string {
	text = strings.TrimRight(text, "\n")
	lines := strings.Split(text, "\n")
	if len(lines) > maxLines {
		half := maxLines / 2
		cut := len(lines) - 2*half
		lines = append(append(append([]string{}, lines[:half]...), "… "+strconv.Itoa(cut)+" lines more …"), lines[len(lines)-half:]...)
	}
	text = strings.Join(lines, "\n")
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + lang + "\n" + text + "\n" + mark
}

// demoSummary stands for a conversation when a summary of it is asked for.
func demoSummary(in []Entry) string {
	var b strings.Builder
	b.WriteString("Summary by the scripted demo (no AI). The user asked, in this order:\n")
	calls := 0
	for i, e := range in {
		switch {
		case e.Kind == EntryCall:
			calls++
		case e.Kind == EntryUser && i < lastUser(in):
			line, _, _ := strings.Cut(strings.TrimSpace(e.Text), "\n")
			b.WriteString("- " + shorten(line, 200) + "\n")
		}
	}
	b.WriteString("\n" + strconv.Itoa(calls) + " tool calls were made; their effects are in the workspace.")
	return b.String()
}
