package tool

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"temporal-sandbox-agent/backend/protocol"
)

// maxDiff is the longest diff of one file, in bytes.
const maxDiff = 64 << 10

// change describes what became of one file.
func change(op, from, to string, before, after fileState) protocol.FileChange {
	c := protocol.FileChange{Path: valid(from), Op: op, To: valid(to)}
	if before.link != "" || before.content == after.content || strings.ContainsRune(before.content+after.content, 0) {
		return c
	}
	oldName, newName := "a/"+from, "b/"+from
	if to != "" {
		newName = "b/" + to
	}
	if !before.exists {
		oldName = "/dev/null"
	}
	if !after.exists {
		newName = "/dev/null"
	}
	diff, err := udiff.ToUnifiedDiff(oldName, newName, before.content, udiff.Lines(before.content, after.content), udiff.DefaultContextLines)
	if err != nil {
		return c // can't be: the edits are made of this content
	}
	for _, hunk := range diff.Hunks {
		for _, line := range hunk.Lines {
			switch line.Kind {
			case udiff.Insert:
				c.Added++
			case udiff.Delete:
				c.Removed++
			}
		}
	}
	c.Diff = cutDiff(valid(diff.String()))
	return c
}

func cutDiff(diff string) string {
	const cut = "[… the rest of the diff is left out …]\n"
	if len(diff) <= maxDiff {
		return diff
	}
	return cutEnd(diff, maxDiff-len(cut)-1) + "\n" + cut
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
