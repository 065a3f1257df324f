package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The icons in the repository are those that the drawing gives today.
func TestIconsAreFresh(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"windows", "linux"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	if !alike(decode(t, read(t, dir, "appicon.png")), decode(t, read(t, "..", "appicon.png"))) {
		t.Error("build/appicon.png is not what mark.go draws; run: go run ./build/icon")
	}
	const svg = "linux/temporal-sandbox-agent.svg"
	if !bytes.Equal(read(t, dir, svg), read(t, "..", svg)) {
		t.Error("the SVG icon is not what mark.go draws; run: go run ./build/icon")
	}
	want, got := pictures(t, read(t, dir, "windows/icon.ico")), pictures(t, read(t, "..", "windows/icon.ico"))
	if len(want) != len(got) {
		t.Fatalf("icon.ico has %d pictures, want %d", len(got), len(want))
	}
	for i := range want {
		if !alike(want[i], got[i]) {
			t.Errorf("picture %d of icon.ico is not what mark.go draws; run: go run ./build/icon", i)
		}
	}
}

func TestMarkIsSeenAtEverySize(t *testing.T) {
	for _, size := range []int{16, 32, 1024} {
		img := draw(size)
		at := func(p point) [3]uint8 {
			c := img.NRGBAAt(int(p.x*float64(size)/grid), int(p.y*float64(size)/grid))
			return [3]uint8{c.R, c.G, c.B}
		}
		if got, want := at(right), [3]uint8{accent.R, accent.G, accent.B}; got != want {
			t.Errorf("%d pixels: the full dot is %v, want %v", size, got, want)
		}
		if got, want := at(point{512, 300}), [3]uint8{tile.R, tile.G, tile.B}; got != want {
			t.Errorf("%d pixels: between the branches is %v, want %v", size, got, want)
		}
		if a := img.NRGBAAt(0, 0).A; a != 0 {
			t.Errorf("%d pixels: the corner has opacity %d, want 0", size, a)
		}
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t *testing.T, b []byte) *image.NRGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	picture, ok := img.(*image.NRGBA)
	if !ok {
		t.Fatalf("the picture is a %T, without the opacity that an icon has", img)
	}
	return picture
}

// pictures takes a Windows icon apart by its table of contents.
func pictures(t *testing.T, ico []byte) []*image.NRGBA {
	t.Helper()
	number := func(at, size int) int {
		n := 0
		for i := range size {
			n |= int(ico[at+i]) << (8 * i)
		}
		return n
	}
	var out []*image.NRGBA
	for i := range number(4, 2) {
		entry := 6 + 16*i
		length, offset := number(entry+8, 4), number(entry+12, 4)
		img := decode(t, ico[offset:offset+length])
		if side := number(entry, 1); img.Bounds().Dx()%256 != side {
			t.Errorf("picture %d is %d pixels wide, its entry says %d", i, img.Bounds().Dx(), side)
		}
		out = append(out, img)
	}
	return out
}

// alike allows the last bit of a colour to differ: processors round sums differently.
func alike(a, b *image.NRGBA) bool {
	return a.Rect == b.Rect && slices.EqualFunc(a.Pix, b.Pix, func(x, y uint8) bool { return max(x, y)-min(x, y) <= 1 })
}
