package backend

import (
	"net/url"
	"strings"
	"testing"
)

// Every byte of a name comes back, and nothing in it is one to dbus-send.
func TestFileURL(t *testing.T) {
	every := "/"
	for c := 1; c < 256; c++ {
		every += string([]byte{byte(c)})
	}
	for _, name := range []string{"/", "/a/b.txt", "/with space", "/a,b", "/100%", "/a#b?c", "/ä/漢/😀", "/a\nb", "/-._~", "/a+b", "/%41", every} {
		got := fileURL(name)
		rest, ok := strings.CutPrefix(got, "file://")
		back, err := url.PathUnescape(rest)
		if !ok || err != nil || back != name || strings.ContainsAny(rest, ", #?\n'\"\\") {
			t.Errorf("%q becomes %q, which is %q, %v", name, got, back, err)
		}
	}
	if got := fileURL("/a b,ü"); got != "file:///a%20b%2C%C3%BC" {
		t.Error(got)
	}
}

func TestDownloadName(t *testing.T) {
	for name, want := range map[string]string{"": "workspace.tar.gz", ".": "workspace.tar.gz", "/": "workspace.tar.gz", "a": "a", "dir/a.txt": "a.txt", "dir/": "dir"} {
		if got := DownloadName(name); got != want {
			t.Errorf("%q is saved as %q, want %q", name, got, want)
		}
	}
}
