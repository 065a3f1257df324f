package tool

import (
	"regexp"
	"slices"
	"strings"
)

// judgeSed allows sed that prints. Its scripts can also write files (w), read
// others (r) and run commands (e).
func judgeSed(c command) reason {
	p, ok := c.parse(options{"nErsuze:l:", "quiet silent regexp-extended expression= separate unbuffered null-data line-length= posix debug sandbox"})
	if !ok {
		return max(changesFiles, c.outside())
	}
	files := p.operands
	scripts := append(p.values["e"], p.values["expression"]...)
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		if !s.known || s.glob || !sedPrints(s.text) {
			return changesFiles
		}
	}
	return c.reads(files)
}

// sedPrints tells whether a sed script does nothing but change what is printed.
func sedPrints(script string) bool {
	s := sedScanner{rest: script}
	for {
		s.skip(" \t\n;{}")
		if s.rest == "" {
			return true
		}
		if !s.addresses() || !s.command() {
			return false
		}
	}
}

type sedScanner struct{ rest string }

func (s *sedScanner) skip(set string) { s.rest = strings.TrimLeft(s.rest, set) }

var sedAddress = regexp.MustCompile(`^([0-9]+(~[0-9]+)?|\$|[+~][0-9]+)`)

func (s *sedScanner) addresses() bool {
	for {
		s.skip(" \t")
		if m := sedAddress.FindString(s.rest); m != "" {
			s.rest = s.rest[len(m):]
		} else if strings.HasPrefix(s.rest, "/") {
			if !s.delimited() {
				return false
			}
			s.skip("IM")
		}
		s.skip(" \t")
		if !strings.HasPrefix(s.rest, ",") {
			break
		}
		s.rest = s.rest[1:]
	}
	s.skip("! \t")
	return true
}

// delimited passes over a text between two delimiters, of which the first is at
// the front; the second stays there.
func (s *sedScanner) delimited() bool {
	if s.rest == "" || s.rest[0] == '\\' || s.rest[0] == '\n' || s.rest[0] >= 0x80 {
		return false
	}
	delimiter := s.rest[0]
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '\n':
			return false
		case '[':
			// Whether a delimiter in brackets counts is not the same everywhere.
			end := strings.IndexByte(s.rest[i:], ']')
			if end >= 0 && strings.IndexByte(s.rest[i:i+end], delimiter) >= 0 {
				return false
			}
		case delimiter:
			s.rest = s.rest[i:]
			if delimiter == '/' {
				s.rest = s.rest[1:]
			}
			return true
		}
	}
	return false
}

func (s *sedScanner) command() bool {
	if s.rest == "" {
		return false
	}
	name := s.rest[0]
	s.rest = s.rest[1:]
	switch name {
	case '{':
		return true
	case 'p', 'P', 'd', 'D', 'q', 'Q', 'l', '=', 'h', 'H', 'g', 'G', 'x', 'n', 'N':
	case 's':
		if s.rest == "" || !s.substitution() {
			return false
		}
	default:
		return false
	}
	s.skip(" \t")
	return s.rest == "" || strings.ContainsRune(";\n}", rune(s.rest[0]))
}

// substitution passes over s/…/…/flags.
func (s *sedScanner) substitution() bool {
	delimiter := s.rest[:1]
	if strings.ContainsAny(delimiter, " \t;{}") || delimiter[0] >= 0x80 {
		return false
	}
	if !s.delimited() {
		return false
	}
	if delimiter == "/" {
		s.rest = "/" + s.rest
	}
	if !s.delimited() {
		return false
	}
	if delimiter != "/" {
		s.rest = s.rest[1:]
	}
	s.skip("gpiI0123456789")
	return true
}

var awkActs = regexp.MustCompile(`system|getline|[|>@]|ARGV|ARGC|ENVIRON|PROCINFO|SYMTAB|FUNCTAB`)

// judgeAwk allows awk programs that only print: no pipes, no files, no other
// programs. A comparison with ">" looks like a redirection and is not allowed
// either.
func judgeAwk(c command) reason {
	p, ok := c.parse(options{"F:v:", ""})
	if !ok || len(p.operands) == 0 {
		return max(runsProgram, c.outside())
	}
	program := p.operands[0]
	if !program.known || program.glob || awkActs.MatchString(program.text) {
		return max(inlineCode, c.outside())
	}
	return c.reads(p.operands[1:])
}

var jqActs = regexp.MustCompile(`(?i)env|import|include|input_filename|modulemeta`)

// judgeJq allows jq filters that do not look at the environment or at modules.
func judgeJq(c command) reason {
	p, ok := c.parse(options{"rcesnSaCMj", "raw-output compact-output exit-status slurp null-input sort-keys ascii-output color-output " +
		"monochrome-output join-output raw-input tab"})
	if !ok {
		return max(runsProgram, c.outside())
	}
	if len(p.operands) == 0 {
		return harmless
	}
	filter := p.operands[0]
	if !filter.known || filter.glob {
		return unclear
	}
	if jqActs.MatchString(filter.text) {
		return readsEnvironment
	}
	return c.reads(p.operands[1:])
}

// judgeArchive allows listing an archive. A colon in its name makes tar call
// another machine.
func judgeArchive(c command) reason {
	if len(c.args) == 0 || slices.ContainsFunc(c.args, func(a word) bool { return !a.known || a.glob }) {
		return changesFiles
	}
	first := c.args[0].text
	lists := c.prog == "unzip" && first == "-l"
	if c.prog == "tar" {
		letters := strings.TrimPrefix(first, "-")
		lists = strings.Contains(letters, "t") && strings.HasSuffix(letters, "f") && strings.Trim(letters, "tvzjJf") == ""
	}
	if !lists || len(c.args) < 2 || strings.Contains(c.args[1].text, ":") ||
		slices.ContainsFunc(c.args[1:], func(a word) bool { return strings.HasPrefix(a.text, "-") }) {
		return max(changesFiles, c.outside())
	}
	return c.reads(c.args[1:])
}

// judgeGo allows the commands of go that look at source and settings. Building,
// and so vetting, runs compilers as the source wants it.
func judgeGo(c command) reason {
	if len(c.args) == 0 || !c.args[0].known {
		return riskOf("go", c.args)
	}
	rest := command{prog: c.prog, args: c.args[1:], j: c.j}
	if slices.ContainsFunc(rest.args, func(a word) bool { return !a.known || a.wild }) {
		return unclear
	}
	switch c.args[0].text {
	case "version":
		if len(rest.args) == 0 {
			return harmless
		}
	case "help":
		return harmless
	case "env":
		if !slices.ContainsFunc(rest.args, func(a word) bool { return strings.HasPrefix(a.text, "-") && a.text != "-json" }) {
			return harmless
		}
		return changesFiles
	case "list":
		ok := true
		for i, a := range rest.args {
			follows := i > 0 && rest.args[i-1].text == "-f"
			if strings.HasPrefix(a.text, "-") && !follows && !slices.Contains([]string{"-m", "-json", "-f", "-deps", "-test", "-find", "-e"}, a.text) {
				ok = false
			}
		}
		if ok {
			return harmless
		}
	}
	return riskOf("go", c.args)
}
