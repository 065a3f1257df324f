package tool

import (
	"slices"
	"strings"
)

// judgeKnown tells whether a call is harmless: the program is known to do
// nothing but read and print, with options that are known as well. If it is
// not, the answer is what it is about.
func judgeKnown(c command) reason {
	switch c.prog {
	case ":", "true", "false", "pwd", "tr", "seq", "expr", "basename", "dirname", "sleep", "whoami", "id", "groups",
		"logname", "uname", "arch", "nproc", "uptime", "tty", "getconf", "type", "which", "echo",
		"exit", "break", "continue", "wait":
		return c.printsArgs()
	case "printf":
		// -v stores into a variable, whose name can hold a command.
		if len(c.args) > 0 && (!c.args[0].known || c.args[0].glob || strings.HasPrefix(c.args[0].text, "-")) {
			return unclear
		}
		return c.printsArgs()
	case "ls", "dir", "vdir", "cat", "head", "tail", "wc", "nl", "tac", "rev", "fold", "fmt", "expand", "unexpand", "paste",
		"join", "comm", "cmp", "diff", "stat", "du", "df", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum",
		"sha512sum", "b2sum", "cksum", "sum", "od", "hexdump", "strings", "base64", "base32", "realpath", "readlink", "lsblk",
		"lscpu", "free":
		return c.readsArgs()
	case "cd":
		return c.changesDir()
	case "test", "[":
		return c.tests()
	case "command": // -v or -V: where a program is
		return c.printsArgs()
	case "set":
		return c.setsOptions()
	case "find":
		return judgeFind(c)
	case "sed":
		return judgeSed(c)
	case "awk", "gawk", "mawk":
		return judgeAwk(c)
	case "jq":
		return judgeJq(c)
	case "git":
		return judgeGit(c)
	case "go":
		return judgeGo(c)
	case "tar", "unzip":
		return judgeArchive(c)
	case "date":
		return c.saysDate()
	case "ps":
		return c.only("aux", "-aux", "auxf", "auxww", "ax", "-ef", "-e", "-A", "-f", "-eF")
	}
	if o, pattern, most, ok := harmlessOptions(c.prog); ok {
		return c.withOptions(o, pattern, most)
	}
	if c.asksVersion() {
		return harmless
	}
	return riskOf(c.prog, c.args)
}

