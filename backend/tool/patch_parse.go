package tool

import (
	"fmt"
	"regexp"
	"strings"
)

// The grammar of a patch. Every file begins with a header in the first column;
// lines of files have a sign before them, so that they can't be mistaken for
// one.
const (
	markBegin  = "*** Begin Patch"
	markEnd    = "*** End Patch"
	markAdd    = "*** Add File:"
	markUpdate = "*** Update File:"
	markDelete = "*** Delete File:"
	markMove   = "*** Move to:"
	markEOF    = "*** End of File"
)

// opKind is what is done to one file.
type opKind string

const (
	opAdd    opKind = "add"
	opUpdate opKind = "update"
	opDelete opKind = "delete"
)

// patchOp is what a patch does to one file.
type patchOp struct {
	kind opKind
	path string
	// to is the new path of a file that moves.
	to string
	// content has the lines of an added file, without their ends.
	content []string
	hunks   []hunk
}

// hunk is one place of a file that is changed.
type hunk struct {
	// headers narrow the place down, the outer one first (a class, a method).
	headers []string
	lines   []hunkLine
	// atEnd is true if the lines are the last ones of the file.
	atEnd bool
}

// hunkLine is a line of a hunk: sign is ' ', '-' or '+'.
type hunkLine struct {
	sign byte
	text string
	// bare is true for an empty line without a sign: it stands for an empty
	// line of the file or only for space between two parts of the patch.
	bare bool
}

// parsePatch reads a patch. It takes what models really send: a here-document
// or a code fence around it, no end, blank lines between the files.
func parsePatch(text string) ([]patchOp, error) {
	lines, first := unwrap(text)
	p := patchParser{lines: lines, first: first}
	for p.at < len(p.lines) {
		if err := p.file(); err != nil {
			return nil, err
		}
	}
	if len(p.ops) == 0 {
		if strings.Contains(text, "\n+++ ") || strings.HasPrefix(text, "diff --git") {
			return nil, fmt.Errorf("this is a unified diff; %s", patchForm)
		}
		return nil, fmt.Errorf("the patch has no files in it; %s", patchForm)
	}
	return p.ops, nil
}

const patchForm = `a patch looks like this:
*** Begin Patch
*** Update File: path/of/file
@@ a line above the place, if it is needed to find it
 a line that stays
-a line that goes
+a line that comes
*** Add File: path/of/new
+every line of the file with a plus
*** Delete File: path/of/old
*** End Patch`

// unwrap returns the lines of the patch itself and the number of the first of
// them in the text, from 1.
func unwrap(text string) (lines []string, first int) {
	all := strings.Split(text, "\n")
	start := -1
	for i, line := range all {
		line = strings.TrimRight(line, " \t\r")
		if strings.TrimSpace(line) == markBegin {
			start = i + 1
			break
		}
		if start < 0 && isFileHeader(line) {
			start = i
			break
		}
	}
	if start < 0 {
		return nil, 0
	}
	// If the header lines end in CR, then so does everything: that is how the
	// text came here, not what the files shall have.
	if i := max(start-1, 0); strings.HasSuffix(all[i], "\r") {
		for j := range all {
			all[j] = strings.TrimSuffix(all[j], "\r")
		}
	}
	end := len(all)
	for i := end - 1; i >= start; i-- {
		if strings.TrimSpace(all[i]) == markEnd {
			return all[start:i], start + 1
		}
		if !isWrapping(all[i]) {
			break
		}
		// A closing fence or the end of a here-document. Only what can't be a
		// line of a file is taken for one: those have a sign before them.
		end = i
	}
	return all[start:end], start + 1
}

var wrapping = regexp.MustCompile("^(```|[A-Za-z_]+$|\\s*$)")

func isWrapping(line string) bool { return wrapping.MatchString(strings.TrimRight(line, " \t\r")) }

func isFileHeader(line string) bool {
	return strings.HasPrefix(line, markAdd) || strings.HasPrefix(line, markUpdate) || strings.HasPrefix(line, markDelete)
}

type patchParser struct {
	lines []string
	first int
	at    int
	ops   []patchOp
}

func (p *patchParser) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: %s", p.first+p.at, fmt.Sprintf(format, args...))
}

