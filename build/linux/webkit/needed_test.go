//go:build linux

package webkit

import (
	"debug/elf"
	"os"
	"strings"
	"testing"
)

// The built app starts without the libraries of the window.
func TestTheAppNeedsNoWindowLibrary(t *testing.T) {
	app := os.Getenv("TSA_BIN")
	if app == "" {
		t.Skip("TSA_BIN does not name a built app; make test does")
	}
	file, err := elf.Open(app)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range libraries {
		if strings.Contains(library, "webkit") || strings.Contains(library, "gtk") || strings.Contains(library, "glib") {
			t.Errorf("the app needs %s to start: build/linux/webkit/functions.h lacks a function (see generate.sh there)", library)
		}
	}
}
