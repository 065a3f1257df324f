package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"temporal-sandbox-agent/sandbox"
)

//go:embed instructions.md
var instructionsText string

// projectFile is where a project says how to work in it; maxProject is how much
// of it is used, in bytes.
const (
	projectFile = "AGENTS.md"
	maxProject  = 32 << 10
)

// Instructions is what the agent is told before every conversation: how to
// work, where it is, and what the project says in its AGENTS.md. It changes
// only with these and with the day, so that a model's cache holds. An
// AGENTS.md that can't be read is told as such; an error means that the
// sandbox failed.
func Instructions(ctx context.Context, sb sandbox.Sandbox, env Env, now time.Time) (string, error) {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(instructionsText))
	b.WriteString("\n\n# Where you are\n\n")
	fmt.Fprintf(&b, "- The workspace is the folder %s. Commands start there, and paths are relative to it.\n", shown(valid(env.Root)))
	if env.Confined {
		fmt.Fprintf(&b, "- Commands run in a sandbox (%s): they reach nothing outside of it but, perhaps, the network.\n", env.Backend)
	} else {
		fmt.Fprintf(&b, "- Commands run on the user's own machine (%s), as the user, and are not confined to the workspace. "+
			"Leave everything outside of it alone unless the user asks for it.\n", env.Backend)
	}
	b.WriteString("- The system has a POSIX shell. Find out what else is installed before you rely on it.\n")
	fmt.Fprintf(&b, "- Today is %s.\n", now.Format("Monday, 2 January 2006"))
	project, err := projectInstructions(ctx, sb)
	if err != nil {
		return "", err
	}
	b.WriteString(project)
	return b.String(), nil
}

func projectInstructions(ctx context.Context, sb sandbox.Sandbox) (string, error) {
	text, cut, err := readProject(ctx, sb)
	switch {
	case err == nil && strings.TrimSpace(text) == "", sandbox.KindOf(err) == sandbox.KindNotFound:
		return "", nil
	case sandbox.KindOf(err) == sandbox.KindEscape:
		return "\nThe workspace has an " + projectFile + " that is a link out of the workspace. It was not read.\n", nil
	case err != nil && broken(err):
		return "", fmt.Errorf("read %s: %w", projectFile, err)
	case err != nil:
		return "\nThe workspace has an " + projectFile + " that can't be read: " + because(err) + ".\n", nil
	}
	note := ""
	if cut {
		note = fmt.Sprintf("\n[%s is longer than 32 KiB: the rest is left out. Read it with read_file if it matters.]\n", projectFile)
	}
	return "\n# What the project says\n\n" +
		"From " + projectFile + " in the workspace. What the user says comes first where the two differ.\n\n" +
		"<project_instructions>\n" + strings.TrimSpace(text) + "\n</project_instructions>\n" + note, nil
}

func readProject(ctx context.Context, sb sandbox.Sandbox) (text string, cut bool, err error) {
	name, info, err := follow(ctx, sb.Files(), sb.Root(), projectFile)
	if err != nil {
		return "", false, err
	}
	if !info.Mode.IsRegular() {
		return "", false, &sandbox.Error{Kind: sandbox.KindInvalid, Op: "read " + projectFile, Err: errors.New("it is not a file")}
	}
	r, err := sb.Files().Open(ctx, name, 0, maxProject+1)
	if err != nil {
		return "", false, err
	}
	content, err := io.ReadAll(r)
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", false, err
	}
	if cut = len(content) > maxProject; cut {
		content = content[:maxProject]
		content = content[:len(content)-partialRune(content)]
	}
	return strings.ReplaceAll(valid(strings.TrimPrefix(string(content), bom)), "\x00", ""), cut, nil
}
