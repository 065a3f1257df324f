//go:build linux

package local_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
	"temporal-sandbox-agent/sandbox/local"
)

func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	p := local.New(local.Config{
		WorkspacesDir: dir + "/workspaces", StateDir: dir + "/state", Holder: true,
		Scrub: []string{"EXACT", "MANY_*"},
		Environ: func() []string {
			return []string{
				"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/ada", "PAGER=less", "TERM=xterm", "KEPT=1", "EXACT_NOT=2", "MANY=3", "BASH_FUNC_hi%%=() {  echo hi\n}",
				"OPENAI_API_KEY=x", "E2B_DOMAIN=x", "DAYTONA_API_URL=x", "TSA_DATA_DIR=x", "EXAMPLES_TEMPORAL_TRACE=x", "TEMPORAL_API_KEY=x", "EXACT=x", "MANY_X=x",
			}
		},
	})
	defer p.Close()
	sb, err := p.Create(t.Context(), sandbox.Spec{Session: "s", Env: map[string]string{"MADE": "4", "OPENAI_BASE_URL": "the user's own wish"}})
	if err != nil {
		t.Fatal(err)
	}
	want := func(tty bool) []string {
		term := "TERM=dumb"
		if tty {
			term = "TERM=xterm-256color"
		}
		return []string{
			"BASH_FUNC_hi%%=() {  echo hi", "EXACT_NOT=2", "GH_PAGER=cat", "GIT_PAGER=cat", "HOME=/home/ada", "KEPT=1", "MADE=4", "MANPAGER=cat", "MANY=3",
			"OPENAI_BASE_URL=the user's own wish", "PAGER=cat", "PATH=/usr/local/bin:/usr/bin:/bin", "PWD=" + sb.Root(), "SYSTEMD_PAGER=cat", term,
		}
	}
	check := func(what, out string, tty bool) {
		t.Helper()
		var got []string
		for line := range strings.Lines(strings.ReplaceAll(out, "\r\n", "\n")) {
			line = strings.TrimSuffix(line, "\n")
			if line == "}" || strings.HasPrefix(line, "TSA_CALL=:") || strings.HasPrefix(line, "TSA_SANDBOX=:") || strings.HasPrefix(line, "_=") || strings.HasPrefix(line, "SHLVL=") {
				continue // the end of the function, the marks, and what shells add
			}
			got = append(got, line)
		}
		slices.Sort(got)
		if !slices.Equal(got, want(tty)) {
			t.Errorf("%s: the environment is\n%q, want\n%q", what, got, want(tty))
		}
	}
	var out bytes.Buffer
	if _, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"env"}, Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	check("Exec", out.String(), false)
	for _, tty := range []bool{false, true} {
		c, err := journal.Open(sb).Start(t.Context(), journal.Spec{CallID: "env-" + map[bool]string{true: "tty", false: "plain"}[tty], Shell: "exec env", TTY: tty})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		data, _, err := c.ReadOutput(t.Context(), 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		check("journal", string(data), tty)
	}
	// Programs are found by the command's PATH, not by the app's.
	for path, want := range map[string]sandbox.Kind{"/nowhere": sandbox.KindNotFound, "/bin:/usr/bin": ""} {
		_, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"ls"}, Env: map[string]string{"PATH": path}})
		if sandbox.KindOf(err) != want {
			t.Errorf("with PATH=%s: %v, want kind %q", path, err, want)
		}
	}
}
