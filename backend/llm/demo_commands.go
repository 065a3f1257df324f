package llm

import (
	"strconv"
)

// polls bounds how often the demo looks after a running command.
const polls = 200

// follow looks after a command until it ends. ok is false when it has.
func follow(s scene, r demoResult) (reply, bool) {
	session, running := r.running()
	if !running || len(s.results) > polls {
		return reply{}, false
	}
	return reply{calls: []demoCall{{"write_stdin", stdinArgs{session, 5000}}}}, true
}

// runScript runs a command of the user.
type runScript struct{ cmd string }

func (c runScript) next(s scene) reply {
	r, ok := s.last()
	if !ok {
		return reply{calls: []demoCall{execute(c.cmd)}}
	}
	if next, ok := follow(s, r); ok {
		return next
	}
	return ended(r)
}

// ended tells how a command ended.
func ended(r demoResult) reply {
	exit, ok := r.exit()
	switch {
	case r.denied():
		return denial("the command was not run")
	case !ok:
		return problem("The command did not run to its end.", r)
	}
	text := "It ended with exit code " + strconv.Itoa(exit) + "."
	if exit != 0 {
		text += " That is a result, not an error of the app: a real model would look into it now."
	}
	if out := r.output(); out != "" {
		text += "\n\n" + fence("", out, 30)
	}
	return reply{text: text}
}

// waitScript runs a command that takes its time.
type waitScript struct{ seconds int }

func (w waitScript) next(s scene) reply {
	n := strconv.Itoa(w.seconds)
	r, ok := s.last()
	if !ok {
		return reply{
			text: "This command runs for " + n + " seconds and writes the time each second. Meanwhile you can press Stop, write the next message, or close the app: " +
				"the command goes on, and when you open the app again I am still with it.",
			calls: []demoCall{{"exec_command", execArgs{Cmd: counter(n), YieldMs: 1000}}},
		}
	}
	if next, ok := follow(s, r); ok {
		return next
	}
	exit, ended := r.exit()
	switch {
	case r.denied():
		return denial("the command was not run")
	case !ended:
		return problem("The command did not run to its end.", r)
	case exit != 0:
		return reply{text: "The command ended early, with exit code " + strconv.Itoa(exit) + "."}
	default:
		return reply{text: "Done: " + n + " seconds, " + n + " lines, one run. The card has the whole output."}
	}
}

// counter is a command that writes the time each second. It is one that needs
// no approval: it shows no variable, not even its own.
func counter(n string) string {
	return "for i in $(seq " + n + "); do date +%H:%M:%S; sleep 1; done"
}

// approveScript does a step that is asked about first.
type approveScript struct{}

func (approveScript) next(s scene) reply {
	r, ok := s.last()
	if !ok {
		return reply{
			text: "The next command is harmless, but nothing proves it beforehand, so in the mode *Ask for risky* you are asked first. " +
				"The card shows the exact command, where it runs, and why it asks. The question waits as long as you like, even over a restart.",
			calls: []demoCall{execute(`sh -c 'echo "allowed at $(date +%H:%M:%S)" | tee approved.txt'`)},
		}
	}
	exit, ended := r.exit()
	switch {
	case r.denied():
		return reply{text: "You denied it: the command was not run, and the model was told so, with your reason if you gave one. That is all that a denial does; the turn goes on."}
	case ended && exit == 0:
		return reply{text: "It ran once, and `approved.txt` holds the time. If you were not asked, this session's mode is *Never ask*, or its backend is confined; the mode is in the header."}
	default:
		return problem("The command did not succeed.", r)
	}
}
