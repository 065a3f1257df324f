package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

// applyPatch changes files of the workspace: all that a patch says, or nothing.
type applyPatch struct{}

// maxPatch is the longest patch, in bytes.
const maxPatch = 10 << 20

const patchUsage = `{"patch": text (required)}`

type patchArgs struct {
	Patch string `json:"patch"`
	// Input is the name that other agents use.
	Input string `json:"input"`
}

func (applyPatch) Name() string { return "apply_patch" }

func (applyPatch) Description() string {
	return "Adds, changes, moves and deletes files of the workspace: everything in the patch or, if something does not fit, nothing.\n" +
		"The form of a patch:\n" + patchForm + "\n" +
		"`*** Move to: new/path` right after an Update File line moves the file. " +
		"Give about three lines of context before and after each change, as they are in the file. " +
		"Where they are not unique, put `@@ class or function` before them, more than one if needed. " +
		"`*** End of File` after the last line of a hunk says that it is the end of the file. " +
		"A hunk of + lines only goes to the end of the file or, if it has a @@ line, right after that line. Paths are relative to the workspace."
}

func (applyPatch) Schema() json.RawMessage {
	return json.RawMessage(`{
  "type": "object",
  "properties": {
    "patch": {"type": "string", "description": "The whole patch, from *** Begin Patch to *** End Patch."}
  },
  "required": ["patch"],
  "additionalProperties": false
}`)
}

func parsePatchArgs(raw json.RawMessage) (string, []patchOp, error) {
	var a patchArgs
	if err := decode(raw, &a, patchUsage); err != nil {
		return "", nil, err
	}
	text := a.Patch
	if text == "" {
		text = a.Input
	}
	if strings.TrimSpace(text) == "" {
		return "", nil, errors.New("patch is missing; expected " + patchUsage)
	}
	if len(text) > maxPatch {
		return "", nil, errors.New("the patch is longer than 10 MB: send it in parts")
	}
	ops, err := parsePatch(text)
	if err != nil {
		return "", nil, fmt.Errorf("the patch can't be read: %w", err)
	}
	return text, ops, nil
}

func (applyPatch) Assess(raw json.RawMessage, env Env) (protocol.Ask, error) {
	text, ops, err := parsePatchArgs(raw)
	if err != nil {
		return protocol.Ask{}, err
	}
	ask := protocol.Ask{Acts: true, Title: oneLine(patchTitle(ops, env.Root)), Detail: detail(text), Dir: env.Root}
	if !env.Confined {
		ask.Reason = patchRisk(ops, env.Root)
		ask.Risky = ask.Reason != ""
	}
	return ask, nil
}

// patchTitle names the first files.
func patchTitle(ops []patchOp, root string) string {
	const most = 3
	var parts []string
	for i, op := range ops {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(ops)-most))
			break
		}
		rel, _ := within(root, op.path)
		verb := map[opKind]string{opAdd: "add ", opUpdate: "edit ", opDelete: "delete "}[op.kind]
		if op.to != "" {
			to, _ := within(root, op.to)
			parts = append(parts, "move "+shown(rel)+" to "+shown(to))
			continue
		}
		parts = append(parts, verb+shown(rel))
	}
	title := strings.Join(parts, ", ")
	return strings.ToUpper(title[:1]) + title[1:]
}

func (applyPatch) Run(ctx context.Context, call Call) (Outcome, error) {
	_, ops, err := parsePatchArgs(call.Args)
	if err != nil {
		return failed("%s", err), nil
	}
	files := call.Sandbox.Files()
	p := planner{files: files, root: call.Sandbox.Root()}
	todo, err := p.work(ctx, ops)
	if r, ok := errors.AsType[refusal](err); ok {
		// A patch that was written already does not fit a second time.
		in, found, err := findIntent(ctx, call)
		if err != nil {
			return Outcome{}, err
		}
		if found {
			return resume(ctx, call, ops, in)
		}
		return failed("Nothing was changed: %s", r.text), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	if len(todo.files) == 0 {
		in, _, err := findIntent(ctx, call)
		if err != nil {
			return Outcome{}, err
		}
		return patched(in.Changes), nil
	}
	in, fresh, err := intentOf(todo).record(ctx, call)
	if r, ok := errors.AsType[refusal](err); ok {
		return failed("Nothing was changed: %s", r.text), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	if !fresh {
		return resume(ctx, call, ops, in)
	}
	if failure, done, err := write(ctx, files, todo); !done {
		return failure, err
	}
	return patched(todo.changes), nil
}

// write writes a plan. If it was not done, the failure is told to the model
// unless err says that the sandbox failed.
func write(ctx context.Context, files sandbox.FS, p plan) (failure Outcome, done bool, err error) {
	err = writePlan(ctx, files, p)
	if err == nil {
		return Outcome{}, true, nil
	}
	if _, ok := errors.AsType[refusal](err); !ok && broken(err) {
		// Run again, the call finds out how far this one came.
		return Outcome{}, false, fmt.Errorf("apply the patch: %w", err)
	}
	if half, ok := errors.AsType[halfWritten](err); ok {
		return failed("The patch is applied in part. %s", half), false, nil
	}
	return failed("Nothing was changed: %s", err), false, nil
}

// patched is the outcome of a patch that is in place.
func patched(changes []protocol.FileChange) Outcome {
	if len(changes) == 0 {
		return Outcome{Status: protocol.ToolDone, Result: protocol.ToolResult{
			Output: "The files are already as the patch wants them; nothing was changed.",
		}}
	}
	var b strings.Builder
	b.WriteString("Patch applied:")
	for _, c := range changes {
		b.WriteString("\n" + changeLine(c))
	}
	return Outcome{Status: protocol.ToolDone, Result: protocol.ToolResult{Output: b.String(), Changes: changes}}
}

func changeLine(c protocol.FileChange) string {
	letter := map[string]string{"add": "A", "update": "M", "delete": "D", "move": "R"}[c.Op]
	line := letter + " " + shown(c.Path)
	if c.To != "" {
		line += " -> " + shown(c.To)
	}
	if c.Added+c.Removed > 0 {
		line += fmt.Sprintf(" (+%d -%d)", c.Added, c.Removed)
	}
	return line
}
