package session

import (
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
)

// part is what the viewer gets of a window of a file.
func part(file []byte, offset int64, n int) protocol.FileContent {
	end := min(offset+int64(n), int64(len(file)))
	content := protocol.FileContent{Size: int64(len(file)), Offset: offset}
	fill(&content, file[offset:end], "")
	return content
}

// Windows of a text are text wherever they are cut, and following one another
// they give the whole file once.
func TestWindowsOfTextNeverCutARune(t *testing.T) {
	file := []byte(strings.Repeat("aé漢😀\n", 40))
	for size := 8; size < 24; size++ {
		var whole strings.Builder
		for offset := int64(0); offset < int64(len(file)); {
			got := part(file, offset, size)
			if got.Kind != "text" || got.Offset != offset || got.Bytes != len(got.Text) || got.Bytes == 0 {
				t.Fatalf("window %d of %d: %+v", offset, size, got)
			}
			whole.WriteString(got.Text)
			offset += int64(got.Bytes)
		}
		if whole.String() != string(file) {
			t.Fatalf("windows of %d give another text", size)
		}
	}
	// A reader who goes to the end, or a window up, begins anywhere.
	for offset := int64(1); offset < int64(len(file)); offset++ {
		got := part(file, offset, 64)
		if got.Kind != "text" || got.Offset < offset || got.Offset > offset+3 {
			t.Fatalf("from %d: %+v", offset, got)
		}
		if want := string(file[got.Offset : got.Offset+int64(got.Bytes)]); got.Text != want {
			t.Fatalf("from %d: %q, want %q", offset, got.Text, want)
		}
	}
}

// Of a binary file no byte is left out, whatever it looks like.
func TestWindowsOfBytesAreWhole(t *testing.T) {
	file := append([]byte{0, 0x80, 0x80, 0x80}, make([]byte, 60)...)
	for offset := int64(0); offset < 8; offset++ {
		got := part(file, offset, 16)
		if got.Kind != "binary" || got.Offset != offset || got.Bytes != 16 {
			t.Fatalf("from %d: %+v", offset, got)
		}
	}
}
