package shtree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

// What a sandbox answers is not trusted: it may not take all memory.
const (
	// recordMax bounds a record: two paths and some numbers.
	recordMax = 64 << 10
	// listMax and dirMax bound all records of an answer, in bytes: those of some
	// million files, and those of a folder.
	listMax = 512 << 20
	dirMax  = 64 << 20
)

// errEndless is returned for an answer with more records than it may have.
var errEndless = errors.New("there are more names than can be listed")

// records reads what a script tells of files: a word for the kind of records,
// and the records, up to one that begins with "end". There are two kinds, as
// scripts/lib.sh says.
type records struct {
	r     *bufio.Reader
	nonce string
	stat  bool
	most  int // bytes
	read  int
}

// begin reads the kind.
func (rs *records) begin() error {
	word, err := readZero(rs.r)
	if err != nil {
		return err
	}
	switch word {
	case "gnu":
	case "stat":
		rs.stat = true
	default:
		return fmt.Errorf("there are no records of the kind %.20q", word)
	}
	return nil
}

// next returns the next entry. After the last it returns io.EOF.
func (rs *records) next() (sandbox.Entry, error) {
	peek, err := rs.r.Peek(4)
	if err != nil {
		return sandbox.Entry{}, io.ErrUnexpectedEOF
	}
	if string(peek) == "end " {
		if _, err := readZero(rs.r); err != nil {
			return sandbox.Entry{}, err
		}
		return sandbox.Entry{}, io.EOF
	}
	next := rs.nextFind
	if rs.stat {
		next = rs.nextStat
	}
	e, err := next()
	if err == nil && rs.read > rs.most {
		err = errEndless
	}
	return e, err
}

// nextFind reads "type mode inode size blocks mtime ctime name NUL target NUL".
func (rs *records) nextFind() (sandbox.Entry, error) {
	line, err := readZero(rs.r)
	if err != nil {
		return sandbox.Entry{}, err
	}
	target, err := readZero(rs.r)
	if err != nil {
		return sandbox.Entry{}, err
	}
	rs.read += len(line) + len(target)
	f := strings.SplitN(line, " ", 8)
	if len(f) != 8 {
		return sandbox.Entry{}, fmt.Errorf("the record %.80q is not whole", line)
	}
	perm, err := strconv.ParseUint(f[1], 8, 32)
	if err != nil {
		return sandbox.Entry{}, fmt.Errorf("the mode in %.80q is none", line)
	}
	e := sandbox.Entry{Name: strings.TrimPrefix(f[7], "./"), Mode: modeOf(uint32(perm)) | typeOfLetter(f[0]), Target: target}
	return e, rs.numbers(&e, f[2], f[3], f[4], parseSeconds(f[5]), parseSeconds(f[6]))
}

// nextStat reads "mode inode size blocks mtime ctime name", a mark, what stat
// makes of the name and the target, and a mark. Times are of three words.
func (rs *records) nextStat() (sandbox.Entry, error) {
	line, err := rs.marked()
	if err != nil {
		return sandbox.Entry{}, err
	}
	both, err := rs.marked()
	if err != nil {
		return sandbox.Entry{}, err
	}
	rs.read += len(line) + len(both)
	f := strings.SplitN(line, " ", 11)
	if len(f) != 11 {
		return sandbox.Entry{}, fmt.Errorf("the record %.80q is not whole", line)
	}
	raw, err := strconv.ParseUint(f[0], 16, 32)
	if err != nil {
		return sandbox.Entry{}, fmt.Errorf("the mode in %.80q is none", line)
	}
	name := f[10]
	e := sandbox.Entry{Name: strings.TrimPrefix(name, "./"), Mode: modeOf(uint32(raw)) | typeOfMode(uint32(raw))}
	if e.Mode&fs.ModeSymlink != 0 {
		target, ok := strings.CutPrefix(both, "'"+name+"' -> '")
		if !ok || !strings.HasSuffix(target, "'") {
			return sandbox.Entry{}, fmt.Errorf("the link %.80q is not told as it should", both)
		}
		e.Target = strings.TrimSuffix(target, "'")
	}
	return e, rs.numbers(&e, f[1], f[2], f[3], parseTime(f[4], f[5]), parseTime(f[7], f[8]))
}

