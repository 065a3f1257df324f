//go:build unix

package local

import (
	"os"
	"slices"
	"strings"

	"temporal-sandbox-agent/sandbox/internal/proctree"
)

// scrubbed are the variables that commands never get: they hold the app's keys
// and settings. The user's own keys stay, as in any terminal.
var scrubbed = []string{"OPENAI_*", "E2B_*", "DAYTONA_*", "TSA_*", "EXAMPLES_TEMPORAL_*", "TEMPORAL_*"}

// quiet is set in all commands: nobody is there to page through output.
var quiet = []string{"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GH_PAGER=cat", "SYSTEMD_PAGER=cat"}

// userEnv returns the user's environment without what commands must not see.
func (c *Config) userEnv() []string {
	env := os.Environ
	if c.Environ != nil {
		env = c.Environ
	}
	return slices.DeleteFunc(slices.Clone(env()), func(entry string) bool {
		variable, _, _ := strings.Cut(entry, "=")
		match := func(pattern string) bool {
			prefix, many := strings.CutSuffix(pattern, "*")
			return pattern == variable || (many && strings.HasPrefix(variable, prefix))
		}
		return slices.ContainsFunc(scrubbed, match) || slices.ContainsFunc(c.Scrub, match)
	})
}

// environ returns the whole environment of a command.
func (s *Sandbox) environ(extra map[string]string, tty bool) []string {
	term := "TERM=dumb"
	if tty {
		term = "TERM=xterm-256color"
	}
	env := append(s.provider.cfg.userEnv(), quiet...)
	env = append(env, term)
	for _, set := range []map[string]string{s.data.Env, extra} {
		for variable, value := range set {
			env = append(env, variable+"="+value)
		}
	}
	return append(env, proctree.Mark(proctree.SandboxVariable, s.ref.ID))
}

// lookup returns the last value of a variable in env, which is the one that
// counts.
func lookup(env []string, variable string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, variable+"="); ok {
			return value
		}
	}
	return ""
}