// file reads the part of one file, or skips what may stand between files.
func (p *patchParser) file() error {
	line := strings.TrimRight(p.lines[p.at], " \t\r")
	switch {
	case line == "" || line == markBegin || line == markEnd:
		p.at++
		return nil
	case strings.HasPrefix(line, markAdd):
		return p.add(line)
	case strings.HasPrefix(line, markDelete):
		path, err := p.path(line, markDelete)
		if err != nil {
			return err
		}
		p.at++
		p.ops = append(p.ops, patchOp{kind: opDelete, path: path})
		return nil
	case strings.HasPrefix(line, markUpdate):
		return p.update(line)
	}
	return p.errorf("expected a file header (%q, %q or %q), found %q", markAdd, markUpdate, markDelete, shorten(line, 80))
}

func (p *patchParser) path(line, mark string) (string, error) {
	path := strings.TrimSpace(strings.TrimPrefix(line, mark))
	if len(path) > 2 && (path[0] == '"' || path[0] == '`' || path[0] == '\'') && path[len(path)-1] == path[0] {
		path = path[1 : len(path)-1]
	}
	if path == "" {
		return "", p.errorf("%q has no path", mark)
	}
	if strings.HasSuffix(path, "/") || strings.ContainsRune(path, 0) {
		return "", p.errorf("%q is not the path of a file", path)
	}
	return path, nil
}

func (p *patchParser) add(header string) error {
	path, err := p.path(header, markAdd)
	if err != nil {
		return err
	}
	op := patchOp{kind: opAdd, path: path}
	blank := 0 // empty lines without a sign, which count if more follows
	for p.at++; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if strings.HasPrefix(line, "***") {
			break
		}
		if strings.TrimRight(line, "\r") == "" {
			blank++
			continue
		}
		if line[0] != '+' {
			return p.errorf("every line of the new file %s must begin with +, found %q", path, shorten(line, 80))
		}
		for ; blank > 0; blank-- {
			op.content = append(op.content, "")
		}
		op.content = append(op.content, line[1:])
	}
	p.ops = append(p.ops, op)
	return nil
}

// rangeHeader is the header of a hunk in a unified diff: its numbers are often
// wrong when a model writes them.
var rangeHeader = regexp.MustCompile(`^@@ -\d+(,\d+)? \+\d+(,\d+)? @@`)

func (p *patchParser) update(header string) error {
	path, err := p.path(header, markUpdate)
	if err != nil {
		return err
	}
	op := patchOp{kind: opUpdate, path: path}
	p.at++
	if p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], markMove) {
		if op.to, err = p.path(strings.TrimRight(p.lines[p.at], " \t\r"), markMove); err != nil {
			return err
		}
		p.at++
	}
	if p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at], "--- ") && strings.HasPrefix(p.lines[p.at+1], "+++ ") {
		p.at += 2 // the file names of a unified diff
	}
	open := false // whether lines still belong to the last hunk
	for ; p.at < len(p.lines); p.at++ {
		line := strings.TrimSuffix(p.lines[p.at], "\r")
		if strings.HasPrefix(line, "***") {
			if strings.TrimRight(line, " \t") != markEOF {
				break
			}
			if open {
				op.hunks[len(op.hunks)-1].atEnd = true
			}
			open = false
			continue
		}
		if strings.HasPrefix(line, "@@") {
			if !open || len(op.hunks[len(op.hunks)-1].lines) > 0 {
				op.hunks = append(op.hunks, hunk{})
				open = true
			}
			if !rangeHeader.MatchString(line) {
				text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line[2:]), "@@"))
				if text != "" {
					h := &op.hunks[len(op.hunks)-1]
					h.headers = append(h.headers, text)
				}
			}
			continue
		}
		parsed, ok := parseHunkLine(line)
		if !ok {
			if strings.HasPrefix(line, `\ No newline`) {
				continue
			}
			return p.errorf("a line of %s must begin with a space, + or -, found %q", path, shorten(line, 80))
		}
		if !open {
			if parsed.bare {
				continue
			}
			op.hunks = append(op.hunks, hunk{})
			open = true
		}
		h := &op.hunks[len(op.hunks)-1]
		h.lines = append(h.lines, parsed)
	}
	for _, h := range op.hunks {
		if len(h.lines) == 0 {
			return p.errorf("a hunk of %s has no lines", path)
		}
	}
	if len(op.hunks) == 0 && op.to == "" {
		return p.errorf("there are no changes for %s", path)
	}
	p.ops = append(p.ops, op)
	return nil
}

func parseHunkLine(line string) (hunkLine, bool) {
	if line == "" {
		return hunkLine{sign: ' ', bare: true}, true
	}
	switch line[0] {
	case ' ', '+', '-':
		return hunkLine{sign: line[0], text: line[1:]}, true
	}
	return hunkLine{}, false
}
