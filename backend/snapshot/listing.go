package snapshot

import (
	"encoding/binary"
	"io/fs"
	"slices"
	"unsafe"
)

// listing keeps the entries of a List in a compact form: a tree of 200,000 files
// takes some 20 MB.
type listing struct {
	blocks [][]byte
	refs   []uint64 // block number and place in it
}

const listingBlock = 256 << 10

func (l *listing) add(e *Entry) {
	need := len(e.Name) + len(e.Target) + 8*binary.MaxVarintLen64
	if n := len(l.blocks); n == 0 || cap(l.blocks[n-1])-len(l.blocks[n-1]) < need {
		l.blocks = append(l.blocks, make([]byte, 0, max(listingBlock, need)))
	}
	n := len(l.blocks) - 1
	b := l.blocks[n]
	l.refs = append(l.refs, uint64(n)<<32|uint64(len(b)))
	b = appendString(b, e.Name)
	b = binary.AppendUvarint(b, uint64(e.Mode))
	b = binary.AppendVarint(b, e.Size)
	b = binary.AppendVarint(b, e.Held)
	b = binary.AppendVarint(b, e.Modified)
	b = binary.AppendVarint(b, e.Changed)
	b = binary.AppendUvarint(b, e.Inode)
	l.blocks[n] = appendString(b, e.Target)
}

func (l *listing) len() int { return len(l.refs) }

func (l *listing) at(ref uint64) []byte { return l.blocks[ref>>32][uint32(ref):] }

// name is the path of the entry at ref. Blocks are not written again where an
// entry is, so the string may share their memory.
func (l *listing) name(ref uint64) string {
	b := l.at(ref)
	n, skip := binary.Uvarint(b)
	return unsafe.String(unsafe.SliceData(b[skip:]), int(n))
}

// entry returns the entry with number i.
func (l *listing) entry(i int) Entry {
	e := Entry{Name: l.name(l.refs[i])}
	b := l.at(l.refs[i])
	_, skip := binary.Uvarint(b)
	b = b[skip+len(e.Name):]
	unsigned := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b)
		b = b[n:]
		return v
	}
	e.Mode = fs.FileMode(unsigned())
	e.Size, e.Held, e.Modified, e.Changed = signed(), signed(), signed(), signed()
	e.Inode = unsigned()
	if n := unsigned(); n > 0 {
		e.Target = string(b[:n])
	}
	return e
}

// sort puts the entries into the order of their paths.
func (l *listing) sort() {
	slices.SortFunc(l.refs, func(a, b uint64) int { return comparePaths(l.name(a), l.name(b)) })
}

// find returns the number of the entry with a path, once they are sorted.
func (l *listing) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.refs, name, func(ref uint64, name string) int { return comparePaths(l.name(ref), name) })
}
