package llm

import (
	_ "embed"
	"strings"
)

const demoHello = "Hello. This is the scripted demo: no AI, but its files and commands are real. Say `help` for what it knows, or `tour` to be shown around."

const demoHelp = `I am a scripted demo, not an AI. I understand these messages and carry them out with the real tools, in your folder:

| Say | What happens |
| --- | --- |
| ` + "`tour`" + ` | a guided tour: make, run and change a small program |
| ` + "`list`" + ` or ` + "`list FOLDER`" + ` | shows what is there |
| ` + "`read FILE`" + ` | shows a file |
| ` + "`view IMAGE`" + ` | opens an image |
| ` + "`create FILE with TEXT`" + ` | makes a file, or replaces it |
| ` + "`append TEXT to FILE`" + ` | adds lines at its end |
| ` + "`replace OLD with NEW in FILE`" + ` | changes a text within lines |
| ` + "`delete FILE`" + ` | deletes it |
| ` + "`run COMMAND`" + ` | runs it in the shell |
| ` + "`wait 30`" + ` or ` + "`long`" + ` | a command that takes its time |
| ` + "`approve`" + ` | a step that asks you first |
| ` + "`think`" + ` | a long answer, to see how text looks |

Quotes and backticks around names and texts are fine. Everything else I don't understand.

` + demoReal

const demoReal = `To talk to a real model:

1. Add an OpenAI key in *Settings*, *Models* (or set OPENAI_API_KEY), or
2. start Ollama, LM Studio, llama.cpp or vLLM on this machine: it is found by itself.`

const demoUnknown = `I don't understand that: I am a scripted demo, not an AI. I know about a dozen messages, for example:

- ` + "`create notes.txt with buy milk`" + `
- ` + "`run uname -a`" + `
- ` + "`tour`" + `

` + "`help`" + ` lists them all.

` + demoReal

//go:embed demo_think.md
var demoThinkFile string

const demoThought = "Nothing is thought here: this is a script. A model that reasons shows a summary of it in this place, folded once the answer begins."

// thinkScript streams a long answer.
type thinkScript struct{}

func (thinkScript) next(scene) reply {
	return reply{thought: demoThought, text: strings.TrimSpace(demoThinkFile)}
}
