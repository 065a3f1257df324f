package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

// The largest file and the largest sum of files that a patch may touch, in
// bytes, and the most files: all of them are held in memory.
const (
	maxPatchedFile  = 10 << 20
	maxPatchedBytes = 64 << 20
	maxPatchedFiles = 500
)

// fileState is a file before or after a patch; not there if exists is false.
type fileState struct {
	exists  bool
	content string
	mode    fs.FileMode
	// link is where a symbolic link points to; it has no content.
	link string
}

// sum names a state: empty for a file that is not there.
func (s fileState) sum() string {
	if !s.exists {
		return ""
	}
	h := sha256.New()
	_, _ = io.WriteString(h, s.link+"\x00"+s.content)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// planned is one file that a patch changes.
type planned struct {
	path          string
	before, after fileState
	// step orders the writing: a file is written when everything that its
	// content is made of is still as it was.
	step int
}

// plan is all that a patch does, worked out in memory.
type plan struct {
	files   []planned
	changes []protocol.FileChange
}

// planner works a patch out. A file that several parts of the patch touch is
// seen by each as the part before left it.
type planner struct {
	files sandbox.FS
	root  string
	// skip tells of files that are already as the patch wants them, when it is
	// worked out again after a crash. Nil skips nothing.
	skip map[string]bool

	states map[string]*planned
	moves  map[string]string // from new path to old
	bytes  int64
}

// refusal is an error that is told to the model.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return refusal{fmt.Sprintf(format, args...)} }

// work returns the plan of a patch. A refusal says why there is none; any
// other error is the sandbox's.
func (p *planner) work(ctx context.Context, ops []patchOp) (plan, error) {
	p.states, p.moves = map[string]*planned{}, map[string]string{}
	if len(ops) > maxPatchedFiles {
		return plan{}, refuse("the patch touches more than %d files: send it in parts", maxPatchedFiles)
	}
	for i, op := range ops {
		if err := p.one(ctx, op, i); err != nil {
			return plan{}, err
		}
	}
	return p.result(), nil
}

func (p *planner) one(ctx context.Context, op patchOp, step int) error {
	switch op.kind {
	case opAdd:
		f, err := p.load(ctx, op.path, true)
		if err != nil || p.skip[f.path] {
			return err
		}
		content := strings.Join(op.content, "\n")
		if len(op.content) > 0 {
			content += "\n"
		}
		f.set(fileState{exists: true, content: content, mode: f.after.mode}, step)
	case opDelete:
		f, err := p.load(ctx, op.path, false)
		if err != nil || p.skip[f.path] {
			return err
		}
		if !f.after.exists {
			return p.missing(ctx, op.path, "deleted")
		}
		f.set(fileState{}, step)
	case opUpdate:
		return p.update(ctx, op, step)
	}
	return nil
}

func (p *planner) update(ctx context.Context, op patchOp, step int) error {
	f, err := p.load(ctx, op.path, true)
	if err != nil {
		return err
	}
	to := f
	if op.to != "" {
		if to, err = p.load(ctx, op.to, true); err != nil {
			return err
		}
	}
	if p.skip[to.path] {
		if to != f {
			f.set(fileState{}, step)
		}
		return nil
	}
	if !f.after.exists {
		return p.missing(ctx, op.path, "updated")
	}
	if to != f && to.after.exists {
		return refuse("%s can't be moved to %s: a file of that name exists; delete it in the same patch first if it shall go", shown(f.path), shown(to.path))
	}
	after := f.after
	if len(op.hunks) > 0 {
		if strings.ContainsRune(after.content, 0) {
			return refuse("%s is a binary file: a patch can't change it", shown(f.path))
		}
		changed, err := applyHunks(shown(f.path), splitLines(after.content), op.hunks)
		if err != nil {
			return refusal{err.Error()}
		}
		after.content = changed.join()
	}
	if to != f {
		p.moves[to.path] = f.path
		f.set(fileState{}, step)
	}
	to.set(after, step)
	return nil
}

func (f *planned) set(s fileState, step int) { f.after, f.step = s, step }

func (p *planner) missing(ctx context.Context, name, done string) error {
	rel, _ := within(p.root, name)
	return refuse("%s can't be %s: there is no such file.%s", shown(rel), done, suggest(ctx, p.files, rel))
}

// load reads a file once. With through, links are followed.
func (p *planner) load(ctx context.Context, name string, through bool) (*planned, error) {
	name, _ = within(p.root, name)
	look := func() (string, sandbox.Info, error) { return follow(ctx, p.files, p.root, name) }
	if !through {
		look = func() (string, sandbox.Info, error) {
			info, err := p.files.Stat(ctx, name)
			return name, info, err
		}
	}
	real, info, err := look()
	if f, ok := p.states[real]; ok {
		return f, nil
	}
	if err != nil && sandbox.KindOf(err) != sandbox.KindNotFound {
		return nil, p.cannot("be patched", real, err)
	}
	f := &planned{path: real}
	if err == nil {
		if f.before, err = p.read(ctx, real, info); err != nil {
			return nil, err
		}
	}
	f.after = f.before
	p.states[real] = f
	return f, nil
}

func (p *planner) read(ctx context.Context, name string, info sandbox.Info) (fileState, error) {
	s := fileState{exists: true, mode: info.Mode.Perm()}
	switch {
	case info.Mode&fs.ModeSymlink != 0:
		s.link = info.Target
		return s, nil
	case info.Mode.IsDir():
		return s, refuse("%s is a folder, not a file", shown(name))
	case !info.Mode.IsRegular():
		return s, refuse("%s is not a regular file", shown(name))
	case info.Size > maxPatchedFile:
		return s, refuse("%s is larger than 10 MB: a patch can't change it", shown(name))
	}
	content, err := readAll(ctx, p.files, name, maxPatchedFile)
	if err != nil {
		return s, p.cannot("be read", name, err)
	}
	if p.bytes += int64(len(content)); p.bytes > maxPatchedBytes {
		return s, refuse("the files of the patch are larger than 64 MB together: send it in parts")
	}
	s.content = string(content)
	return s, nil
}

// cannot makes a refusal of what the sandbox refused; a failure of the sandbox
// stays one.
func (p *planner) cannot(what, name string, err error) error {
	if broken(err) {
		return fmt.Errorf("patch %s: %w", name, err)
	}
	return refuse("%s can't %s: %s", shown(name), what, because(err))
}

// readAll reads a whole file of at most limit bytes.
func readAll(ctx context.Context, files sandbox.FS, name string, limit int64) ([]byte, error) {
	r, err := files.Open(ctx, name, 0, limit+1)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if int64(len(content)) > limit {
		return nil, &sandbox.Error{Kind: sandbox.KindTooLarge, Op: "read " + name}
	}
	return content, nil
}

// result lists what changed: first what is written, in the order in which it
// came to be, then what is removed.
func (p *planner) result() plan {
	var out plan
	for _, f := range p.states {
		if f.before.sum() != f.after.sum() {
			out.files = append(out.files, *f)
		}
	}
	sort.Slice(out.files, func(i, j int) bool {
		a, b := out.files[i], out.files[j]
		if a.after.exists != b.after.exists {
			return a.after.exists
		}
		if a.step != b.step {
			return a.step < b.step
		}
		return a.path < b.path
	})
	moved := map[string]bool{}
	for _, f := range out.files {
		from := p.states[p.moves[f.path]]
		if from != nil && f.after.exists && !f.before.exists && from.before.exists && !from.after.exists {
			moved[from.path] = true
			out.changes = append(out.changes, change("move", from.path, f.path, from.before, f.after))
		}
	}
	for _, f := range out.files {
		switch {
		case moved[f.path] || hasMove(out.changes, f.path):
		case !f.before.exists:
			out.changes = append(out.changes, change("add", f.path, "", f.before, f.after))
		case !f.after.exists:
			out.changes = append(out.changes, change("delete", f.path, "", f.before, f.after))
		default:
			out.changes = append(out.changes, change("update", f.path, "", f.before, f.after))
		}
	}
	sort.SliceStable(out.changes, func(i, j int) bool { return out.changes[i].Path < out.changes[j].Path })
	return out
}

func hasMove(changes []protocol.FileChange, to string) bool {
	for _, c := range changes {
		if c.To == to {
			return true
		}
	}
	return false
}

// sameName tells whether an earlier file of the plan may be the same file under
// another path (through a linked folder).
func (p plan) sameName(at int) bool {
	for _, f := range p.files[:at] {
		if path.Base(f.path) == path.Base(p.files[at].path) {
			return true
		}
	}
	return false
}
