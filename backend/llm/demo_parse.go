package llm

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// script is one thing that the demo can do.
type script interface {
	// next is what to say and do after the results so far.
	next(s scene) reply
}

const (
	// token matches a quoted text or a word, phrase a quoted text or any.
	token  = "(`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+'|[^\\s`\"']+)"
	phrase = "(`[^`]+`|\"[^\"]+\"|'[^']+'|.+?)"
)

var (
	polite = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:(?:please|now|then|next|okay|ok|and|can you|could you|would you|will you|i want you to|let's)[,:]?\s+)+`)
	})

	reList = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:list|ls)(?:\s+(?:all|the|my))*(?:\s+(?:files?|folder|directory|dir|contents?))*(?:\s+(?:in|of))?(?:\s+(?:the\s+)?(?:folder|directory|dir))?(?:\s+` + token + `)?[.?]?$`)
	})
	reRead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:read|cat|show|open|print)(?:\s+(?:me|the|file))*\s+` + token + `[.?]?$`)
	})
	reView = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:view|look at)(?:\s+(?:the|image|picture|file))*\s+` + token + `[.?]?$`)
	})
	reCreate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^(?:create|make|write|add)(?:\s+(?:a|the|new|file|called|named))*\s+` + token + `\s+(?:with|containing|that says|saying)(?:\s+(?:the\s+)?(?:text|contents?))?:?\s+(.+)$`)
	})
	reAppend = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^(?:append|add)\s+(.+)\s+to(?:\s+(?:the|file))*\s+` + token + `\s*$`)
	})
	reReplace = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^(?:replace|change)\s+` + phrase + `\s+(?:with|by|to)\s+` + phrase + `\s+in(?:\s+(?:the|file))*\s+` + token + `\s*$`)
	})
	reDelete = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:delete|remove|rm)(?:\s+(?:the|file))*\s+` + token + `[.]?$`)
	})
	reRun = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^(?:run|execute|exec)(?:\s+(?:the\s+)?command)?:?\s+(.+)$`)
	})
	reWait = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:wait|sleep|count)(?:\s+(?:for|to))?\s+(\d{1,4})(?:\s*(?:s|sec|secs|seconds?))?[.]?$`)
	})
	reLong = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:long|wait|long[- ]running|(?:run|start)\s+(?:a|something)\s+long)(?:[- ]running)?(?:\s+(?:command|one|job))?[.]?$`)
	})
	reTour = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:(?:start|take|give|show)\s+(?:me\s+)?)?(?:the\s+|a\s+)?(?:guided\s+)?tour[.!?]?$|^show me around[.!?]?$`)
	})
	reApprove = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:approve|approval|approvals|risky|ask me|something risky|do something risky)[.!?]?$`)
	})
	reThink = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:think|think hard|markdown|show markdown)[.!?]?$`)
	})
	reHelp = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:help|\?|/help|commands|what can you do|what do you do)[.!?]*$`)
	})
	reHello = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:hello|hi|hey|greet|greeting|greetings|good (?:morning|day|evening))\b`)
	})
)

// maxWait is the longest wait that the demo agrees to, in seconds.
const maxWait = 600

// understand finds out what is wanted; what it does not know becomes a script
// that says so.
func understand(text string) script {
	t := strings.TrimSpace(polite().ReplaceAllString(strings.TrimSpace(text), ""))
	if t == "" {
		return say(demoHelp)
	}
	if sc, ok := fileScript(t); ok {
		return sc
	}
	switch {
	case reTour().MatchString(t):
		return tourScript{}
	case reHelp().MatchString(t):
		return say(demoHelp)
	case reThink().MatchString(t):
		return thinkScript{}
	case reApprove().MatchString(t):
		return approveScript{}
	case reLong().MatchString(t):
		return waitScript{20}
	}
	if m := reWait().FindStringSubmatch(t); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > maxWait {
			return say("I can wait between 1 and " + strconv.Itoa(maxWait) + " seconds: try `wait 10`.")
		}
		return waitScript{n}
	}
	if isGreeting(t) {
		return say(demoHello)
	}
	return say(demoUnknown)
}

// fileScript understands what is done with files and commands. The order
// counts: "add x to y" before "add a file", commands before single words.
func fileScript(t string) (script, bool) {
	if m := reRun().FindStringSubmatch(t); m != nil && !reLong().MatchString(t) {
		if cmd := unquote(m[1]); cmd != "" {
			return runScript{cmd}, true
		}
	}
	if m := reReplace().FindStringSubmatch(t); m != nil {
		return onFile(m[3], func(f string) script { return replaceScript{unquote(m[1]), unquote(m[2]), f} })
	}
	if m := reCreate().FindStringSubmatch(t); m != nil {
		return onFile(m[1], func(f string) script { return createScript{f, unquote(m[2])} })
	}
	if m := reAppend().FindStringSubmatch(t); m != nil {
		return onFile(m[2], func(f string) script { return appendScript{f, unquote(m[1])} })
	}
	if m := reDelete().FindStringSubmatch(t); m != nil {
		return onFile(m[1], func(f string) script { return deleteScript{f} })
	}
	if reTour().MatchString(t) { // "show the tour" is not a file
		return nil, false
	}
	if m := reView().FindStringSubmatch(t); m != nil {
		return onFile(m[1], func(f string) script { return viewScript{f} })
	}
	if m := reList().FindStringSubmatch(t); m != nil {
		return listScript{nameOf(m[1])}, true
	}
	if m := reRead().FindStringSubmatch(t); m != nil && !reThink().MatchString(t) {
		return onFile(m[1], func(f string) script { return readScript{f} })
	}
	return nil, false
}

// onFile makes a script for a file's name.
func onFile(name string, make func(string) script) (script, bool) {
	name = nameOf(name)
	if name == "" {
		return nil, false
	}
	return make(name), true
}

// nameOf is the name of a file: as quoted, else without the end of a sentence.
func nameOf(s string) string {
	if name := unquote(s); name != strings.TrimSpace(s) {
		return name
	}
	if name := strings.TrimRight(s, ".?!,;"); name != "" {
		return name
	}
	return s // "." and ".." are folders
}

// unquote takes the quotes, the backticks or the code fence around a text away.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "```") && strings.HasSuffix(s, "```") && len(s) >= 6 {
		body := strings.TrimSuffix(s[3:], "```")
		if first, rest, ok := strings.Cut(body, "\n"); ok && !strings.ContainsAny(first, " \t") {
			body = rest // the language of the block
		}
		return strings.Trim(body, "\n")
	}
	for _, q := range []string{"`", `"`, "'"} {
		if len(s) >= 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) && !strings.Contains(s[1:len(s)-1], q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

func isGreeting(text string) bool { return reHello().MatchString(text) }
