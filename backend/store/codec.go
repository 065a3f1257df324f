package store

import (
	"fmt"
	"sync"

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
	// spaces are pieces of memory for what is compressed.
	spaces sync.Pool
}

// packedMost is the most that so many bytes take when they are compressed.
func packedMost(n int) int { return n + n>>7 + 128 }

// space returns n bytes, to be put back into spaces.
func (c *codec) space(n int) *[]byte {
	if space, ok := c.spaces.Get().(*[]byte); ok && cap(*space) >= n {
		return space
	}
	space := make([]byte, max(n, 4096))
	return &space
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

// pack returns the form to store, in space if that is large enough. It may return
// content itself.
func (c *codec) pack(content, space []byte) (kind int, data []byte) {
	if len(content) < compressFrom {
		return codecRaw, content
	}
	data = c.enc.EncodeAll(content, space[:0])
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
