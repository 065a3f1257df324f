package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// Bounds of the pictures in one request; older ones are named only.
const (
	maxImages     = 20
	maxImageBytes = 24 << 20
)

// ContextOptions says who will read the entries.
type ContextOptions struct {
	// Provider is the reader: the forms that another provider made are left
	// out. It is also who works the turn under way.
	Provider string
	// Images is false for a model that takes none.
	Images bool
	// Budget is the size in tokens from which old large tool outputs are
	// shortened; 0 leaves all as it is.
	Budget int64
}

// Entries builds what the model is sent from the items that Load returned: a
// valid conversation whatever happened in it. Every call has its result, a text
// that was cut off says so, and what only the user needs is left out.
func (t *Transcript) Entries(ctx context.Context, items []protocol.Item, o ContextOptions) ([]llm.Entry, error) {
	b := builder{t: t, o: o, makers: makers(items, o.Provider), shown: shownImages(items, o.Images)}
	for i := lastSummaryOr(items, 0); i < len(items); i++ {
		item := &items[i]
		if item.Kind != protocol.KindTool {
			b.flush()
		}
		var err error
		switch {
		case item.User != nil:
			err = b.user(ctx, item.User)
		case item.Assistant != nil:
			b.assistant(item)
		case item.Reasoning != nil:
			b.reasoning(items, i)
		case item.Tool != nil:
			err = b.tool(ctx, item)
		case item.Summary != nil:
			b.add(llm.Entry{Kind: llm.EntryUser, Text: summaryHead + item.Summary.Text})
		}
		if err != nil {
			return nil, fmt.Errorf("build the context: item %s: %w", item.ID, err)
		}
	}
	b.flush()
	return prune(b.entries, o.Budget), nil
}

func lastSummaryOr(items []protocol.Item, or int) int {
	if i := lastSummary(items); i >= 0 {
		return i
	}
	return or
}

// makers tells which provider worked each turn that has ended.
func makers(items []protocol.Item, current string) func(turn string) string {
	by := map[string]string{}
	for i := range items {
		if e := items[i].TurnEnd; e != nil {
			by[items[i].Turn] = e.Provider
		}
	}
	return func(turn string) string {
		if p, ok := by[turn]; ok {
			return p
		}
		return current
	}
}

type builder struct {
	t       *Transcript
	o       ContextOptions
	makers  func(turn string) string
	shown   map[string]bool
	entries []llm.Entry
	// results wait until all calls of one answer are there.
	results []llm.Entry
	step    int
}

func (b *builder) add(e llm.Entry) { b.entries = append(b.entries, e) }

func (b *builder) flush() {
	b.entries = append(b.entries, b.results...)
	b.results = nil
}

func (b *builder) user(ctx context.Context, u *protocol.UserItem) error {
	e := llm.Entry{Kind: llm.EntryUser, Text: u.Text}
	for _, a := range u.Attachments {
		if !isImage(a.MIME) {
			e.Text = appendLine(e.Text, fmt.Sprintf("[Attached file, written to the workspace as %q (%s, %d bytes)]", cmp.Or(a.Path, a.Name), a.MIME, a.Size))
			continue
		}
		img, note, err := b.image(ctx, a.Object, a.MIME, a.Name)
		if err != nil {
			return err
		}
		if img != nil {
			e.Images = append(e.Images, *img)
		} else {
			e.Text = appendLine(e.Text, note)
		}
	}
	b.add(e)
	return nil
}

func (b *builder) assistant(item *protocol.Item) {
	a := item.Assistant
	e := llm.Entry{Kind: llm.EntryAssistant, Text: a.Text}
	if a.Partial {
		if a.Text != "" {
			e.Text = appendLine(a.Text, "[This answer was cut off here.]")
		}
	} else if maker := b.makers(item.Turn); maker == b.o.Provider && len(a.Raw) > 0 {
		e.Raw, e.Provider = a.Raw, maker
	}
	if e.Text != "" || e.Raw != nil {
		b.add(e)
	}
}

