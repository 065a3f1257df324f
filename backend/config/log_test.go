package config

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
)

func TestTheLogIsAppendedToAndBegunAnewWhenItIsLong(t *testing.T) {
	p, err := FindPaths(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	redact := func(s string) string { return strings.ReplaceAll(s, "a-secret", "[secret]") }
	for _, line := range []string{"first", "second"} {
		log, done, err := OpenLog(p, slog.LevelInfo, redact)
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("too fine")
		log.Info(line+" a-secret", "key", "a-secret", "error", errors.New("it said a-secret"))
		if err := done(); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(p.LogFile())
	if s := string(text); !strings.Contains(s, "first") || !strings.Contains(s, "second") || strings.Contains(s, "too fine") || strings.Contains(s, "a-secret") || !strings.Contains(s, "it said [secret]") {
		t.Errorf("the log is %q", s)
	}
	if info, err := os.Stat(p.LogFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log is %v, %v", info.Mode(), err)
	}
	if err := os.Truncate(p.LogFile(), maxLogBytes+1); err != nil {
		t.Fatal(err)
	}
	_, done, err := OpenLog(p, slog.LevelInfo, redact)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if info, err := os.Stat(p.LogFile()); err != nil || info.Size() != 0 {
		t.Errorf("a long log goes on: %v, %v", info, err)
	}
	if _, err := os.Stat(p.LogFile() + ".1"); err != nil {
		t.Error("the long log was not kept")
	}
}
