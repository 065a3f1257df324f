// Package sandboxtest holds the one suite that every backend passes: what the
// contract of package sandbox and of its journal promise, tried on the real
// thing.
package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// Factory tells the suite what to try.
type Factory struct {
	// New makes the provider. It is called once, after the environment holds
	// what must not reach a command (Canary).
	New func(t *testing.T) sandbox.Provider
	// Spec is of the sandboxes that the suite makes; the suite sets Session and
	// adds to Env.
	Spec sandbox.Spec
	// Journal opens the journal of a sandbox; nil is journal.Open.
	Journal func(sb sandbox.Sandbox) *journal.Journal
	// Patience is how long anything may take that should be over at once; 0 is
	// 30 seconds. It only decides when to give up.
	Patience time.Duration
	// NoTerminal says that commands can't have one there: asking for it must
	// then be refused.
	NoTerminal bool
	// Slow says that each request to a sandbox takes a tenth of a second or more:
	// of what is tried many times in the same way, a part is tried.
	Slow bool
}

// Canary is the value of the app's variables while the suite runs. No command
// may see it.
const Canary = "canary-7f3a"

// canaries are variables that hold secrets or settings of the app.
var canaries = []string{"OPENAI_API_KEY", "E2B_API_KEY", "DAYTONA_API_KEY", "TSA_DATA_DIR", "EXAMPLES_TEMPORAL_MODEL", "TEMPORAL_ADDRESS"}

// suite is one run of the suite over one sandbox.
type suite struct {
	Factory
	provider sandbox.Provider
	sb       sandbox.Sandbox
	journal  *journal.Journal
}

// Run runs the suite. All but the last part share one sandbox, each test in a
// folder of its own.
func Run(t *testing.T, f Factory) {
	s := newSuite(t, f)
	t.Run("exec", s.testExec)
	t.Run("files", s.testFiles)
	t.Run("bulk", s.testBulk)
	t.Run("journal", s.testJournal)
	t.Run("terminal", s.testTerminal)
	t.Run("lifecycle", s.testLifecycle)
}

// RunJournal runs the part of the suite that is about the journal.
func RunJournal(t *testing.T, f Factory) {
	s := newSuite(t, f)
	t.Run("journal", s.testJournal)
	t.Run("terminal", s.testTerminal)
}

func newSuite(t *testing.T, f Factory) *suite {
	t.Helper()
	if f.Patience == 0 {
		f.Patience = 30 * time.Second
	}
	if f.Journal == nil {
		f.Journal = journal.Open
	}
	for _, name := range canaries {
		t.Setenv(name, Canary)
	}
	s := &suite{Factory: f, provider: f.New(t)}
	if got := s.provider.Probe(t.Context()); !got.OK {
		t.Fatalf("Probe: %s %s", got.Reason, got.Remedy)
	}
	s.sb = s.create(t, "suite")
	s.journal = f.Journal(s.sb)
	return s
}

// create makes a sandbox that is destroyed with the test.
func (s *suite) create(t *testing.T, session string) sandbox.Sandbox {
	t.Helper()
	spec := s.Spec
	spec.Session = session
	spec.Env = map[string]string{"SUITE": "from the spec", "SUITE_OVER": "spec"}
	for name, value := range s.Spec.Env {
		spec.Env[name] = value
	}
	sb, err := s.provider.Create(t.Context(), spec)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		_ = sb.Close(ctx) // a test may have done it
		if err := s.provider.Destroy(ctx, sb.Ref()); err != nil {
			t.Errorf("Destroy: %v", err)
		}
	})
	return sb
}

// dir makes a folder for a test and returns its name, relative to the root.
func (s *suite) dir(t *testing.T) string {
	t.Helper()
	name := strings.NewReplacer("/", "-", " ", "_", "#", "_").Replace(t.Name())
	if err := s.sb.Files().Mkdir(t.Context(), name, 0); err != nil {
		t.Fatalf("Mkdir: %v", err)
	}
	return name
}

// sh runs a shell command in dir and returns what it printed; it must succeed.
func (s *suite) sh(t *testing.T, dir, command string) string {
	t.Helper()
	return shell(t, s.sb, dir, command)
}

func shell(t *testing.T, sb sandbox.Sandbox, dir, command string) string {
	t.Helper()
	var out bytes.Buffer
	r, err := sb.Exec(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", command}, Dir: dir, Stdout: &out, Stderr: &out})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%s: %+v, %v\n%s", command, r, err, out.String())
	}
	return out.String()
}

// write and read are of whole files.
func (s *suite) write(t *testing.T, name, content string) {
	t.Helper()
	if err := s.sb.Files().Write(t.Context(), name, strings.NewReader(content), 0); err != nil {
		t.Fatalf("Write %q: %v", name, err)
	}
}

func (s *suite) read(t *testing.T, name string) string {
	t.Helper()
	return readFile(t, s.sb, name, 0, -1)
}

func readFile(t *testing.T, sb sandbox.Sandbox, name string, offset, n int64) string {
	t.Helper()
	r, err := sb.Files().Open(t.Context(), name, offset, n)
	if err != nil {
		t.Fatalf("Open %q: %v", name, err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatalf("read %q: %v", name, err)
	}
	if err := r.Close(); err != nil {
		t.Fatalf("close %q: %v", name, err)
	}
	return b.String()
}

// living returns which of the processes whose numbers are in a file are alive.
func (s *suite) living(t *testing.T, dir, file string) string {
	t.Helper()
	return strings.TrimSpace(s.sh(t, dir, `for p in $(cat `+file+` 2>/dev/null); do
		if [ -d /proc/self ]; then
			[ -e /proc/$p/status ] && ! grep -q '^State:.[ZX]' /proc/$p/status && echo $p
		else
			kill -0 $p 2>/dev/null && echo $p
		fi
	done; :`))
}

// eventually waits until ok.
func (s *suite) eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(s.Patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", s.Patience, what)
		}
	}
}

// wantKind fails unless err is a classified error of this kind.
func wantKind(t *testing.T, what string, err error, want sandbox.Kind) {
	t.Helper()
	if got := sandbox.KindOf(err); err == nil || got != want {
		t.Errorf("%s: error %v of kind %q, want kind %q", what, err, got, want)
	}
}

// again returns a Ref as another process would get it.
func again(t *testing.T, ref sandbox.Ref) sandbox.Ref {
	t.Helper()
	raw, err := json.Marshal(ref)
	if err != nil {
		t.Fatal(err)
	}
	var out sandbox.Ref
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// noise returns n bytes that hold every value and don't compress.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(2463534242)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return string(b)
}

// differ describes where two long texts differ, "" if they don't.
func differ(got, want string) string {
	if got == want {
		return ""
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	return fmt.Sprintf("%d bytes, want %d; they differ from byte %d on", len(got), len(want), at)
}

// callID returns a call id that no earlier run has used: the journal remembers.
func callID(t *testing.T, session string) string {
	t.Helper()
	return fmt.Sprintf("%s.%d-%d", session, os.Getpid(), time.Now().UnixNano())
}
