package journal

import (
	"strconv"
	"strings"

	"temporal-sandbox-agent/sandbox"
)

// answer holds the lines "name value" with which a script answers.
type answer map[string]string

func parseAnswer(text string) answer {
	a := answer{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		a[name] = value
	}
	return a
}

func (a answer) number(name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(a[name]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (a answer) evidence() evidence {
	e := evidence{boot: undash(a["boot"]), alive: a["alive"] == "1"}
	// The shell takes the end of the line off.
	if a["claim"] != "" {
		e.claim = a["claim"] + "\n"
	}
	if a["exit"] != "" {
		e.record = a["exit"] + "\n"
	}
	return e
}

// kindOfText classifies what a tool in the sandbox said when the system
// refused something: that is all there is to tell it from.
func kindOfText(text string) sandbox.Kind {
	for _, known := range []struct {
		text string
		kind sandbox.Kind
	}{
		{"No space left", sandbox.KindNoSpace},
		{"quota exceeded", sandbox.KindNoSpace},
		{"Read-only file system", sandbox.KindReadOnly},
		{"Permission denied", sandbox.KindDenied},
		{"Operation not permitted", sandbox.KindDenied},
		{"No such file", sandbox.KindNotFound},
		{"not found", sandbox.KindNotFound},
	} {
		if strings.Contains(text, known.text) {
			return known.kind
		}
	}
	return sandbox.KindTransport
}

// remedyOf says what the user can do about what kept a command from starting.
func remedyOf(kind sandbox.Kind) string {
	switch kind {
	case sandbox.KindUnavailable:
		return "Use an image that has them (the package util-linux), or run the command without a terminal."
	case sandbox.KindNoSpace:
		return "Free some space in the sandbox and try again."
	case sandbox.KindGone:
		return "Put the workspace back, or go on in another one."
	}
	return ""
}
