package tool

import "strings"

// options says which options of a program are known to be harmless. The form
// of short is getopt's: a letter, then ":" if it takes a value, "@" if that is
// a path that is read. Long options are separated by spaces and end with "=" or
// "@" in the same way. Abbreviations are not known.
type options struct{ short, long string }

// parsed are the arguments of a program whose options are all known.
type parsed struct {
	operands []word
	// has are the options that were given, without dashes; values are theirs.
	has    map[string]bool
	values map[string][]word
}

// parse takes the options apart. It is not ok if one is not known, or if an
// argument can't be told from an option before it runs.
func (c command) parse(o options) (parsed, bool) {
	out := parsed{has: map[string]bool{}, values: map[string][]word{}}
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		if a.wild {
			return out, false
		}
		if !a.known && !a.file {
			return out, false
		}
		switch {
		case a.file, a.text == "-", !strings.HasPrefix(a.text, "-"):
			out.operands = append(out.operands, a)
		case a.glob:
			return out, false
		case a.text == "--":
			out.operands = append(out.operands, c.args[i+1:]...)
			return out, true
		case strings.HasPrefix(a.text, "--"):
			used, ok := c.long(o, i, out)
			if !ok {
				return out, false
			}
			i += used
		default:
			used, ok := c.cluster(o, i, out)
			if !ok {
				return out, false
			}
			i += used
		}
	}
	return out, true
}

// long checks the long option at i and returns how many arguments it takes.
func (c command) long(o options, i int, out parsed) (used int, ok bool) {
	name, value, given := strings.Cut(c.args[i].text[2:], "=")
	for known := range strings.FieldsSeq(o.long) {
		bare := strings.TrimRight(known, "=@")
		if bare != name {
			continue
		}
		out.has[name] = true
		if known == bare {
			return 0, !given
		}
		w := word{text: value, known: true, home: c.args[i].home}
		if !given {
			if i+1 >= len(c.args) {
				return 0, false
			}
			w, used = c.args[i+1], 1
		}
		out.values[name] = append(out.values[name], w)
		return used, c.value(w, strings.HasSuffix(known, "@"))
	}
	return 0, false
}

// cluster checks the short options at i ("-abc", "-n5").
func (c command) cluster(o options, i int, out parsed) (used int, ok bool) {
	letters := c.args[i].text[1:]
	for k := range len(letters) {
		at := strings.IndexByte(o.short, letters[k])
		if at < 0 || letters[k] == ':' || letters[k] == '@' {
			return 0, false
		}
		name := letters[k : k+1]
		out.has[name] = true
		if at+1 == len(o.short) || (o.short[at+1] != ':' && o.short[at+1] != '@') {
			continue
		}
		w := word{text: letters[k+1:], known: true, home: c.args[i].home}
		if w.text == "" {
			if i+1 >= len(c.args) {
				return 0, false
			}
			w, used = c.args[i+1], 1
		}
		out.values[name] = append(out.values[name], w)
		return used, c.value(w, o.short[at+1] == '@')
	}
	return 0, true
}

func (c command) value(w word, isPath bool) bool {
	if isPath {
		return c.j.inside(w) == harmless && !w.wild
	}
	return w.known && !w.wild && !w.home
}

// reads judges operands that are files to read.
func (c command) reads(operands []word) reason {
	worst := harmless
	for _, w := range operands {
		worst = max(worst, c.j.inside(w))
	}
	return worst
}
