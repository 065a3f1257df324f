package llm

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// tourScript shows the product on a small program that it makes, runs and
// changes. It takes a folder of its own and touches nothing else.
type tourScript struct{}

const tourProgram = `#!/bin/sh
# Greets whoever is named.
name=${1:-world}
echo "Hello, $name."
`

// tourPolls marks where the long command of the tour begins among the results.
const tourPolls = 5

func (tourScript) next(s scene) reply {
	r, ok := s.last()
	if !ok {
		return reply{
			text:  "## A tour in six steps\n\nThis is the scripted demo: no AI, but real files, real commands and a real record of both. First, a look for a free folder name.",
			calls: []demoCall{execute("ls")},
		}
	}
	if r.denied() {
		return denial("the tour ends here; what was made so far is kept")
	}
	dir := tourFolder(s.results[0])
	program := dir + "/greet.sh"
	if len(s.results) <= tourPolls && len(s.results) > 1 && !r.went() {
		return problem("This step of the tour did not work, so it ends here.", r)
	}
	switch len(s.results) {
	case 1:
		add := append([]string{"*** Add File: " + program}, prefixed("+", tourProgram)...)
		return reply{
			text:  "**1. A file.** I make " + code(program) + " with a patch. A patch is applied as a whole or not at all, and its card opens as a difference.",
			calls: []demoCall{patch(add...)},
		}
	case 2:
		return reply{
			text:  "**2. Run it.** Commands run in your folder. Each is written down before it starts and again when it ends, so it runs exactly once, whatever happens to this app meanwhile.",
			calls: []demoCall{execute("cp " + program + " " + dir + "/greet.old && sh " + program)},
		}
	case 3:
		return reply{
			text: "**3. Change it.** Again with a patch, this time two lines of the file:",
			calls: []demoCall{patch(
				"*** Update File: "+program,
				"@@",
				" name=${1:-world}",
				`-echo "Hello, $name."`,
				"+for time in morning afternoon evening; do",
				`+  echo "Good $time, $name."`,
				"+done",
			)},
		}
	case 4:
		return reply{
			text:  "**4. The difference.** And what the program says now. `diff` ends with exit code 1 when files differ: that is a result, and no reason to stop.",
			calls: []demoCall{execute("sh " + program + " there; diff -u " + dir + "/greet.old " + program)},
		}
	case tourPolls:
		return reply{
			text: "**5. Survive.** This command takes 8 seconds. Close the window now, or kill the app: the command goes on. " +
				"Open the app again and this turn goes on by itself, without a second run. Or just watch the lines come.",
			calls: []demoCall{{"exec_command", execArgs{Cmd: counter("8"), YieldMs: 1000}}},
		}
	}
	if next, ok := follow(s, r); ok {
		return next
	}
	text := "**6. That is it.**\n\n" +
		"- " + code(dir) + " holds the program; delete the folder when you like.\n" +
		"- *Files*, at the right, shows it; the card of each edit above opens as a difference.\n" +
		"- Everything you saw is in the record: it is here after a restart, a crash, or a year.\n" +
		"- Say `approve` to see a question before a risky step, `help` for what else this demo knows.\n\n" +
		"For a real model, add a key in *Settings*, *Models*, or start Ollama or LM Studio."
	if exit, ok := r.exit(); !ok || exit != 0 {
		text = "The long command did not run to its end, which is fine: its card says how it ended.\n\n" + text
	}
	return reply{text: text}
}

// went tells whether a step of the tour did what it should. Any exit code will
// do: one of the steps ends with 1 on purpose.
func (r demoResult) went() bool {
	if r.tool == "apply_patch" {
		return r.patched()
	}
	_, ended := r.exit()
	_, running := r.running()
	return ended || running
}

var tourName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^tour(-\d+)?$`) })

// tourFolder is the first name that the listing does not have.
func tourFolder(listing demoResult) string {
	var taken []string
	for line := range strings.Lines(listing.output()) {
		if name := strings.TrimSpace(line); tourName().MatchString(name) {
			taken = append(taken, name)
		}
	}
	name := "tour"
	for n := 2; slices.Contains(taken, name); n++ {
		name = "tour-" + strconv.Itoa(n)
	}
	return name
}