// harmlessOptions are the programs that need a look at their options. pattern
// is true if the first operand is no file; most is how many operands there may
// be (a further one would be written), -1 for any number.
func harmlessOptions(prog string) (o options, pattern bool, most int, ok bool) {
	switch prog {
	case "grep", "egrep", "fgrep":
		return options{
			"EFGPe:f@iywxvzcLlm:oqsbHhnTZaA:B:C:D:d:IrRUu0123456789",
			"extended-regexp fixed-strings basic-regexp perl-regexp regexp= file@ ignore-case no-ignore-case word-regexp " +
				"line-regexp null-data invert-match version help max-count= line-buffered byte-offset line-number with-filename " +
				"no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive " +
				"dereference-recursive include= exclude= exclude-from@ exclude-dir= files-without-match files-with-matches count " +
				"initial-tab null no-messages before-context= after-context= context= color colour binary",
		}, true, -1, true
	case "rg":
		return options{
			"e:f@sSiFwxvclLnNoqg:t:T:A:B:C:m:M:uUaHhIprj:d:E:0bP.V",
			"regexp= file@ case-sensitive smart-case ignore-case fixed-strings word-regexp line-regexp invert-match count " +
				"count-matches files-with-matches files-without-match line-number no-line-number only-matching quiet glob= iglob= type= " +
				"type-not= type-list after-context= before-context= context= max-count= max-columns= max-depth= max-filesize= " +
				"unrestricted multiline multiline-dotall text with-filename no-filename heading no-heading pretty threads= encoding= " +
				"null byte-offset pcre2 hidden no-hidden no-ignore no-ignore-vcs no-messages files sort= sortr= stats json color= " +
				"colors= column trim vimgrep version help passthru crlf replace= follow no-config",
		}, true, -1, true
	case "sort":
		return options{"bdfgiMhnRrVcCmsuzk:t:S:", "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort month-sort " +
			"human-numeric-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated key= " +
			"field-separator= buffer-size= parallel= version help"}, false, -1, true
	case "uniq":
		return options{"cdDiuzf:s:w:", "count repeated all-repeated ignore-case unique zero-terminated skip-fields= skip-chars= check-chars="}, false, 1, true
	case "cut":
		return options{"b:c:d:f:nsz", "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated"}, false, -1, true
	case "column":
		return options{"tc:s:o:N:R:xnJeH:", "table separator= output-separator= table-columns= json"}, false, -1, true
	case "shuf":
		return options{"ei:n:rz", "echo input-range= head-count= repeat zero-terminated"}, false, -1, true
	case "tree":
		return options{"adfilpsughDFrtUcnACSL:P:I:", "dirsfirst filesfirst noreport prune gitignore du si inodes matchdirs ignore-case version help"}, false, -1, true
	case "file":
		return options{"bhiLNnprk0", "brief mime mime-type mime-encoding dereference no-dereference keep-going version help"}, false, -1, true
	case "xxd":
		return options{"aAbc:eEg:hil:o:ps:uv", ""}, false, 1, true
	case "hostname":
		return options{"sfdiIA", ""}, false, 0, true
	case "fd", "fdfind":
		return options{"HIugsiaFLpld:t:e:E:S:0", "hidden no-ignore unrestricted glob case-sensitive ignore-case absolute-path " +
			"fixed-strings follow full-path max-depth= min-depth= type= extension= exclude= size= color= list-details"}, true, -1, true
	case "gofmt":
		return options{"lde", ""}, false, -1, true
	case "locale", "lsb_release":
		return options{"amkirdsc", ""}, false, 0, true
	}
	return options{}, false, 0, false
}

func (c command) withOptions(o options, pattern bool, most int) reason {
	p, ok := c.parse(o)
	if !ok {
		return max(riskOf(c.prog, c.args), c.outside())
	}
	files := p.operands
	if pattern && !p.has["e"] && !p.has["f"] && !p.has["regexp"] && !p.has["file"] && !p.has["files"] && !p.has["type-list"] && len(files) > 0 {
		files = files[1:]
	}
	if most >= 0 && len(files) > most {
		return max(riskOf(c.prog, c.args), c.outside())
	}
	return c.reads(files)
}

// outside tells whether an argument names something outside the workspace.
func (c command) outside() reason {
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "-") {
			_, a.text, _ = strings.Cut(a.text, "=")
		}
		if a.home || a.known && c.j.inside(a) == readsOutside {
			return readsOutside
		}
	}
	return harmless
}

// printsArgs judges a program that makes nothing of its arguments but text.
func (c command) printsArgs() reason {
	if slices.ContainsFunc(c.args, func(a word) bool { return a.secret }) {
		return readsEnvironment
	}
	return harmless
}

// readsArgs judges a program that reads the files that it is given, and has no
// option that does more.
func (c command) readsArgs() reason {
	worst := harmless
	options := true
	for _, a := range c.args {
		if c.prog == "strings" && strings.HasPrefix(a.text, "@") {
			return unclear // it takes its arguments from that file
		}
		if options && a.is("--") {
			options = false
			continue
		}
		if options && strings.HasPrefix(a.text, "-") && a.text != "-" {
			if !a.known || a.home {
				worst = max(worst, unclear)
			}
			// A file may be in an option, too (--files0-from=/x, -f/x).
			if _, value, ok := strings.Cut(a.text, "="); ok && strings.Contains(value, "/") {
				worst = max(worst, c.j.inside(word{text: value, known: true}))
			} else if i := strings.IndexByte(a.text, '/'); !ok && i >= 0 {
				worst = max(worst, c.j.inside(word{text: a.text[i:], known: true}))
			}
			continue
		}
		worst = max(worst, c.j.inside(a))
	}
	return worst
}

