package tool

import (
	"regexp"
	"slices"
	"strings"
)

// judgeGit allows the commands of git that look. What a repository's own
// configuration makes git run (a monitor, an external diff) is trusted at the
// root of the workspace; elsewhere a folder that came with the files could pose
// as a repository, with a configuration of its own.
func judgeGit(c command) reason {
	args := c.args
	quiet := false
	for len(args) > 0 && (args[0].is("--no-pager") || args[0].is("-P")) {
		args, quiet = args[1:], true
	}
	if len(args) == 1 && (args[0].is("--version") || args[0].is("version")) {
		return harmless
	}
	if len(args) == 0 || !args[0].known || strings.HasPrefix(args[0].text, "-") {
		return max(runsProgram, gitRisk(subcommand(args)))
	}
	g := command{prog: "git", args: args[1:], j: c.j}
	sub := args[0].text
	why := g.gitLooks(sub)
	if why != harmless {
		return why
	}
	if c.j.below || c.j.moved || (c.j.tty && !quiet) {
		return runsProgram
	}
	return harmless
}

func (c command) gitLooks(sub string) reason {
	if slices.ContainsFunc(c.args, func(a word) bool { return !a.known && !a.file || a.wild }) {
		return max(unclear, gitRisk(sub))
	}
	switch sub {
	case "status", "ls-files", "ls-tree", "rev-parse", "describe", "merge-base", "show-ref", "name-rev", "count-objects",
		"check-ignore", "diff", "log", "show", "shortlog", "blame", "rev-list", "diff-tree", "whatchanged", "cat-file",
		"for-each-ref", "grep":
		return c.gitReads(sub)
	case "branch":
		return c.gitLists(`^(-a|-r|-v|-vv|-l|--list|--show-current|--all|--remotes|--verbose|--no-color|--(no-)?merged(=.*)?|--(no-)?contains(=.*)?|--sort=.*|--format=.*|--points-at=.*)$`,
			"--list", "--merged", "--no-merged", "--contains", "--no-contains") // -l made a branch once
	case "tag":
		return c.gitLists(`^(-l|--list|-n[0-9]*|--sort=.*|--format=.*|--(no-)?contains(=.*)?|--(no-)?merged(=.*)?|--points-at=.*)$`,
			"-l", "--list", "--contains", "--merged")
	case "remote":
		if c.only("-v", "--verbose") == harmless || len(c.args) == 2 && c.args[0].is("get-url") {
			return harmless
		}
	case "stash", "worktree":
		if len(c.args) > 0 && c.args[0].is("list") && len(c.args) == 1 {
			return harmless
		}
	case "reflog":
		if len(c.args) == 0 {
			return harmless
		}
	case "config":
		if len(c.args) == 2 && (c.args[0].is("--get") || c.args[0].is("get")) && !strings.HasPrefix(c.args[1].text, "-") {
			return harmless
		}
	}
	return gitRisk(sub)
}

// gitOption has the options of the looking commands. Left out are those that
// write (--output), run something (--ext-diff, --textconv) or read another file
// (--no-index, -O).
var gitOption = regexp.MustCompile(`^(-[0-9]+|-n[0-9]*|-[UABCMl][0-9]*%?|-[SGL].*|-[psqwbaziEFcmtdrvnuxolhe1]+|` +
	`--(stat|shortstat|numstat|dirstat|summary|name-only|name-status|oneline|graph|decorate|no-decorate|all|cached|staged|color|no-color|` +
	`word-diff|reverse|follow|merges|no-merges|patch|no-patch|raw|abbrev-commit|abbrev|no-abbrev|first-parent|check|find-renames|no-renames|` +
	`minimal|patience|histogram|relative|exit-code|quiet|no-ext-diff|no-textconv|text|full-index|branches|tags|remotes|left-right|no-prefix|` +
	`topo-order|date-order|merge-base|ignore-all-space|ignore-space-change|ignore-blank-lines|short|branch|show-stash|porcelain|long|verbose|` +
	`untracked-files|ignored|ahead-behind|others|modified|deleted|exclude-standard|unmerged|stage|full-name|error-unmatch|show-toplevel|` +
	`show-prefix|show-cdup|git-dir|is-inside-work-tree|verify|abbrev-ref|symbolic-full-name|always|dirty|exact-match|count|heads|` +
	`line-porcelain|show-email|show-name|root|boundary|cherry-pick|cherry-mark|function-context|ignore-submodules|no-notes|` +
	`simplify-by-decoration|parents|children|numbered|email|color-words|` +
	`unified|format|pretty|date|since|until|after|before|author|committer|grep|max-count|skip|diff-filter|diff-algorithm|sort|points-at|` +
	`contains|no-contains|merged|no-merged|glob|exclude|match|candidates)(=.*)?)$`)

// gitGrep has the options of git grep, which can also open a pager (-O).
func gitGrepOptions() options {
	return options{
		"nilcwvFEPGHhIoLpWaqze:A:B:C:m:0123456789", "cached untracked line-number ignore-case word-regexp files-with-matches " +
			"files-without-match name-only count fixed-strings extended-regexp perl-regexp basic-regexp invert-match only-matching " +
			"show-function function-context heading break text color color= no-color max-depth= max-count= and or not all-match quiet " +
			"context= after-context= before-context= column full-name",
	}
}

func (c command) gitReads(sub string) reason {
	if sub == "grep" {
		p, ok := c.parse(gitGrepOptions())
		if !ok {
			return runsProgram
		}
		files := p.operands
		if !p.has["e"] && len(files) > 0 {
			files = files[1:]
		}
		return c.reads(files)
	}
	worst := harmless
	options := true
	for _, a := range c.args {
		switch {
		case options && a.is("--"):
			options = false
		case options && strings.HasPrefix(a.text, "-") && a.text != "-":
			if a.glob || !gitOption.MatchString(a.text) {
				return runsProgram
			}
		default:
			worst = max(worst, c.j.inside(a))
		}
	}
	return worst
}

// gitLists allows branch and tag as long as they list: a name alone makes one.
func (c command) gitLists(allowed string, listing ...string) reason {
	form := regexp.MustCompile(allowed)
	names, lists := false, false
	for _, a := range c.args {
		switch {
		case a.glob:
			return unclear
		case strings.HasPrefix(a.text, "-"):
			if !form.MatchString(a.text) {
				return changesFiles
			}
			lists = lists || slices.Contains(listing, a.text)
		default:
			names = true
		}
	}
	if names && !lists {
		return changesFiles
	}
	return harmless
}
