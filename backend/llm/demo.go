package llm

import (
	"context"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// The demo's names.
const (
	ProviderDemo = "demo"
	DemoModel    = "demo"
)

// DefaultDemoPace is the demo's wait after each word where somebody watches.
const DefaultDemoPace = 12 * time.Millisecond

// demo is a provider without any AI in it: a script that understands a few
// commands and carries them out with the real tools. It needs no key and no
// network, and always answers the same.
type demo struct{ pace time.Duration }

func (d demo) Info(context.Context) protocol.ProviderInfo {
	return protocol.ProviderInfo{
		Name: ProviderDemo, Label: "Demo (no AI)", Kind: "demo", Available: true, Local: true,
		Default: DemoModel, Models: []protocol.ModelInfo{demoInfo()},
	}
}

func (d demo) Models(context.Context) ([]protocol.ModelInfo, error) {
	return []protocol.ModelInfo{demoInfo()}, nil
}

func (d demo) Open(string) Model { return demoModel(d) }

func demoInfo() protocol.ModelInfo {
	return protocol.ModelInfo{ID: DemoModel, Label: "Scripted demo, no AI"}
}

type demoModel struct{ pace time.Duration }

func (demoModel) Info() protocol.ModelInfo { return demoInfo() }

// reply is what the script says and does next.
type reply struct {
	thought string
	text    string
	calls   []demoCall
}

// demoCall is a call of a tool, its arguments as a struct of ours.
type demoCall struct {
	tool string
	args any
}

func (m demoModel) Stream(ctx context.Context, req Request, sink func(Delta)) (Response, error) {
	w := demoWriter{ctx: ctx, pace: m.pace, sink: sink}
	r := demoReply(req)
	if r.thought != "" {
		w.write(protocol.ChannelReasoning, "", words(r.thought))
		w.end(Entry{Kind: EntryReasoning, Text: r.thought})
	}
	if r.text != "" {
		w.write(protocol.ChannelText, "", words(r.text))
		w.end(Entry{Kind: EntryAssistant, Text: r.text})
	}
	for _, c := range r.calls {
		b := newBody(256)
		b.put(c.args)
		if b.err != nil {
			return Response{}, &protocol.Fault{Class: protocol.ClassInternal, Happened: "The demo made a call that can't be written", Detail: b.err.Error()}
		}
		args := string(b.bytes())
		w.write(protocol.ChannelArgs, c.tool, pieces(args))
		w.end(Entry{Kind: EntryCall, CallID: newCallID(), Name: c.tool, Args: args})
	}
	if ctx.Err() != nil {
		return Response{}, service{label: "The demo"}.fault(ctx, ctx.Err())
	}
	return Response{Output: w.out}, nil
}

// demoWriter streams pieces at its pace until the context ends.
type demoWriter struct {
	ctx  context.Context
	pace time.Duration
	sink func(Delta)
	out  []Entry
}

func (w *demoWriter) write(ch protocol.Channel, tool string, parts []string) {
	for _, p := range parts {
		if w.ctx.Err() != nil {
			return
		}
		w.sink(Delta{Index: len(w.out), Channel: ch, Tool: tool, Text: p})
		w.wait()
	}
}

func (w *demoWriter) wait() {
	if w.pace <= 0 {
		return
	}
	t := time.NewTimer(w.pace)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.ctx.Done():
	}
}

func (w *demoWriter) end(e Entry) {
	e.Provider = ProviderDemo
	w.out = append(w.out, e)
}

// words cuts a text after each word.
func words(s string) []string { return strings.SplitAfter(s, " ") }

// pieces cuts a text into pieces of about 24 bytes, at runes.
func pieces(s string) []string {
	var out []string
	for len(s) > 24 {
		n := 24
		for n < len(s) && s[n]&0xC0 == 0x80 {
			n++
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return append(out, s)
}
