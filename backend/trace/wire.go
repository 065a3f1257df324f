package trace

import (
	"time"
	"unicode/utf8"
)

// The bodies that OpenAI's ingestion takes. It refuses fields that it does not
// know, so nothing is added to them.

type wireBody[T any] struct {
	Data []T `json:"data"`
}

type wireTrace struct {
	Object       string        `json:"object"`
	ID           string        `json:"id"`
	WorkflowName string        `json:"workflow_name"`
	GroupID      string        `json:"group_id"`
	Metadata     *wireMetadata `json:"metadata"`
}

type wireMetadata struct {
	SessionID string `json:"session_id"`
	TurnID    string `json:"turn_id"`
}

type wireSpan[D any] struct {
	Object    string     `json:"object"`
	ID        string     `json:"id"`
	TraceID   string     `json:"trace_id"`
	ParentID  *string    `json:"parent_id"`
	StartedAt string     `json:"started_at"`
	EndedAt   string     `json:"ended_at"`
	SpanData  D          `json:"span_data"`
	Error     *wireError `json:"error"`
}

type wireError struct {
	Message string         `json:"message"`
	Data    *wireErrorData `json:"data"`
}

type wireErrorData struct {
	Class  string `json:"class,omitempty"`
	Detail string `json:"detail,omitempty"`
}

type agentData struct {
	Type       string   `json:"type"`
	Name       string   `json:"name"`
	Handoffs   []string `json:"handoffs"`
	Tools      []string `json:"tools"`
	OutputType string   `json:"output_type"`
}

type generationData struct {
	Type        string       `json:"type"`
	Input       []Message    `json:"input"`
	Output      []Message    `json:"output"`
	Model       string       `json:"model"`
	ModelConfig *modelConfig `json:"model_config"`
	Usage       *usage       `json:"usage"`
}

type modelConfig struct {
	Provider string `json:"provider"`
}

// usage takes these two and no more.
type usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

type functionData struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Input   string  `json:"input"`
	Output  string  `json:"output"`
	MCPData *string `json:"mcp_data"`
}

type customData[D any] struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Data D      `json:"data"`
}

// taskData is of the whole turn, stepData of one model call with its tools (a
// "turn" in the words of OpenAI's own library).
type taskData struct {
	SDKSpanType string `json:"sdk_span_type"`
	SessionID   string `json:"session_id"`
	TurnID      string `json:"turn_id"`
	Turn        int    `json:"turn"`
	Outcome     string `json:"outcome"`
}

type stepData struct {
	SDKSpanType string `json:"sdk_span_type"`
	Turn        int    `json:"turn"`
	AgentName   string `json:"agent_name"`
}

type temporalData struct {
	WorkflowID   string `json:"workflow_id"`
	WorkflowType string `json:"workflow_type"`
	ActivityType string `json:"activity_type,omitempty"`
	Attempt      int    `json:"attempt,omitempty"`
	TaskQueue    string `json:"task_queue"`
}

// isoTime is the form of times: ISO 8601 with microseconds, in UTC.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

const (
	// maxFieldBytes is how much JSON an input or an output may be.
	maxFieldBytes = 100_000
	cutMark       = "... [truncated]"
)

// jsonBytes is how long a text is in JSON, quotes included. Go's encoder writes
// <, > and & as six bytes, too.
func jsonBytes(text string) int {
	n := 2
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			n++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		n += runeBytes(r, size)
		i += size
	}
	return n
}

func runeBytes(r rune, size int) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < 0x20 || r == '<' || r == '>' || r == '&' || r == 0x2028 || r == 0x2029:
		return 6
	case r == utf8.RuneError && size == 1:
		return 6 // \ufffd
	default:
		return size
	}
}

// cutText cuts a text so that its JSON is at most limit bytes.
func cutText(text string, limit int) string {
	// No byte becomes more than six: most texts need no counting.
	if 6*len(text)+2 <= limit || len(text)+2 <= limit && jsonBytes(text) <= limit {
		return text
	}
	n := 2 + len(cutMark)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if n += runeBytes(r, size); n > limit {
			return text[:i] + cutMark
		}
		i += size
	}
	return text
}

// messageFrame is what a message is beside its texts, comma included.
const messageFrame = len(`{"role":,"content":},`)

// cutMessages keeps the last messages whose JSON is at most maxFieldBytes, and
// cuts the oldest of them. Of what a model was sent, the end is what matters.
func cutMessages(messages []Message) []Message {
	room := maxFieldBytes - len(`[]`)
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		frame := messageFrame + jsonBytes(m.Role)
		size := frame + jsonBytes(m.Content)
		if size <= room {
			room -= size
			continue
		}
		if room-frame < 2+len(cutMark) {
			return messages[i+1:]
		}
		cut := append([]Message{}, messages[i:]...)
		cut[0].Content = cutText(m.Content, room-frame)
		return cut
	}
	return messages
}