// reasoning goes back only to who made it, and only before what it led to: a
// provider refuses reasoning that nothing follows.
func (b *builder) reasoning(items []protocol.Item, at int) {
	item := &items[at]
	r := item.Reasoning
	if len(r.Raw) == 0 || r.Provider != b.o.Provider {
		return
	}
	for i := at + 1; i < len(items) && items[i].Turn == item.Turn; i++ {
		switch next := &items[i]; {
		case next.Tool != nil, next.Assistant != nil && !next.Assistant.Partial:
			b.add(llm.Entry{Kind: llm.EntryReasoning, Text: r.Summary, Raw: r.Raw, Provider: r.Provider})
			return
		case next.Reasoning == nil && next.Notice == nil:
			return
		}
	}
}

func (b *builder) tool(ctx context.Context, item *protocol.Item) error {
	c := item.Tool
	// Calls of one answer stay together, as the model made them.
	if c.Step == 0 || c.Step != b.step {
		b.flush()
	}
	b.step = c.Step
	call := llm.Entry{Kind: llm.EntryCall, CallID: c.CallID, Name: c.Name, Args: c.Args}
	if maker := b.makers(item.Turn); maker == b.o.Provider && len(c.Raw) > 0 {
		call.Raw, call.Provider = c.Raw, maker
	}
	b.add(call)
	result := llm.Entry{Kind: llm.EntryResult, CallID: c.CallID, Name: c.Name, Text: resultText(c)}
	if c.Result.Image != "" && c.Status.Ended() {
		img, note, err := b.image(ctx, c.Result.Image, c.Result.ImageMIME, "")
		if err != nil {
			return err
		}
		if img != nil {
			result.Images = []llm.Image{*img}
		} else {
			result.Text = appendLine(result.Text, note)
		}
	}
	b.results = append(b.results, result)
	return nil
}

// resultText is what the model is told of a call's end.
func resultText(c *protocol.ToolItem) string {
	if c.Status.Ended() && c.Result.Output != "" {
		return c.Result.Output
	}
	switch c.Status {
	case protocol.ToolDone:
		return "(no output)"
	case protocol.ToolDenied:
		return "The user denied this call. It was not run."
	case protocol.ToolFailed:
		return "The call failed without a message."
	case protocol.ToolPending:
		return "Interrupted: the call was not run."
	default:
		return "Interrupted: the call was begun and may be partly done. Look at the state of things before doing it again."
	}
}

// image returns a picture, or the words that stand for it.
func (b *builder) image(ctx context.Context, object, mime, name string) (img *llm.Image, note string, err error) {
	what := "image"
	if name != "" {
		what = fmt.Sprintf("image %q", name)
	}
	if !b.o.Images {
		return nil, "[An " + what + " is not shown: this model takes no images.]", nil
	}
	if !b.shown[object] {
		return nil, "[An older " + what + " is not shown any more.]", nil
	}
	data, err := b.t.object(ctx, store.ID(object))
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		// The conversation must go on without it.
		return nil, "[An " + what + " can't be read any more.]", nil
	}
	if err != nil {
		return nil, "", err
	}
	return &llm.Image{MIME: mime, Data: data}, "", nil
}

// object reads through a cache: the same pictures are sent with every step.
func (t *Transcript) object(ctx context.Context, id store.ID) ([]byte, error) {
	if data, ok := t.images.get(id); ok {
		return data, nil
	}
	data, err := t.store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	t.images.add(id, data, len(data))
	return data, nil
}

// shownImages chooses the last pictures within the bounds. Tools' pictures have
// no known size and count as one megabyte.
func shownImages(items []protocol.Item, wanted bool) map[string]bool {
	shown := map[string]bool{}
	if !wanted {
		return shown
	}
	room, bytes := maxImages, int64(maxImageBytes)
	take := func(object string, size int64) {
		if shown[object] {
			return
		}
		if room--; room < 0 {
			return
		}
		if bytes -= size; bytes < 0 {
			room = 0 // nothing older either: no holes in what is shown
			return
		}
		shown[object] = true
	}
	for i := len(items) - 1; i >= 0; i-- {
		switch item := &items[i]; {
		case item.Tool != nil && item.Tool.Result.Image != "":
			take(item.Tool.Result.Image, 1<<20)
		case item.User != nil:
			for j := len(item.User.Attachments) - 1; j >= 0; j-- {
				if a := item.User.Attachments[j]; isImage(a.MIME) {
					take(a.Object, a.Size)
				}
			}
		}
	}
	return shown
}

func isImage(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	default:
		return false
	}
}

func appendLine(text, line string) string {
	if text == "" {
		return line
	}
	return strings.TrimRight(text, "\n") + "\n\n" + line
}
