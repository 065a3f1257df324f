package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"

	"temporal-sandbox-agent/backend/store"
)

// The form of the objects of a snapshot, version 1. Each begins with four bytes
// that say what it is, the last being the version. Numbers are varints as of
// encoding/binary, paths and targets are their length and their bytes, ids are
// 32 raw bytes. Each has one form only: what a decoder takes, it gives again.
//
//	page    "tsp1", number of entries, entries:
//	          kind (a byte: 1 folder, 2 file, 3 file in chunks, 4 link, 5 link
//	          that leads outside); how many bytes the path shares with that of
//	          the entry before; the rest of the path;
//	          folder  mode
//	          file    mode, size, time (signed), SHA-256; if in chunks: their list
//	          link    target
//	chunks  "tsc1", number of parts, parts: size, id
//	root    "tsr1", number of entries, size of all files,
//	        number of excluded paths, the paths,
//	        number of skipped paths, for each: path, why (a byte, see why.go),
//	        number of pages, for each: the first path, number of entries, id
//
// Entries are in the order of comparePaths, and each one's folder is an entry
// before it. A file over maxWhole is in chunks. A mode is the 12 bits of Unix.
const (
	pageMagic   = "tsp1"
	chunksMagic = "tsc1"
	rootMagic   = "tsr1"
)

const (
	formDir byte = iota + 1
	formFile
	formChunked
	formLink
	formOutside
)

const (
	// maxWhole is the size up to which a file is one object.
	maxWhole = 1 << 20
	// maxChunk is the largest part of a file.
	maxChunk = 2 << 20
	// maxPage is the most entries of a page.
	maxPage = 1024
	maxMode = 0o7777
)

// page is a root's entry for a page.
type page struct {
	first string
	count int
	id    store.ID
}

// root is the object that a snapshot is named by.
type root struct {
	entries  int
	bytes    int64
	excluded []string
	skipped  []skipped
	pages    []page
}

