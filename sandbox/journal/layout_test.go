package journal

import (
	"strings"
	"testing"
	"time"

	"temporal-sandbox-agent/sandbox"
)

func TestClaimRoundTrip(t *testing.T) {
	for _, c := range []claim{
		{nonce: "N", runner: 12, start: 345, boot: "b-1", uptime: 90*time.Second + 5, wall: time.Unix(1_800_000_000, 7)},
		{nonce: "N", runner: 12, uptime: -1, wall: time.Unix(1_800_000_000, 0)},
	} {
		got, ok := parseClaim(c.line())
		if !ok || got.nonce != c.nonce || got.runner != c.runner || got.start != c.start || got.boot != c.boot || got.uptime != c.uptime || !got.wall.Equal(c.wall) {
			t.Errorf("%q: %+v, %v, want %+v", c.line(), got, ok, c)
		}
	}
	// As the shell writes it.
	got, ok := parseClaim("N 7 88 - 12.34 1800000000\n")
	if !ok || got.uptime != 12_340*time.Millisecond || got.wall.Unix() != 1_800_000_000 || got.boot != "" {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, line := range []string{"", "\n", "N 7 88 - 12.34 1800000000", "N 7 88 - 12.34\n", "N x 88 - 1 2\n", "N 0 88 - 1 2\n"} {
		if got, ok := parseClaim(line); ok {
			t.Errorf("%q is taken for a claim: %+v", line, got)
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	for _, r := range []record{
		{code: 0, uptime: 5 * time.Millisecond},
		{code: 255, uptime: -1},
		{code: 137, signal: "SIGKILL", killed: true, timedOut: true, cut: true, uptime: 400*24*time.Hour + 1},
	} {
		line := r.line()
		if got, ok := parseRecord(line); !ok || got != r || len(line) != recordSize {
			t.Errorf("%q of %d bytes: %+v, %v, want %+v", line, len(line), got, ok, r)
		}
	}
	pad := func(s string) string { return s + strings.Repeat(" ", recordSize-1-len(s)) + "\n" }
	if got, ok := parseRecord(pad("143 ? - 17.25")); !ok || got.signal != "SIGTERM" || got.code != 143 || got.uptime != 17_250*time.Millisecond {
		t.Errorf("%+v, %v", got, ok)
	}
	if got, ok := parseRecord(pad("3 ? - 17.25")); !ok || got.signal != "" {
		t.Errorf("%+v, %v", got, ok)
	}
	// What a crash can leave.
	for _, line := range []string{"", pad(""), pad("0 - -"), "0 - - 17.25\n", pad("x - - 1"), strings.TrimSuffix(pad("0 - - 1"), "\n")} {
		if got, ok := parseRecord(line); ok {
			t.Errorf("%q is taken for a record: %+v", line, got)
		}
	}
}

func TestSignalOfCode(t *testing.T) {
	for code, want := range map[int]string{0: "", 128: "", 129: "SIGHUP", 137: "SIGKILL", 143: "SIGTERM", 159: "SIGSYS", 160: "", 255: ""} {
		if got := signalOfCode(code); got != want {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	claimed := claim{nonce: "N", runner: 5, boot: "now", uptime: 10 * time.Second, wall: time.Unix(1_800_000_000, 0)}
	ended := record{code: 3, uptime: 12 * time.Second}.line()
	for _, c := range []struct {
		what  string
		e     evidence
		state State
		code  int
		lasts time.Duration
	}{
		{"finished", evidence{claim: claimed.line(), record: ended, boot: "now", alive: true}, StateFinished, 3, 2 * time.Second},
		{"finished before a reboot", evidence{claim: claimed.line(), record: ended, boot: "later"}, StateFinished, 3, 2 * time.Second},
		{"running", evidence{claim: claimed.line(), boot: "now", alive: true}, StateRunning, 0, 0},
		{"dead", evidence{claim: claimed.line(), boot: "now"}, StateBroken, codeUnknown, 0},
		{"its number is another's after a reboot", evidence{claim: claimed.line(), boot: "later", alive: true}, StateBroken, codeUnknown, 0},
		{"half a record", evidence{claim: claimed.line(), record: ended[:20], boot: "now"}, StateBroken, codeUnknown, 0},
		{"an empty record, left by a power failure", evidence{claim: claimed.line(), record: strings.Repeat("\x00", recordSize), boot: "later"}, StateBroken, codeUnknown, 0},
	} {
		exit, err := c.e.judge("b", "id")
		if err != nil || exit.State != c.state || exit.Code != c.code || exit.Duration != c.lasts || exit.Started.Unix() != 1_800_000_000 {
			t.Errorf("%s: %+v, %v, want %s with code %d after %v", c.what, exit, err, c.state, c.code, c.lasts)
		}
	}
	if _, err := (evidence{record: ended, alive: true}).judge("b", "id"); sandbox.KindOf(err) != sandbox.KindNotFound {
		t.Errorf("without a claim: %v", err)
	}
	// A clock that jumps changes no duration: it is of the uptime, not the clock.
	back := record{code: 0, uptime: 5 * time.Second}.exit(claimed)
	if back.Duration != 0 {
		t.Errorf("an uptime that went back gives %v", back.Duration)
	}
}

func TestTimeoutText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", -1: "0", time.Nanosecond: "0.001", 1500 * time.Millisecond: "1.500", 2 * time.Second: "2",
		10*time.Second + 1: "11", time.Hour: "3600",
	} {
		if got := timeoutText(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestKindOfText(t *testing.T) {
	for text, want := range map[string]sandbox.Kind{
		"mkdir: cannot create directory 'x': No space left on device": sandbox.KindNoSpace,
		"sh: 1: cannot create x: Read-only file system":               sandbox.KindReadOnly,
		"mkdir: can't create directory '/x': Permission denied":       sandbox.KindDenied,
		"sh: 1: mkfifo: not found":                                    sandbox.KindNotFound,
		"something else":                                              sandbox.KindTransport,
	} {
		if got := kindOfText(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