// only allows exactly these words as arguments.
func (c command) only(words ...string) reason {
	for _, a := range c.args {
		if !a.known || a.glob || !slices.Contains(words, a.text) {
			return riskOf(c.prog, c.args)
		}
	}
	return harmless
}

// changesDir judges cd: what follows runs somewhere else in the workspace.
func (c command) changesDir() reason {
	if len(c.args) != 1 || c.args[0].glob || !c.args[0].known || strings.HasPrefix(c.args[0].text, "-") {
		c.j.moved = true
		return runsOutside
	}
	if _, ok := c.j.resolve(c.args[0]); !ok {
		c.j.moved = true
		return runsOutside
	}
	if !c.args[0].is(".") {
		c.j.moved = true
	}
	return harmless
}

// tests judges test and [: the forms in which no argument can turn into an
// operator that looks at a variable, whose name can hold a command.
func (c command) tests() reason {
	args := c.args
	if c.prog == "[" {
		if len(args) == 0 || !args[len(args)-1].is("]") {
			return unclear
		}
		args = args[:len(args)-1]
	}
	if len(args) > 0 && args[0].is("!") {
		args = args[1:]
	}
	if slices.ContainsFunc(args, func(a word) bool { return a.glob || a.splits }) {
		return unclear
	}
	isOne := func(a word, of ...string) bool { return a.known && slices.Contains(of, a.text) }
	switch len(args) {
	case 2:
		if isOne(args[0], "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-z", "-n", "-p", "-S") {
			return harmless
		}
	case 3:
		if isOne(args[1], "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef") {
			return harmless
		}
	}
	return unclear
}

// setsOptions allows the options that only make a shell stricter.
func (c command) setsOptions() reason {
	for i, a := range c.args {
		switch {
		case a.known && (a.text == "pipefail" || a.text == "errexit" || a.text == "nounset") && i > 0:
		case a.known && len(a.text) > 1 && a.text[0] == '-' && strings.Trim(a.text[1:], "euo") == "":
		default:
			return unclear
		}
	}
	if len(c.args) == 0 {
		return readsEnvironment
	}
	return harmless
}

// asksVersion tells whether a well-known program is only asked for its version.
func (c command) asksVersion() bool {
	if len(c.args) != 1 {
		return false
	}
	ask := c.args[0]
	switch c.prog {
	case "node", "npm", "pnpm":
		return ask.is("--version") || ask.is("-v")
	case "java", "javac":
		return ask.is("--version") || ask.is("-version")
	case "python", "python3", "pip", "pip3", "ssh", "cargo", "rustc":
		return ask.is("--version") || ask.is("-V")
	case "yarn", "bun", "deno", "tsc", "uv", "poetry", "ruby", "gem", "bundle", "mvn", "gradle", "gcc", "g++", "clang",
		"clang++", "cc", "make", "cmake", "ninja", "docker", "podman", "php", "composer", "perl", "bash", "zsh", "dotnet", "swift",
		"ghc", "sqlite3", "psql", "curl", "wget":
		return ask.is("--version")
	}
	return false
}

// saysDate judges date, which can also set the clock.
func (c command) saysDate() reason {
	worst := harmless
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case !a.known || a.glob:
			return unclear
		case strings.HasPrefix(a.text, "+"), strings.HasPrefix(a.text, "--date="), strings.HasPrefix(a.text, "--iso-8601"),
			strings.HasPrefix(a.text, "-I"), a.text == "-u", a.text == "--utc", a.text == "-R", a.text == "--rfc-email":
		case a.text == "-d" || a.text == "--date":
			i++
		case a.text == "-r" || a.text == "--reference":
			if i++; i < len(c.args) {
				worst = max(worst, c.j.inside(c.args[i]))
			}
		default:
			return changesSystem
		}
	}
	return worst
}
