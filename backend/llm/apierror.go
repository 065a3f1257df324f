package llm

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"sync"
)

// apiError is what a service says went wrong, in whichever of the usual shapes
// it says it.
type apiError struct {
	Code    string
	Type    string
	Param   string
	Message string
}

func (a *apiError) Error() string {
	if a.Message != "" {
		return a.Message
	}
	return strings.TrimSpace(a.Type + " " + a.Code)
}

// loose reads a string, a number or nothing into a string; servers disagree
// on the type of a code.
type loose string

func (l *loose) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*l = loose(s)
		return nil
	}
	if t := strings.TrimSpace(string(b)); t != "null" && !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") {
		*l = loose(t)
	}
	return nil
}

type errorObject struct {
	Code     loose           `json:"code"`
	Type     loose           `json:"type"`
	Param    loose           `json:"param"`
	Message  loose           `json:"message"`
	Error    json.RawMessage `json:"error"`
	Detail   json.RawMessage `json:"detail"`
	Metadata struct {
		Raw loose `json:"raw"`
	} `json:"metadata"`
}

// parseAPIError understands OpenAI's {"error":{…}}, Ollama's {"error":"…"},
// vLLM's {"object":"error",…}, FastAPI's {"detail":…}, a list with one of them
// in it, and flat objects. ok is false when body is no such thing.
func parseAPIError(body []byte) (apiError, bool) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			return parseAPIError(list[0])
		}
		return apiError{}, false
	}
	var o errorObject
	if json.Unmarshal(body, &o) != nil {
		return apiError{}, false
	}
	if present(o.Error) {
		var text string
		if json.Unmarshal(o.Error, &text) == nil {
			return apiError{Message: text, Type: string(o.Type), Code: string(o.Code)}, text != ""
		}
		return parseAPIError(o.Error)
	}
	e := apiError{Code: string(o.Code), Type: string(o.Type), Param: string(o.Param), Message: string(o.Message)}
	if o.Metadata.Raw != "" { // a router tells what the server behind it said
		e.Message += ": " + string(o.Metadata.Raw)
	}
	if e.Message == "" && present(o.Detail) {
		e.Message = detailText(o.Detail)
	}
	return e, e.Message != "" || e.Code != ""
}

func detailText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []struct {
		Msg string  `json:"msg"`
		Loc []loose `json:"loc"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	parts := make([]string, 0, len(list))
	for _, l := range list {
		loc := make([]string, 0, len(l.Loc))
		for _, p := range l.Loc {
			loc = append(loc, string(p))
		}
		parts = append(parts, strings.TrimSpace(strings.Join(loc, ".")+" "+l.Msg))
	}
	return strings.Join(parts, "; ")
}

func present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

var (
	htmlTitle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`) })
	htmlJunk  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)<(script|style)[^>]*>.*?</(script|style)>|<[^>]*>`)
	})
	spaces  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+`) })
	keyLike = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(bearer\s+)[^\s"',;]+|\b(sk|pk|rk|key|tok)-[A-Za-z0-9_*.-]{6,}`)
	})
)

// plainText makes the body of an error readable in one line of at most 500
// bytes: the title of a web page, else its text.
func plainText(body []byte) string {
	text := string(body)
	if m := htmlTitle().FindStringSubmatch(text); m != nil {
		text = m[1]
	} else {
		text = htmlJunk().ReplaceAllString(text, " ")
	}
	text = strings.ToValidUTF8(html.UnescapeString(text), "\uFFFD")
	return shorten(strings.TrimSpace(spaces().ReplaceAllString(text, " ")), 500)
}

// shorten cuts s to about n bytes at a rune.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// redact takes keys out of a text: the known ones, and what looks like one.
func redact(text string, keys ...string) string {
	for _, k := range keys {
		if k = strings.TrimSpace(k); len(k) >= 4 {
			text = strings.ReplaceAll(text, k, "[key]")
		}
	}
	return keyLike().ReplaceAllString(text, "${1}[key]")
}
