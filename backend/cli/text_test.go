package cli

import (
	"math"
	"testing"
)

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 bytes", 999: "999 bytes", 1000: "1.0 kB", 1049: "1.0 kB", 1051: "1.1 kB", 999_900: "999.9 kB",
		1_000_000: "1.0 MB", 1_500_000: "1.5 MB", 2_000_000_000: "2.0 GB", 3_400_000_000_000: "3.4 TB",
		5_000_000_000_000_000: "5000.0 TB", math.MaxInt64: "9223372.0 TB",
	} {
		if got := bytesText(n); got != want {
			t.Errorf("%d bytes are told as %q, want %q", n, got, want)
		}
	}
}
