package tool

import (
	"regexp"
	"strings"
)

// A prefix is what "always allow" stores: a program and, where it has them, its
// subcommand. It stands for every call of the same program and subcommand in
// the workspace. Nothing that runs whatever it is given has one.

var (
	plainName    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9:_.-]{0,99}$`)
	plainProgram = regexp.MustCompile(`^[A-Za-z0-9_./+-]{1,100}$`)
)

// subcommand is the first argument if it is a plain name.
func subcommand(args []word) string {
	if len(args) == 0 || !args[0].known || args[0].glob || !plainName.MatchString(args[0].text) {
		return ""
	}
	return args[0].text
}

// prefixOf returns the prefix of a call, or "" if none can be trusted.
func prefixOf(c command) string {
	if neverAllowed(c.prog) || !plainProgram.MatchString(c.prog) {
		return ""
	}
	for _, a := range c.args {
		if !a.known && !a.file || a.secret || a.home || a.wild || leadsOut(c.j, a) {
			return ""
		}
	}
	switch {
	case isInterpreter(c.prog):
		return interpreterPrefix(c)
	case c.prog == "find" || c.prog == "fd" || c.prog == "fdfind" || c.prog == "awk" || c.prog == "gawk" || c.prog == "mawk":
		return "" // they run and delete as their arguments say
	}
	sub := subcommand(c.args)
	if depth := subcommands(c.prog, sub); depth != 0 {
		if sub == "" || depth < 0 {
			return ""
		}
		if depth == 1 {
			return c.prog + " " + sub
		}
		second := subcommand(c.args[1:])
		if second == "" {
			return ""
		}
		return c.prog + " " + sub + " " + second
	}
	if withoutSubcommand(c.prog) {
		return c.prog
	}
	// Nobody knows this program: its first argument may be a subcommand.
	switch {
	case len(c.args) == 0:
		return c.prog
	case sub == "":
		return ""
	}
	return c.prog + " " + sub
}

// leadsOut tells whether an argument may name a file outside the workspace, or
// one in it that something runs by itself.
func leadsOut(j *judge, a word) bool {
	text := a.text
	if strings.HasPrefix(text, "-") || strings.Contains(text, "=") {
		if _, value, ok := strings.Cut(text, "="); ok {
			text = value
		} else if i := strings.IndexByte(text, '/'); i >= 0 {
			text = text[i:]
		} else {
			return false
		}
	}
	// Lists of paths and "host:path".
	for part := range strings.SplitSeq(text, ":") {
		if strings.HasPrefix(part, "~") {
			return true
		}
		rel, ok := j.resolve(word{text: part, known: true, glob: a.glob, file: a.file})
		if !ok || runsByItself(rel) != "" {
			return true
		}
	}
	return false
}

// neverAllowed are programs that run what they are given, act as somebody else,
// delete, or send data anywhere.
func neverAllowed(prog string) bool {
	switch prog {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "csh", "tcsh", "busybox":
		return true
	case "env", "xargs", "parallel", "eval", "source", ".", "exec", "command", "builtin", "trap", "alias", "set", "export",
		"declare", "typeset", "read", "cd", "pushd", "popd", "watch", "script", "screen", "tmux", "setsid", "strace", "gdb",
		"entr", "ionice", "stdbuf", "chrt", "taskset", "nsenter", "unshare", "test", "[", "printenv", "patch":
		return true
	case "curl", "wget", "ssh", "scp", "sftp", "ftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "http", "https", "aria2c":
		return true
	case "sed", "tar", "dd", "kill", "pkill", "killall", "fuser", "ed", "ex", "vi", "vim", "nvim", "emacs", "nano", "less", "more", "man":
		return true
	}
	switch riskOf(prog, nil) {
	case otherUser, deletesFiles, changesSystem:
		return true
	}
	return false
}

// subcommands is how many words after the program say what it does: 0 for
// programs that are not known to have subcommands, -1 for what runs anything.
func subcommands(prog, sub string) int {
	switch prog {
	case "docker", "podman", "kubectl", "helm", "aws", "gcloud", "az", "gh", "glab", "terraform":
		if sub == "run" || sub == "exec" {
			return -1
		}
		return 2
	case "npm", "pnpm", "yarn", "bun", "deno", "composer", "poetry", "pdm", "uv", "pipenv", "bundle":
		if sub == "run" || sub == "run-script" || sub == "exec" || sub == "pip" || sub == "tool" {
			return 2
		}
		return 1
	case "go":
		if sub == "mod" || sub == "work" || sub == "tool" || sub == "run" {
			return 2
		}
		return 1
	case "git":
		if sub == "remote" || sub == "stash" || sub == "submodule" || sub == "worktree" || sub == "config" || sub == "bisect" {
			return 2
		}
		return 1
	case "cargo", "pip", "pip3", "gem", "make", "just", "task", "rake", "mvn", "gradle", "dotnet", "swift", "zig", "mix", "conda",
		"mamba", "rustup", "ninja", "npx", "bunx", "pnpx", "uvx", "pipx", "apt-cache", "bazel", "meson", "flutter", "dart":
		return 1
	}
	return 0
}

// withoutSubcommand are programs whose arguments are files and options.
func withoutSubcommand(prog string) bool {
	switch prog {
	case "pytest", "tox", "nox", "mypy", "ruff", "black", "isort", "flake8", "pylint", "pyright", "tsc", "eslint", "prettier", "jest",
		"vitest", "mocha", "playwright", "vite", "webpack", "esbuild", "rollup", "gofmt", "gofumpt", "goimports", "staticcheck",
		"golangci-lint", "gcc", "g++", "clang", "clang++", "cc", "c++", "ld", "ar", "cmake", "ctest", "rustc", "rustfmt",
		"javac", "kotlinc", "scalac", "ghc", "shellcheck", "shfmt", "protoc", "hyperfine", "tokei", "cloc", "pandoc",
		"mkdir", "touch", "cp", "mv", "ln", "chmod", "truncate", "zip", "unzip", "gzip", "gunzip", "xz", "bzip2", "split", "sort",
		"uniq", "tee", "wc", "diff", "grep", "rg", "cat", "ls", "head", "tail", "mktemp":
		return true
	}
	return false
}

func isInterpreter(prog string) bool {
	base := strings.TrimRight(prog, "0123456789.")
	switch base {
	case "python", "pypy", "node", "nodejs", "ruby", "perl", "php", "lua", "luajit", "tclsh", "Rscript", "R", "julia",
		"ts-node", "tsx", "osascript", "java", "groovy", "scala", "elixir", "ghci", "sqlite", "psql", "mysql":
		return true
	}
	return false
}

// hasInlineCode tells whether an interpreter gets its code as an argument or
// from its input.
func hasInlineCode(prog string, args []word) bool {
	switch {
	case strings.HasPrefix(prog, "sqlite"), prog == "psql", prog == "mysql":
		return true
	case prog == "java":
		return false
	}
	for _, a := range args {
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			return a.text == "-"
		}
		for _, flag := range []string{"-c", "-e", "-E", "-p", "-r", "--eval", "--print", "-pe", "-ne", "-i"} {
			if a.text == flag || strings.HasPrefix(a.text, flag) && !strings.HasPrefix(flag, "--") && len(flag) == 2 {
				return true
			}
		}
		if a.text == "-m" {
			return false
		}
	}
	return len(args) == 0
}

// interpreterPrefix allows one script of the workspace, or one module.
func interpreterPrefix(c command) string {
	if hasInlineCode(c.prog, c.args) || c.j.moved || len(c.args) == 0 {
		return ""
	}
	first := c.args[0]
	if first.is("-m") && len(c.args) > 1 && c.args[1].known && plainName.MatchString(c.args[1].text) {
		prefix := c.prog + " -m " + c.args[1].text
		if sub := subcommand(c.args[2:]); c.args[1].text == "pip" {
			if sub == "" {
				return ""
			}
			return prefix + " " + sub
		}
		return prefix
	}
	if !first.known || first.glob || strings.HasPrefix(first.text, "-") {
		return ""
	}
	return c.prog + " " + first.text
}
