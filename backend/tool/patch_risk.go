package tool

import (
	"path"
	"strings"
)

// patchRisk says why a patch is risky; empty if it is not. Files that run by
// themselves, later and outside of any approval, are.
func patchRisk(ops []patchOp, root string) string {
	for _, op := range ops {
		for _, p := range []string{op.path, op.to} {
			if p == "" {
				continue
			}
			rel, ok := within(root, p)
			if !ok {
				return "writes outside the workspace"
			}
			if reason := runsByItself(rel); reason != "" {
				return reason
			}
		}
	}
	return ""
}

// runsByItself says why a file, named from the workspace root, is not only
// text: something runs it without being asked to.
func runsByItself(rel string) string {
	parts := strings.Split(strings.ToLower(path.Clean(rel)), "/")
	for i, part := range parts {
		last := i == len(parts)-1
		next := ""
		if !last {
			next = parts[i+1]
		}
		switch part {
		case ".git":
			return "changes the git repository itself"
		case ".githooks", ".husky", ".hooks", "lefthook.yml", "lefthook.yaml", ".pre-commit-config.yaml":
			return "changes git hooks"
		case ".ci", ".circleci", ".buildkite", ".woodpecker", ".drone.yml", ".gitlab-ci.yml", ".travis.yml", ".cirrus.yml",
			"appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile":
			return "changes what CI runs"
		case ".github", ".gitea", ".forgejo":
			if next == "workflows" || next == "actions" {
				return "changes what CI runs"
			}
		case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
			".zprofile", ".zlogin", ".zlogout", ".cshrc", ".tcshrc", ".login", ".envrc", ".xprofile", ".xinitrc":
			return "changes what a shell runs at its start"
		case ".config":
			if next == "fish" || next == "autostart" || next == "systemd" || next == "git" {
				return "changes what runs at start"
			}
		case ".ssh", ".gnupg", ".gitconfig", ".netrc":
			return "changes keys or accounts"
		case ".vscode", ".devcontainer", ".idea":
			return "changes what an editor runs"
		}
	}
	return ""
}
