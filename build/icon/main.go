// Command icon draws the app's icon files from one description of the mark.
// Run it from the project's root after changing mark.go: go run ./build/icon
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
)

func main() {
	if err := write("build"); err != nil {
		fmt.Fprintln(os.Stderr, "icon:", err)
		os.Exit(1)
	}
}

// write puts every icon file at the place below dir where the packaging looks for it.
func write(dir string) error {
	large, err := pngOf(1024)
	if err != nil {
		return err
	}
	ico, err := icoOf(16, 24, 32, 48, 64, 128, 256)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"appicon.png":                      large,
		"windows/icon.ico":                 ico,
		"linux/temporal-sandbox-agent.svg": []byte(svg()),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("write icon: %w", err)
		}
	}
	return nil
}

func pngOf(size int) ([]byte, error) {
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	if err := e.Encode(&b, draw(size)); err != nil {
		return nil, fmt.Errorf("encode icon of %d pixels: %w", size, err)
	}
	return b.Bytes(), nil
}

// icoOf packs one PNG per size into a Windows icon: a 6-byte header, a 16-byte entry
// for each image, then the images.
func icoOf(sizes ...int) ([]byte, error) {
	var head, body bytes.Buffer
	put := func(values ...any) error {
		for _, v := range values {
			if err := binary.Write(&head, binary.LittleEndian, v); err != nil {
				return fmt.Errorf("pack icon: %w", err)
			}
		}
		return nil
	}
	if err := put(uint16(0), uint16(1), uint16(len(sizes))); err != nil {
		return nil, err
	}
	offset := 6 + 16*len(sizes)
	for _, size := range sizes {
		content, err := pngOf(size)
		if err != nil {
			return nil, err
		}
		side := uint8(size % 256) // 0 stands for 256
		if err := put(side, side, uint8(0), uint8(0), uint16(1), uint16(32),
			uint32(len(content)), uint32(offset+body.Len())); err != nil {
			return nil, err
		}
		body.Write(content)
	}
	return append(head.Bytes(), body.Bytes()...), nil
}
