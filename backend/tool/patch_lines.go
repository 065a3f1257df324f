package tool

import "strings"

// lined is the text of a file as lines that keep their own ends.
type lined struct {
	bom   bool
	lines []fileLine
}

// fileLine is one line: end is "\n", "\r\n" or, for a last line, "".
type fileLine struct{ text, end string }

const bom = "\uFEFF"

func splitLines(content string) lined {
	var f lined
	content, f.bom = strings.CutPrefix(content, bom)
	f.lines = make([]fileLine, 0, strings.Count(content, "\n")+1)
	for content != "" {
		line, rest, found := strings.Cut(content, "\n")
		end := ""
		if found {
			end = "\n"
			if strings.HasSuffix(line, "\r") {
				line, end = line[:len(line)-1], "\r\n"
			}
		}
		f.lines = append(f.lines, fileLine{line, end})
		content = rest
	}
	return f
}

// join is the reverse of splitLines. Only the last line may lack an end; one
// that is not the last any more gets that of its neighbours.
func (f lined) join() string {
	var b strings.Builder
	if f.bom {
		b.WriteString(bom)
	}
	for i, line := range f.lines {
		b.WriteString(line.text)
		if line.end == "" && i < len(f.lines)-1 {
			b.WriteString(f.endNear(i))
			continue
		}
		b.WriteString(line.end)
	}
	return b.String()
}

// endNear is the line end for a line that comes at index i: that of the line
// before, else of the line after, else "\n".
func (f lined) endNear(i int) string {
	if i > 0 && f.lines[i-1].end != "" {
		return f.lines[i-1].end
	}
	if i > 1 && f.lines[i-2].end != "" {
		return f.lines[i-2].end
	}
	if i < len(f.lines) && f.lines[i].end != "" {
		return f.lines[i].end
	}
	return "\n"
}
