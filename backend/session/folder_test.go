package session

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestFolderName(t *testing.T) {
	made := time.Date(2026, 11, 29, 14, 32, 5, 0, time.Local)
	for title, want := range map[string]string{
		"":                                  "2026-11-29-1432",
		"Fix the login test":                "fix-the-login-test",
		"  ../../etc/passwd\n":              "etc-passwd",
		"Приве́т":                           "2026-11-29-1432",
		"Überarbeite README.md":             "berarbeite-readme-md",
		strings.Repeat("n", 300):            strings.Repeat("n", 39),
		"a " + strings.Repeat("long ", 100): "a-long-long-long-long-long-long-long",
	} {
		name := folderName("0b5ac1f0-1b53-4b1e-a4ea-3c1f1f0d6a55", title, made)
		if !regexp.MustCompile("^" + regexp.QuoteMeta(want) + "-[a-z2-7]{8}$").MatchString(name) {
			t.Errorf("title %q: %s, want %s and something of its own", title, name, want)
		}
		if len(name) > 80 {
			t.Errorf("title %q: %d bytes", title, len(name))
		}
	}
	// Also ids that begin alike, and sessions of one minute, are told apart.
	seen := map[string]bool{}
	for i := range 5000 {
		name := folderName(fmt.Sprintf("session-%d", i), "Same", made)
		if seen[name] {
			t.Errorf("%s is asked for twice", name)
		}
		seen[name] = true
	}
}