func (rs *records) numbers(e *sandbox.Entry, inode, size, blocks string, modified, changed int64) error {
	var errs [3]error
	e.Inode, errs[0] = strconv.ParseUint(inode, 10, 64)
	var held, length uint64
	held, errs[1] = strconv.ParseUint(blocks, 10, 63-9)
	if e.Mode.IsRegular() {
		e.Held = int64(held) * 512
		length, errs[2] = strconv.ParseUint(size, 10, 63)
		e.Size = int64(length)
	}
	e.Modified, e.Changed = modified, changed
	return errors.Join(errs[:]...)
}

// marked reads up to a mark, which is left out.
func (rs *records) marked() (string, error) {
	mark := "//" + rs.nonce + "\n"
	var text []byte
	for {
		part, err := rs.r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", unexpected(err)
		}
		text = append(text, part...)
		if bytes.HasSuffix(text, []byte(mark)) {
			return string(text[:len(text)-len(mark)]), nil
		}
		if len(text) > recordMax {
			return "", errors.New("a record does not end")
		}
	}
}

// readZero reads up to a NUL, which is left out.
func readZero(r *bufio.Reader) (string, error) {
	text, err := readTo(r, 0)
	if err != nil {
		return "", unexpected(err)
	}
	return string(text[:len(text)-1]), nil
}

// readTo reads up to a character, which is the last of what it returns unless
// there is an error.
func readTo(r *bufio.Reader, end byte) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice(end)
		text = append(text, part...)
		switch {
		case err == nil:
			return text, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return text, err
		case len(text) > recordMax:
			return text, errors.New("a record does not end")
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// modeOf is the permissions of a mode of the system, with setuid, setgid and
// sticky.
func modeOf(raw uint32) fs.FileMode {
	mode := fs.FileMode(raw & 0o777)
	if raw&0o4000 != 0 {
		mode |= fs.ModeSetuid
	}
	if raw&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	if raw&0o1000 != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// rawMode is the opposite of modeOf.
func rawMode(mode fs.FileMode) int64 {
	raw := int64(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		raw |= 0o4000
	}
	if mode&fs.ModeSetgid != 0 {
		raw |= 0o2000
	}
	if mode&fs.ModeSticky != 0 {
		raw |= 0o1000
	}
	return raw
}

func typeOfLetter(letter string) fs.FileMode {
	switch letter {
	case "f":
		return 0
	case "d":
		return fs.ModeDir
	case "l":
		return fs.ModeSymlink
	case "p":
		return fs.ModeNamedPipe
	case "s":
		return fs.ModeSocket
	case "b":
		return fs.ModeDevice
	case "c":
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return fs.ModeIrregular
}

func typeOfMode(raw uint32) fs.FileMode {
	switch raw & 0o170000 {
	case 0o100000:
		return 0
	case 0o040000:
		return fs.ModeDir
	case 0o120000:
		return fs.ModeSymlink
	case 0o010000:
		return fs.ModeNamedPipe
	case 0o140000:
		return fs.ModeSocket
	case 0o060000:
		return fs.ModeDevice
	case 0o020000:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return fs.ModeIrregular
}

// parseSeconds reads a time in seconds with a fraction, as nanoseconds since
// 1970.
func parseSeconds(text string) int64 {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, _ := strconv.ParseInt(whole, 10, 64) // 0 is as good as any for what is no time
	nanos, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	// Also before 1970 the fraction counts upwards.
	return seconds*1e9 + nanos
}

// parseTime reads a day and a time of it, UTC.
func parseTime(day, clock string) int64 {
	t, err := time.Parse("2006-01-02 15:04:05.999999999", day+" "+clock)
	if err != nil {
		return 0
	}
	return t.UnixNano()
}
