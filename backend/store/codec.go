package store

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// How a value lies in the database.
const (
	codecRaw  = 0
	codecZstd = 1
)

// compressFrom is the size from which compressing pays: below it the frame's
// header eats what is gained.
const compressFrom = 256

// codec compresses what it can. It is safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (*codec, error) {
	// A small window and few coders keep the memory of an idle app low; the
	// content is cut into pieces of about this size anyway.
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(2),
		zstd.WithWindowSize(1<<20),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("make the compressor: %w", err)
	}
	dec, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(4),
		zstd.WithDecoderLowmem(true),
		// The decoder refuses what no Put can have written, so a damaged frame
		// can't ask for all memory.
		zstd.WithDecoderMaxMemory(MaxObjectBytes))
	if err != nil {
		return nil, fmt.Errorf("make the decompressor: %w", err)
	}
	return &codec{enc: enc, dec: dec}, nil
}

// pack returns the form to store. It may return content itself.
func (c *codec) pack(content []byte) (kind int, data []byte) {
	if len(content) < compressFrom {
		return codecRaw, content
	}
	data = c.enc.EncodeAll(content, make([]byte, 0, len(content)/2))
	if len(data) > len(content)-len(content)/16 {
		return codecRaw, content
	}
	return codecZstd, data
}

func (c *codec) unpack(kind int, data []byte) ([]byte, error) {
	switch kind {
	case codecRaw:
		return data, nil
	case codecZstd:
		content, err := c.dec.DecodeAll(data, nil)
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		return content, nil
	default:
		return nil, fmt.Errorf("unknown compression %d", kind)
	}
}

func (c *codec) close() {
	_ = c.enc.Close()
	c.dec.Close()
}
