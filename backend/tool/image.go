package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"strings"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

// viewImage shows the model a picture of the workspace.
type viewImage struct{}

const (
	// maxImageFile is the largest image file, in bytes.
	maxImageFile = 20 << 20
	// maxPixels bounds the memory that decoding takes: 4 bytes each.
	maxPixels = 50_000_000
	// maxSide is the longest side that models make use of, in pixels.
	maxSide = 2048
	// maxPlainPNG is from where on a photograph is sent as a JPEG, in bytes.
	maxPlainPNG = 4 << 20
)

const imageUsage = `{"path": text (required)}`

type imageArgs struct {
	Path string `json:"path"`
}

func (viewImage) Name() string { return "view_image" }

func (viewImage) Description() string {
	return "Shows you an image of the workspace (PNG, JPEG, GIF or WebP, at most 20 MB). Large ones are scaled down to 2048 pixels."
}

func (viewImage) Schema() json.RawMessage {
	return json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The image file, relative to the workspace."}
  },
  "required": ["path"],
  "additionalProperties": false
}`)
}

func parseImage(raw json.RawMessage) (imageArgs, error) {
	var a imageArgs
	if err := decode(raw, &a, imageUsage); err != nil {
		return a, err
	}
	if a.Path == "" {
		return a, errors.New("path is missing; expected " + imageUsage)
	}
	if strings.ContainsRune(a.Path, 0) {
		return a, errors.New("path can't hold NUL bytes")
	}
	return a, nil
}

func (viewImage) Assess(raw json.RawMessage, env Env) (protocol.Ask, error) {
	a, err := parseImage(raw)
	if err != nil {
		return protocol.Ask{}, err
	}
	return protocol.Ask{Title: oneLine("View " + shown(a.Path)), Dir: env.Root}, nil
}

func (viewImage) Run(ctx context.Context, call Call) (Outcome, error) {
	a, err := parseImage(call.Args)
	if err != nil {
		return failed("%s", err), nil
	}
	files := call.Sandbox.Files()
	name, _ := within(call.Sandbox.Root(), a.Path)
	real, info, err := follow(ctx, files, call.Sandbox.Root(), name)
	if err == nil {
		err = checkImageFile(name, info)
	}
	if err != nil {
		return cannotRead(ctx, files, name, err)
	}
	content, err := readAll(ctx, files, real, maxImageFile)
	if err != nil {
		return cannotRead(ctx, files, name, err)
	}
	pic, err := prepareImage(content)
	if err != nil {
		return failed("%s can't be shown: %s.", shown(name), err), nil
	}
	text := fmt.Sprintf("%s: %s, %d × %d pixels, %s", shown(name), pic.kind, pic.width, pic.height, bytesText(int64(len(content))))
	if pic.note != "" {
		text += " (" + pic.note + ")"
	}
	return Outcome{
		Status:    protocol.ToolDone,
		Result:    protocol.ToolResult{Output: text + ".", OutputBytes: int64(len(content))},
		Image:     pic.content,
		ImageMIME: pic.mime,
	}, nil
}

func checkImageFile(name string, info sandbox.Info) error {
	switch {
	case info.Mode.IsDir():
		return refuse("%s is a folder.", shown(name))
	case info.Mode&fs.ModeType != 0:
		return refuse("%s is not a regular file.", shown(name))
	case info.Size > maxImageFile:
		return refuse("%s is larger than 20 MB (%s): make a smaller copy of it.", shown(name), bytesText(info.Size))
	case info.Size == 0:
		return refuse("%s is empty.", shown(name))
	}
	return nil
}

// imageType tells the type of an image by its first bytes; empty if it is none
// that can be shown.
func imageType(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "PNG"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "JPEG"
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "GIF"
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "WebP"
	}
	return ""
}

// picture is an image that is ready for a model.
type picture struct {
	content       []byte
	mime          string
	kind          string
	width, height int
	// note says what was done to it.
	note string
}

// prepareImage decodes an image as a whole, since a service that gets a broken
// one refuses the whole request, and makes it no larger than is of use.
func prepareImage(content []byte) (picture, error) {
	p := picture{content: content, kind: imageType(content)}
	if p.kind == "" {
		return p, errors.New("it is not a PNG, JPEG, GIF or WebP image")
	}
	p.mime = "image/" + strings.ToLower(p.kind)
	config, err := decodeConfig(p.kind, content)
	if err != nil {
		return p, fmt.Errorf("the %s is damaged or of a kind that is not supported (%w)", p.kind, err)
	}
	p.width, p.height = config.Width, config.Height
	if p.width <= 0 || p.height <= 0 || p.width > maxPixels/p.height {
		return p, fmt.Errorf("its %d × %d pixels are too many", p.width, p.height)
	}
	img, frames, err := decodeImage(p.kind, content)
	if err != nil {
		return p, fmt.Errorf("the %s is damaged or of a kind that is not supported (%w)", p.kind, err)
	}
	w, h := fitted(p.width, p.height)
	scaled := w != p.width || h != p.height
	large := p.kind == "PNG" && len(content) > maxPlainPNG
	if !scaled && frames == 1 && !large {
		return p, nil
	}
	if scaled {
		small := image.NewRGBA(image.Rect(0, 0, w, h))
		xdraw.BiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
		img = small
		p.note = fmt.Sprintf("shown at %d × %d", w, h)
	}
	if frames > 1 {
		p.note = strings.TrimPrefix(p.note+", only the first of its pictures", ", ")
	}
	return p, p.encode(img)
}

// encode writes the picture anew: a photograph as JPEG, what has few colours
// or is transparent as PNG.
func (p *picture) encode(img image.Image) error {
	var b bytes.Buffer
	if p.kind != "JPEG" {
		if err := png.Encode(&b, img); err != nil {
			return fmt.Errorf("it can't be written as PNG: %w", err)
		}
		opaque, ok := img.(interface{ Opaque() bool })
		if b.Len() <= maxPlainPNG || !ok || !opaque.Opaque() {
			p.content, p.mime = b.Bytes(), "image/png"
			return nil
		}
		b.Reset()
	}
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 88}); err != nil {
		return fmt.Errorf("it can't be written as JPEG: %w", err)
	}
	p.content, p.mime = b.Bytes(), "image/jpeg"
	return nil
}

// fitted returns the size with neither side longer than maxSide.
func fitted(w, h int) (int, int) {
	long := max(w, h)
	if long <= maxSide {
		return w, h
	}
	return max(w*maxSide/long, 1), max(h*maxSide/long, 1)
}

func decodeConfig(kind string, content []byte) (image.Config, error) {
	r := bytes.NewReader(content)
	switch kind {
	case "PNG":
		return png.DecodeConfig(r)
	case "JPEG":
		return jpeg.DecodeConfig(r)
	case "GIF":
		return gif.DecodeConfig(r)
	}
	return webp.DecodeConfig(r)
}

// decodeImage returns the (first) picture and how many there are, 2 for many.
func decodeImage(kind string, content []byte) (image.Image, int, error) {
	r := bytes.NewReader(content)
	var img image.Image
	var err error
	switch kind {
	case "PNG":
		img, err = png.Decode(r)
	case "JPEG":
		img, err = jpeg.Decode(r)
	case "WebP":
		img, err = webp.Decode(r)
	default:
		img, err = gif.Decode(r)
		if err == nil && bytes.Count(content, []byte("\x21\xf9\x04")) > 1 {
			return img, 2, nil
		}
	}
	return img, 1, err
}