type chunk struct {
	size int64
	id   store.ID
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendID(b []byte, id store.ID) []byte {
	raw, _ := hex.DecodeString(string(id)) // ids come from the store, or from decoder.id
	return append(b, raw...)
}

func idOf(sum [32]byte) store.ID { return store.ID(hex.EncodeToString(sum[:])) }

func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// appendFile adds an entry to a page whose last entry has the path before.
func appendFile(b []byte, before string, f *File) []byte {
	form := formDir
	switch {
	case f.Kind == KindFile && f.Chunks != "":
		form = formChunked
	case f.Kind == KindFile:
		form = formFile
	case f.Kind == KindLink && f.Outside:
		form = formOutside
	case f.Kind == KindLink:
		form = formLink
	}
	shared := sharedPrefix(before, f.Path)
	b = append(b, form)
	b = binary.AppendUvarint(b, uint64(shared))
	b = appendString(b, f.Path[shared:])
	switch form {
	case formDir:
		b = binary.AppendUvarint(b, uint64(unixMode(f.Mode)))
	case formFile, formChunked:
		b = binary.AppendUvarint(b, uint64(unixMode(f.Mode)))
		b = binary.AppendUvarint(b, uint64(f.Size))
		b = binary.AppendVarint(b, f.Modified)
		b = append(b, f.Sum[:]...)
		if form == formChunked {
			b = appendID(b, f.Chunks)
		}
	default:
		b = appendString(b, f.Target)
	}
	return b
}

func encodePage(files []File) []byte {
	b := binary.AppendUvarint([]byte(pageMagic), uint64(len(files)))
	before := ""
	for i := range files {
		b = appendFile(b, before, &files[i])
		before = files[i].Path
	}
	return b
}

func decodePage(data []byte) ([]File, error) {
	d := &decoder{data: data}
	d.magic(pageMagic)
	n := d.count(maxPage)
	var files []File
	before := ""
	for i := 0; i < n && d.err == nil; i++ {
		f := d.file(before)
		if i > 0 && comparePaths(before, f.Path) >= 0 {
			d.fail("entries are not in order")
		}
		before = f.Path
		files = append(files, f)
	}
	return files, d.end(len(files) > 0, func() []byte { return encodePage(files) })
}

func (d *decoder) file(before string) File {
	var f File
	form := d.byte()
	shared := int(d.uvarint(uint64(len(before))))
	if d.err != nil {
		return f
	}
	f.Path = before[:shared] + d.string(maxPath)
	if !validPath(f.Path) {
		d.fail("a path is not allowed")
		return f
	}
	switch form {
	case formDir:
		f.Kind = KindDir
		f.Mode = fileMode(uint32(d.uvarint(maxMode)))
	case formFile, formChunked:
		f.Kind = KindFile
		f.Mode = fileMode(uint32(d.uvarint(maxMode)))
		f.Size = int64(d.uvarint(1 << 62))
		f.Modified = d.varint()
		f.Sum = d.sum()
		if form == formChunked {
			f.Chunks = idOf(d.sum())
		}
		if (form == formChunked) != (f.Size > maxWhole) {
			d.fail("a file of this size is not stored like this")
		}
	case formLink, formOutside:
		f.Kind = KindLink
		f.Target = d.string(maxPath)
		f.Outside = form == formOutside
		if f.Outside != leadsOutside(f.Path, f.Target) {
			d.fail("a link is not marked as it should be")
		}
		if !validTarget(f.Target) {
			d.fail("the target of a link is not allowed")
		}
	default:
		d.fail("an entry is of an unknown kind")
	}
	return f
}

func encodeChunks(chunks []chunk) []byte {
	b := binary.AppendUvarint([]byte(chunksMagic), uint64(len(chunks)))
	for _, c := range chunks {
		b = binary.AppendUvarint(b, uint64(c.size))
		b = appendID(b, c.id)
	}
	return b
}

// decodeChunks returns the parts of a file of so many bytes.
func decodeChunks(data []byte, size int64) ([]chunk, error) {
	d := &decoder{data: data}
	d.magic(chunksMagic)
	n := d.count(len(data))
	var chunks []chunk
	left := size
	for i := 0; i < n && d.err == nil; i++ {
		c := chunk{size: int64(d.uvarint(maxChunk)), id: idOf(d.sum())}
		if c.size == 0 {
			d.fail("a part is empty")
		}
		left -= c.size
		chunks = append(chunks, c)
	}
	if d.err == nil && left != 0 {
		d.fail("the parts are not as long as the file")
	}
	return chunks, d.end(len(chunks) > 0, func() []byte { return encodeChunks(chunks) })
}

func encodeRoot(r *root) []byte {
	b := binary.AppendUvarint([]byte(rootMagic), uint64(r.entries))
	b = binary.AppendUvarint(b, uint64(r.bytes))
	b = binary.AppendUvarint(b, uint64(len(r.excluded)))
	for _, p := range r.excluded {
		b = appendString(b, p)
	}
	b = binary.AppendUvarint(b, uint64(len(r.skipped)))
	for _, s := range r.skipped {
		b = append(appendString(b, s.path), byte(s.why))
	}
	b = binary.AppendUvarint(b, uint64(len(r.pages)))
	for _, p := range r.pages {
		b = appendString(b, p.first)
		b = binary.AppendUvarint(b, uint64(p.count))
		b = appendID(b, p.id)
	}
	return b
}

func decodeRoot(data []byte) (*root, error) {
	d := &decoder{data: data}
	d.magic(rootMagic)
	r := &root{entries: int(d.uvarint(1 << 40)), bytes: int64(d.uvarint(1 << 62))}
	for range d.count(len(data)) {
		r.excluded = append(r.excluded, d.path(r.excluded))
		if d.err != nil {
			break
		}
	}
	var paths []string
	for range d.count(len(data)) {
		paths = append(paths, d.path(paths))
		s := skipped{path: paths[len(paths)-1], why: why(d.byte())}
		if s.why.text() == "" {
			d.fail("an entry is skipped for an unknown reason")
		}
		r.skipped = append(r.skipped, s)
		if d.err != nil {
			break
		}
	}
	var firsts []string
	entries := 0
	for range d.count(len(data)) {
		firsts = append(firsts, d.path(firsts))
		p := page{first: firsts[len(firsts)-1], count: int(d.uvarint(maxPage)), id: idOf(d.sum())}
		if p.count == 0 {
			d.fail("a page is empty")
		}
		entries += p.count
		r.pages = append(r.pages, p)
		if d.err != nil {
			break
		}
	}
	if d.err == nil && entries != r.entries {
		d.fail("the pages don't hold as many entries as the root says")
	}
	return r, d.end(true, func() []byte { return encodeRoot(r) })
}

// decoder reads an object; after an error it reads nothing.
type decoder struct {
	data []byte
	at   int
	err  error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrInvalid, what)
	}
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n > len(d.data)-d.at {
		d.fail("it is cut off")
		return nil
	}
	d.at += n
	return d.data[d.at-n : d.at]
}

func (d *decoder) magic(want string) {
	if got := d.take(len(want)); d.err == nil && string(got) != want {
		d.fail("it is of another kind, or of a version that this app does not know")
	}
}

func (d *decoder) byte() byte {
	if b := d.take(1); d.err == nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint(most uint64) uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.data[d.at:])
	if n <= 0 || v > most {
		d.fail("a number is not allowed")
		return 0
	}
	d.at += n
	return v
}

func (d *decoder) varint() int64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Varint(d.data[d.at:])
	if n <= 0 {
		d.fail("a number is not allowed")
		return 0
	}
	d.at += n
	return v
}

// count reads how many of something follow; each takes a byte at least.
func (d *decoder) count(most int) int {
	return int(d.uvarint(uint64(min(most, max(len(d.data)-d.at, 0)))))
}

func (d *decoder) string(most int) string { return string(d.take(int(d.uvarint(uint64(most))))) }

func (d *decoder) sum() (sum [32]byte) {
	copy(sum[:], d.take(len(sum)))
	return sum
}

// path reads a path that comes after those before it.
func (d *decoder) path(before []string) string {
	p := d.string(maxPath)
	if d.err == nil && !validPath(p) {
		d.fail("a path is not allowed")
	}
	if len(before) > 0 && comparePaths(before[len(before)-1], p) >= 0 {
		d.fail("paths are not in order")
	}
	return p
}

// end checks that all was read, and that it is the one form of what it says.
func (d *decoder) end(ok bool, encode func() []byte) error {
	if !ok {
		d.fail("it is empty")
	}
	if d.err == nil && (d.at != len(d.data) || !bytes.Equal(encode(), d.data)) {
		d.fail("it is not in the one form that it has")
	}
	return d.err
}

// unixMode is the 12 bits of a mode.
func unixMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

func fileMode(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	if bits&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if bits&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if bits&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}
