// Package archive writes a session into one file and reads it back: a .tsa
// file, which holds the conversation and the files of every turn.
//
// The file begins with the eight bytes "TSA 1\r\n\x1a". What follows is one zstd
// stream of frames; each is a length (unsigned, little-endian, 4 bytes), a kind
// (1 byte) and that many bytes:
//
//	'H'  the head: JSON, see Head. The first frame, and the only one of its kind.
//	'O'  an object of the store. Its name is the SHA-256 of its bytes, so that it
//	     can't be anything but what the head or another object names.
//	'E'  the end: the number of objects (8 bytes, little-endian) and the SHA-256
//	     of all bytes of the stream before this frame.
//
// Objects come in no particular order, each once, and none that nothing names. A
// reader takes nothing on trust: every object is hashed, everything that the head
// leads to must be there and sound, and names of files are checked as those of
// any snapshot.
package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"time"

	"github.com/klauspost/compress/zstd"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// magic begins every archive; the last bytes show when a file was sent as text.
const magic = "TSA 1\r\n\x1a"

// Version is the version of Head that this package writes.
const Version = 1

// Limits of what is read.
const (
	maxHead    = 1 << 20
	maxObject  = store.MaxObjectBytes
	maxObjects = 5_000_000
	// maxBytes is how much an archive may hold when it is unpacked.
	maxBytes  = 64 << 30
	maxWindow = 8 << 20
)

// ErrInvalid is returned for a file that is no archive, or of one that was
// damaged or made up.
var ErrInvalid = errors.New("not a sound session file")

// ErrNewer is returned for an archive of a newer version of the app.
var ErrNewer = errors.New("a session file of a newer version")

// Head tells what an archive holds.
type Head struct {
	Version int `json:"version"`
	// App is the version of the app that wrote it.
	App     string    `json:"app,omitempty"`
	Written time.Time `json:"written"`

	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Backend string    `json:"backend"`
	Created time.Time `json:"created"`
	Turns   int       `json:"turns"`
	// Commit is the last commit of the conversation, Snapshot the files; either
	// may be empty.
	Commit    store.ID                `json:"commit,omitempty"`
	Snapshot  store.ID                `json:"snapshot,omitempty"`
	Options   protocol.Options        `json:"options"`
	Snapshots protocol.SnapshotPolicy `json:"snapshots"`
	Usage     protocol.Usage          `json:"usage"`
	// Lineage names the sessions that it was forked from, the nearest first.
	Lineage []Ancestor `json:"lineage,omitempty"`
}

// Ancestor is a session that another was forked from.
type Ancestor struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

const (
	frameHead   = 'H'
	frameObject = 'O'
	frameEnd    = 'E'
)

// frameWriter writes frames.
type frameWriter struct {
	zip     *zstd.Encoder
	hash    hash.Hash
	objects uint64
}

func newFrameWriter(w io.Writer) (*frameWriter, error) {
	if _, err := io.WriteString(w, magic); err != nil {
		return nil, err
	}
	zip, err := zstd.NewWriter(w, zstd.WithWindowSize(maxWindow), zstd.WithEncoderConcurrency(2))
	if err != nil {
		return nil, err
	}
	return &frameWriter{zip: zip, hash: sha256.New()}, nil
}

func (w *frameWriter) frame(kind byte, data []byte) error {
	var head [5]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(data)))
	head[4] = kind
	w.hash.Write(head[:])
	w.hash.Write(data)
	if _, err := w.zip.Write(head[:]); err != nil {
		return err
	}
	_, err := w.zip.Write(data)
	return err
}

func (w *frameWriter) object(data []byte) error {
	w.objects++
	return w.frame(frameObject, data)
}

// end writes the last frame and closes the stream.
func (w *frameWriter) end() error {
	data := binary.LittleEndian.AppendUint64(nil, w.objects)
	data = w.hash.Sum(data)
	return errors.Join(w.frame(frameEnd, data), w.zip.Close())
}

// frameReader reads frames.
type frameReader struct {
	zip     *zstd.Decoder
	hash    hash.Hash
	objects uint64
	bytes   int64
}

func newFrameReader(r io.Reader) (*frameReader, error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != magic {
		if digit := head[4]; digit > '1' && digit <= '9' && string(head) == magic[:4]+string(digit)+magic[5:] {
			return nil, fmt.Errorf("%w: of another form", ErrNewer)
		}
		return nil, unsound(err, "it does not begin like one")
	}
	zip, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &frameReader{zip: zip, hash: sha256.New()}, nil
}

func (r *frameReader) close() { r.zip.Close() }

// next reads a frame. After the end frame it returns io.EOF.
func (r *frameReader) next() (kind byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r.zip, head[:]); err != nil {
		return 0, nil, unsound(err, "it is cut off")
	}
	size, kind := int64(binary.LittleEndian.Uint32(head[:4])), head[4]
	limit := int64(maxObject)
	switch kind {
	case frameHead:
		limit = maxHead
	case frameEnd:
		limit = 8 + sha256.Size
	case frameObject:
	default:
		return 0, nil, fmt.Errorf("%w: it has an unknown part", ErrInvalid)
	}
	if r.bytes += size; size > limit || r.bytes > maxBytes {
		return 0, nil, fmt.Errorf("%w: it is too large", ErrInvalid)
	}
	before := r.hash.Sum(nil)
	// The buffer grows with what really comes: a length alone costs nothing.
	var buffer bytes.Buffer
	if n, err := io.CopyN(&buffer, r.zip, size); err != nil || n != size {
		return 0, nil, unsound(err, "it is cut off")
	}
	data = buffer.Bytes()
	if kind == frameEnd {
		return kind, nil, r.checkEnd(data, before)
	}
	r.hash.Write(head[:])
	r.hash.Write(data)
	if kind == frameObject {
		if r.objects++; r.objects > maxObjects {
			return 0, nil, fmt.Errorf("%w: it has too many parts", ErrInvalid)
		}
	}
	return kind, data, nil
}

// checkEnd checks the end frame, and that nothing comes after it.
func (r *frameReader) checkEnd(data, sum []byte) error {
	if len(data) != 8+sha256.Size || binary.LittleEndian.Uint64(data) != r.objects || !bytes.Equal(data[8:], sum) {
		return fmt.Errorf("%w: its end does not fit the rest", ErrInvalid)
	}
	if n, err := io.CopyN(io.Discard, r.zip, 1); n != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something comes after its end", ErrInvalid)
	}
	return io.EOF
}

// unsound classifies an error of reading: one of the file's content, not of the
// disk, is ErrInvalid.
func unsound(err error, why string) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %s", ErrInvalid, why)
	}
	if _, disk := errors.AsType[*fs.PathError](err); disk {
		return err
	}
	return fmt.Errorf("%w: unpack it: %w", ErrInvalid, err)
}
