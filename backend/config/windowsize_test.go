package config

import (
	"os"
	"testing"
)

func TestTheWindowHasTheSizeOfLastTime(t *testing.T) {
	p, err := FindPaths(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	usual := WindowSize{Width: 1280, Height: 800}
	if got := LoadWindowSize(p, usual); got != usual {
		t.Errorf("the first time: %+v", got)
	}
	want := WindowSize{Width: 901, Height: 702}
	if err := SaveWindowSize(p, want); err != nil {
		t.Fatal(err)
	}
	if got := LoadWindowSize(p, usual); got != want {
		t.Errorf("the next time: %+v", got)
	}
	for _, broken := range []string{"", "{", `{"width":-1,"height":5}`} {
		if err := os.WriteFile(p.windowSizeFile(), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := LoadWindowSize(p, usual); got != usual {
			t.Errorf("after %q: %+v", broken, got)
		}
	}
}
