package tool

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
)

func pngOf(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jpegOf(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gifOf(t *testing.T, frames int) string {
	t.Helper()
	g := &gif.GIF{}
	for range frames {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, 9, 7), palette.Plan9))
		g.Delay = append(g.Delay, 10)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// noise is an image that does not compress.
func noise(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 1))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

// A WebP image of one pixel.
const tinyWebP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

func TestViewImage(t *testing.T) {
	p := newPlace(t)
	plain := image.NewRGBA(image.Rect(0, 0, 12, 8))
	plain.Set(1, 1, color.RGBA{200, 10, 10, 255})
	webp, err := base64.StdEncoding.DecodeString(tinyWebP)
	if err != nil {
		t.Fatal(err)
	}
	p.write("small.png", pngOf(t, plain))
	p.write("small.jpg", jpegOf(t, plain))
	p.write("one.gif", gifOf(t, 1))
	p.write("film.gif", gifOf(t, 3))
	p.write("tiny.webp", string(webp))
	p.write("wide.png", pngOf(t, image.NewRGBA(image.Rect(0, 0, 4096, 1024))))
	p.write("tall.jpg", jpegOf(t, image.NewGray(image.Rect(0, 0, 10, 5000))))
	p.write("photo.png", pngOf(t, noise(1500, 1000)))
	p.write("cut.png", pngOf(t, noise(50, 50))[:5000])
	p.write("bomb.png", bombPNG(t))
	p.write("text.png", "hello")
	p.write("empty.png", "")
	p.write("large.png", "\x89PNG\r\n\x1a\n"+strings.Repeat("x", maxImageFile))
	p.write("dir/x", "")
	for _, c := range []struct {
		path, want, mime string
		w, h             int
	}{
		{"small.png", "small.png: PNG, 12 × 8 pixels, ", "image/png", 12, 8},
		{"small.jpg", "small.jpg: JPEG, 12 × 8 pixels, ", "image/jpeg", 12, 8},
		{"one.gif", "one.gif: GIF, 9 × 7 pixels, ", "image/gif", 9, 7},
		{"film.gif", "only the first of its pictures", "image/png", 9, 7},
		{"tiny.webp", "tiny.webp: WebP, 1 × 1 pixels, 34 bytes.", "image/webp", 1, 1},
		{"wide.png", "wide.png: PNG, 4096 × 1024 pixels, ", "image/png", 2048, 512},
		{"tall.jpg", "(shown at 4 × 2048).", "image/jpeg", 4, 2048},
		{"photo.png", "photo.png: PNG, 1500 × 1000 pixels, ", "image/jpeg", 1500, 1000},
	} {
		out := p.run(viewImage{}, p.call(m{"path": c.path}))
		if out.Status != protocol.ToolDone || !strings.Contains(out.Result.Output, c.want) || out.ImageMIME != c.mime {
			t.Errorf("%s: %s %s %q", c.path, out.Status, out.ImageMIME, out.Result.Output)
			continue
		}
		if "image/"+strings.ToLower(imageType(out.Image)) != c.mime {
			t.Errorf("%s: %s is %s", c.path, c.mime, imageType(out.Image))
		}
		config, err := decodeConfig(imageType(out.Image), out.Image)
		if err != nil || config.Width != c.w || config.Height != c.h {
			t.Errorf("%s: %d × %d, %v", c.path, config.Width, config.Height, err)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"cut.png", "damaged"},
		{"bomb.png", "30000 × 30000 pixels are too many"},
		{"text.png", "not a PNG, JPEG, GIF or WebP image"},
		{"empty.png", "is empty"},
		{"large.png", "larger than 20 MB"},
		{"dir", "is a folder"},
		{"smal.png", "Did you mean small.png"},
		{"../x.png", "leads out of the workspace"},
	} {
		out := p.run(viewImage{}, p.call(m{"path": c.path}))
		if out.Status != protocol.ToolFailed || !strings.Contains(out.Result.Output, c.want) || len(out.Image) > 0 {
			t.Errorf("%s: %s %q, want %q", c.path, out.Status, out.Result.Output, c.want)
		}
	}
}

// bombPNG claims to have 900 million pixels.
func bombPNG(t *testing.T) string {
	content := []byte(pngOf(t, image.NewGray(image.Rect(0, 0, 30000, 1))))
	// The height is in the header, followed by a checksum.
	content[20], content[21], content[22], content[23] = 0, 0, 0x75, 0x30
	sum := crc(content[12:29])
	for i := range 4 {
		content[29+i] = byte(sum >> (24 - 8*i))
	}
	return string(content)
}
