package transcript

import (
	"fmt"
	"strings"

	"temporal-sandbox-agent/backend/llm"
	"temporal-sandbox-agent/backend/protocol"
)

// CompactionInstructions are the instructions of a model that is to summarise.
const CompactionInstructions = `You summarise the work of a coding agent so that it can go on without the conversation. You call no tools.`

const compactionPrompt = `The conversation has become too long and will be replaced by your summary. Write down everything that is needed to go on with the work as if nothing had happened:

- What the user asked for, in their own words where it matters, and what they ruled out.
- What was decided and why.
- What was done: files made or changed (with their paths), commands that matter and what came of them.
- The state now: what works, what fails (with the exact messages), what runs in the background.
- What is left to do, and the very next step.

Be exact with names, paths, versions and numbers. Leave out small talk and what is settled. Do not address the user, call no tools, answer with the summary only.`

// summaryHead introduces a summary to the model.
const summaryHead = "[The conversation before this point was summarised:]\n\n"

// lastMessageBytes is how much of the user's last message a summary carries
// word for word.
const lastMessageBytes = 8 << 10

// CompactionEntries returns the input of the request for a summary. If the
// conversation itself does not fit into budget tokens (0: it does), it becomes
// one text whose middle is left out.
func CompactionEntries(entries []llm.Entry, budget int64) []llm.Entry {
	prompt := llm.Entry{Kind: llm.EntryUser, Text: compactionPrompt}
	whole := append(entries[:len(entries):len(entries)], prompt)
	if budget <= 0 || Estimate(whole) <= budget {
		return whole
	}
	text := plain(prune(entries, budget/2))
	room := int(budget-estimate(&prompt)-2*entryTokens) * 4
	// A little at the beginning tells what it is about; most of the room is for
	// the end.
	if head := room / 4; len(text) > room {
		text = cutUneven(text, max(head, 0), max(room-head-100, 0))
	}
	prompt.Text = "This is the conversation of a coding agent with its user:\n\n" + text + "\n\n" + compactionPrompt
	return []llm.Entry{prompt}
}

func cutUneven(text string, head, tail int) string {
	begin := strings.ToValidUTF8(text[:min(head, len(text))], "")
	end := strings.ToValidUTF8(text[max(0, len(text)-tail):], "")
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", begin, len(text)-len(begin)-len(end), end)
}

// plain writes the conversation as text.
func plain(entries []llm.Entry) string {
	var b strings.Builder
	for i := range entries {
		switch e := &entries[i]; e.Kind {
		case llm.EntryUser:
			fmt.Fprintf(&b, "USER: %s\n\n", e.Text)
		case llm.EntryAssistant:
			fmt.Fprintf(&b, "AGENT: %s\n\n", e.Text)
		case llm.EntryCall:
			fmt.Fprintf(&b, "CALL %s %s\n\n", e.Name, e.Args)
		case llm.EntryResult:
			fmt.Fprintf(&b, "RESULT: %s\n\n", e.Text)
		case llm.EntryReasoning:
		}
	}
	return b.String()
}

// SummaryText is the text of the summary item: the model's answer and, word for
// word, what the user asked last, which the turn under way is about.
func SummaryText(answer string, items []protocol.Item) string {
	for i := len(items) - 1; i >= 0; i-- {
		if u := items[i].User; u != nil && u.Text != "" {
			return appendLine(answer, "[The user's last message, word for word:]\n\n"+cutMiddle(u.Text, lastMessageBytes/2, "the message"))
		}
	}
	return answer
}
