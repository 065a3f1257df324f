package tool

import (
	"slices"
	"strings"
)

// reason says why a command is risky. Of several, the highest is told.
type reason int

const (
	harmless reason = iota
	runsProgram
	readsOutside
	changesFiles
	setsVariables
	inlineCode
	readsEnvironment
	endsProcesses
	runsOutside
	unclear
	needsNetwork
	selfRunning // a file that something runs by itself
	writesOutside
	deletesFiles
	changesSystem
	otherUser
)

func (r reason) text() string {
	switch r {
	case harmless:
		return ""
	case runsProgram:
		return "runs a program"
	case readsOutside:
		return "reads outside the workspace"
	case changesFiles:
		return "changes files"
	case setsVariables:
		return "sets variables for programs"
	case inlineCode:
		return "runs code from the command line"
	case readsEnvironment:
		return "shows the environment"
	case endsProcesses:
		return "ends processes"
	case runsOutside:
		return "runs outside the workspace"
	case needsNetwork:
		return "needs the network"
	case selfRunning:
		return "changes a file that runs by itself"
	case writesOutside:
		return "writes outside the workspace"
	case deletesFiles:
		return "deletes files"
	case changesSystem:
		return "changes the system"
	case otherUser:
		return "runs as another user"
	default:
		return "can't be analysed"
	}
}

// riskOf says what a program that is not known to be harmless is mostly about.
func riskOf(prog string, args []word) reason {
	sub, second := subcommand(args), ""
	if len(args) > 1 && args[1].known {
		second = args[1].text
	}
	switch prog {
	case "sudo", "doas", "su", "pkexec", "runuser", "setpriv", "chroot":
		return otherUser
	case "rm", "rmdir", "unlink", "shred", "wipe", "trash", "srm":
		return deletesFiles
	case "find", "fd", "fdfind":
		return findRisk(args)
	case "curl", "wget", "ssh", "scp", "sftp", "ftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "ping", "dig",
		"nslookup", "host", "traceroute", "http", "https", "aria2c", "gh", "glab", "aws", "gcloud", "az", "kubectl", "helm",
		"npx", "bunx", "pnpx", "pipx", "uvx":
		return needsNetwork
	case "apt", "apt-get", "dnf", "yum", "zypper", "pacman", "apk", "brew", "snap", "flatpak", "dpkg", "rpm",
		"systemctl", "service", "mount", "umount", "shutdown", "reboot", "halt", "poweroff", "crontab", "at", "useradd",
		"userdel", "usermod", "groupadd", "passwd", "mkfs", "fdisk", "parted", "iptables", "nft", "sysctl", "modprobe",
		"insmod", "rmmod", "swapon", "swapoff", "timedatectl", "hostnamectl", "chsh", "visudo", "date", "hostname":
		return changesSystem
	case "kill", "pkill", "killall", "fuser":
		return endsProcesses
	case "env", "printenv", "export", "declare", "typeset":
		return readsEnvironment
	case "eval", "source", ".", "exec", "trap", "alias", "unalias", "hash", "enable", "builtin", "shopt", "set", "read",
		"mapfile", "readarray", "unset", "ulimit", "umask", "getopts", "bind", "complete":
		return unclear
	case "cd", "pushd", "popd":
		return runsOutside
	case "git":
		return gitRisk(sub)
	case "npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "pdm", "cargo", "go", "gem", "bundle", "composer",
		"docker", "podman", "conda", "mamba", "deno", "rustup", "nix":
		if usesNetwork(prog, sub, second) {
			return needsNetwork
		}
		return runsProgram
	case "mkdir", "touch", "cp", "mv", "ln", "tee", "sed", "chmod", "chown", "chgrp", "truncate", "dd", "install", "patch",
		"tar", "unzip", "zip", "gzip", "gunzip", "xz", "bzip2", "split", "csplit", "mktemp", "mkfifo", "sort", "uniq", "shuf",
		"gofmt", "xxd", "tree":
		return changesFiles
	case "test", "[":
		return unclear
	case "xargs":
		for i, a := range args {
			if a.known && plainName.MatchString(a.text) {
				return max(runsProgram, riskOf(a.text, args[i+1:]))
			}
		}
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
		if len(args) == 0 || strings.HasPrefix(args[0].text, "-") {
			return inlineCode
		}
	}
	if isInterpreter(prog) && hasInlineCode(prog, args) {
		return inlineCode
	}
	return runsProgram
}

// usesNetwork tells whether a subcommand of a package manager or the like
// fetches or sends something.
func usesNetwork(prog, sub, second string) bool {
	switch prog {
	case "go":
		return sub == "get" || sub == "install" || sub == "mod" && slices.Contains([]string{"download", "tidy", "vendor"}, second)
	case "yarn":
		if sub == "" {
			return true // bare yarn installs
		}
	case "cargo":
		return slices.Contains([]string{"install", "fetch", "add", "publish", "search", "update", "login", "yank", "owner"}, sub)
	case "docker", "podman":
		return slices.Contains([]string{"pull", "push", "run", "build", "login", "search", "compose"}, sub)
	}
	return slices.Contains([]string{
		"install", "i", "ci", "add", "update", "upgrade", "up", "publish", "audit", "view", "info", "search", "outdated",
		"download", "sync", "lock", "login", "create", "dlx", "exec", "x", "get", "push", "pull", "fetch", "require", "init",
	}, sub)
}

func gitRisk(sub string) reason {
	switch sub {
	case "push", "fetch", "pull", "clone", "ls-remote", "submodule", "send-email", "lfs":
		return needsNetwork
	case "clean", "rm", "gc", "prune", "filter-branch", "filter-repo":
		return deletesFiles
	case "add", "commit", "checkout", "switch", "restore", "reset", "merge", "rebase", "stash", "cherry-pick", "revert", "am",
		"apply", "mv", "tag", "branch", "init", "worktree", "config", "notes", "sparse-checkout", "remote":
		return changesFiles
	}
	return runsProgram
}
