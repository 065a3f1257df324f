package transcript

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"temporal-sandbox-agent/backend/llm"
)

const (
	// imageTokens is what a picture counts, whatever its size.
	imageTokens = 1000
	// entryTokens is the frame around one entry.
	entryTokens = 4

	// pruneFrom is the size in bytes from which an old output is shortened, to
	// pruneKeep at either end.
	pruneFrom = 4 << 10
	pruneKeep = 1 << 10
	// protectedShare of the budget, the newest part, is left as it is.
	protectedShare = 2 // a half
)

// Estimate is about how many tokens the entries are: a quarter of the bytes,
// and a flat figure for each picture.
func Estimate(entries []llm.Entry) int64 {
	var n int64
	for i := range entries {
		n += estimate(&entries[i])
	}
	return n
}

func estimate(e *llm.Entry) int64 {
	text := len(e.Text) + len(e.Name) + len(e.Args)
	return int64(max(text, len(e.Raw))/4) + entryTokens + int64(len(e.Images))*imageTokens
}

// prune shortens old large tool outputs when the entries pass the budget. It
// replays the conversation: whenever the sum passes the budget, all outputs up
// to a point are shortened at once, which makes room for many more entries. So
// the beginning of the conversation changes seldom, and the provider's cache of
// it stays good in between.
func prune(entries []llm.Entry, budget int64) []llm.Entry {
	if budget <= 0 || Estimate(entries) <= budget {
		return entries
	}
	out := slices.Clone(entries)
	var sum int64
	pruned := 0
	for i := range out {
		sum += estimate(&out[i])
		if sum <= budget {
			continue
		}
		end := i // the newest is left as it is in any case
		for kept := estimate(&out[i]); end > pruned; end-- {
			if kept += estimate(&out[end-1]); kept > budget/protectedShare {
				break
			}
		}
		for j := pruned; j < end; j++ {
			before := estimate(&out[j])
			shorten(&out[j])
			sum += estimate(&out[j]) - before
		}
		pruned = max(pruned, end)
	}
	return out
}

func shorten(e *llm.Entry) {
	if e.Kind != llm.EntryResult || len(e.Text) < pruneFrom {
		return
	}
	e.Text = cutMiddle(e.Text, pruneKeep, "older output")
}

// cutMiddle keeps n bytes at either end, cut between characters.
func cutMiddle(text string, n int, what string) string {
	if len(text) <= 2*n {
		return text
	}
	head, tail := n, len(text)-n
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes of %s left out …]\n%s", text[:head], tail-head, what, text[tail:])
}
