//go:build linux

package local

import (
	"os"
	"strconv"
	"testing"

	"temporal-sandbox-agent/sandbox"
)

func TestDirNamesHasALimit(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const most = 4200 // more than one read's worth
	for i := range most {
		if err := root.Symlink("x", strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := dirNames(root, most)
	if err != nil || len(names) != most || names[1] != "1" || names[2] != "10" {
		t.Errorf("%d names, %v", len(names), err)
	}
	if _, err := dirNames(root, most-1); sandbox.KindOf(err) != sandbox.KindTooLarge {
		t.Errorf("with one too many: %v", err)
	}
}
