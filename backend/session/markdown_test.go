package session

import (
	"fmt"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
)

// What the conversation holds can't break out of its place in the Markdown.
func TestMarkdownOfAToolCall(t *testing.T) {
	var b strings.Builder
	zero := 0
	markdownItem(func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }, protocol.Item{
		Kind: protocol.KindTool,
		Tool: &protocol.ToolItem{Ask: protocol.Ask{Title: "echo `x`"}, Result: protocol.ToolResult{Output: "```\nnot a heading\n```\n", ExitCode: &zero}},
	})
	want := "\n`` echo `x` `` (exit 0)\n\n````\n```\nnot a heading\n```\n````\n"
	if b.String() != want {
		t.Errorf("got %q\nwant %q", b.String(), want)
	}
}
