package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/journal"
)

// A patch whose call is run again after a crash may have been written in full,
// in part or not at all. To tell, what it is going to do is put into the
// journal first: as the output of a command of no other effect, under a name
// of its own. The journal starts each name once and keeps what it said.

// intent is what a patch is about to do.
type intent struct {
	Files   []intentFile          `json:"files"`
	Changes []protocol.FileChange `json:"changes"`
}

// intentFile names a file before and after; "" is a file that is not there.
type intentFile struct {
	Path   string `json:"path"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// maxIntent is how long an intent may be, in bytes. Diffs are left out of one
// that is longer.
const maxIntent = 96 << 10

func intentOf(p plan) intent {
	in := intent{Changes: p.changes}
	for _, f := range p.files {
		in.Files = append(in.Files, intentFile{f.path, f.before.sum(), f.after.sum()})
	}
	return in
}

func (in intent) encode() (string, error) {
	for _, diffs := range []bool{true, false} {
		out := in
		if !diffs {
			out.Changes = nil
			for _, c := range in.Changes {
				c.Diff = ""
				out.Changes = append(out.Changes, c)
			}
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(out); err != nil {
			return "", fmt.Errorf("write down the patch: %w", err)
		}
		if b.Len() <= maxIntent {
			return strings.TrimSuffix(b.String(), "\n"), nil
		}
	}
	return "", refuse("the patch touches too many files: send it in parts")
}

func intentID(call Call) string { return call.ID + ".patch" }

// record writes an intent down. If one is there already, from before a crash,
// it returns that one and fresh is false.
func (in intent) record(ctx context.Context, call Call) (recorded intent, fresh bool, err error) {
	text, err := in.encode()
	if err != nil {
		return intent{}, false, err
	}
	// JSON has no line breaks of its own, so that no line of it ends the
	// here-document.
	cmd, err := call.Journal.Start(ctx, journal.Spec{CallID: intentID(call), Shell: "cat <<'END'\n" + text + "\nEND\n"})
	if err != nil {
		return intent{}, false, fmt.Errorf("write down the patch: %w", err)
	}
	if cmd.Fresh() {
		exit, err := cmd.Wait(ctx)
		if err != nil {
			return intent{}, false, fmt.Errorf("write down the patch: %w", err)
		}
		if exit.State != journal.StateFinished || exit.Code != 0 {
			return intent{}, false, fmt.Errorf("write down the patch: it ended with %s, code %d", exit.State, exit.Code)
		}
		return in, true, nil
	}
	old, ok, err := readIntent(ctx, cmd)
	if err != nil {
		return intent{}, false, err
	}
	if !ok {
		// The crash came before the intent was down, thus before any file was
		// touched.
		return in, true, nil
	}
	return old, false, nil
}

// findIntent returns the intent of an earlier run of the call.
func findIntent(ctx context.Context, call Call) (intent, bool, error) {
	cmd, err := call.Journal.Find(ctx, intentID(call))
	if sandbox.KindOf(err) == sandbox.KindNotFound {
		return intent{}, false, nil
	}
	if err != nil {
		return intent{}, false, fmt.Errorf("find what was written down of the patch: %w", err)
	}
	return readIntent(ctx, cmd)
}

func readIntent(ctx context.Context, cmd journal.Command) (intent, bool, error) {
	if _, err := cmd.Wait(ctx); err != nil {
		return intent{}, false, fmt.Errorf("read what was written down of the patch: %w", err)
	}
	data, _, err := readRange(ctx, cmd, 0, 2*maxIntent)
	if err != nil {
		return intent{}, false, err
	}
	var in intent
	whole := json.Valid(data) // and not cut off by a crash
	if whole {
		if err := json.Unmarshal(data, &in); err != nil {
			return intent{}, false, fmt.Errorf("read what was written down of the patch: %w", err)
		}
	}
	return in, whole, nil
}

// resume brings to its end a patch that a crash may have cut off.
func resume(ctx context.Context, call Call, ops []patchOp, in intent) (Outcome, error) {
	files := call.Sandbox.Files()
	done := map[string]bool{}
	var strange []string
	for _, f := range in.Files {
		now, err := currentState(ctx, files, f.Path)
		if r, ok := errors.AsType[refusal](err); ok {
			strange = append(strange, r.text)
			continue
		}
		if err != nil {
			return Outcome{}, err
		}
		switch now.sum() {
		case f.After:
			done[f.Path] = true
		case f.Before:
		default:
			strange = append(strange, shown(f.Path)+" was changed since")
		}
	}
	if len(done) == len(in.Files) {
		return patched(in.Changes), nil
	}
	interrupted := func(why string) Outcome {
		text := "The patch was cut off by a restart and could not be finished: " + why + "."
		for _, f := range in.Files {
			if done[f.Path] {
				text += "\nAlready changed: " + shown(f.Path)
			} else {
				text += "\nNot changed by the patch: " + shown(f.Path)
			}
		}
		o := failed("%s", text)
		o.Status = protocol.ToolInterrupted
		return o
	}
	if len(strange) > 0 {
		return interrupted(strings.Join(strange, "; ")), nil
	}
	p := planner{files: files, root: call.Sandbox.Root(), skip: done}
	rest, err := p.work(ctx, ops)
	if r, ok := errors.AsType[refusal](err); ok {
		return interrupted(r.text), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	wanted := map[string]string{}
	for _, f := range in.Files {
		wanted[f.Path] = f.After
	}
	for _, f := range rest.files {
		if want, ok := wanted[f.path]; !ok || want != f.after.sum() {
			return interrupted(shown(f.path) + " would not become what the patch made of it before"), nil
		}
	}
	if failure, done, err := write(ctx, files, rest); !done {
		return failure, err
	}
	return patched(in.Changes), nil
}
