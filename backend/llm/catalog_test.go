package llm

import (
	"slices"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
)

func TestKnown(t *testing.T) {
	for id, want := range map[string]facts{
		"gpt-5.4-mini":                {272_000, []string{"none", "low", "medium", "high", "xhigh"}, true, &price{0.75, 0.075, 4.50, 0}},
		"gpt-5.4-mini-2026-03-17":     {272_000, []string{"none", "low", "medium", "high", "xhigh"}, true, &price{0.75, 0.075, 4.50, 0}},
		"gpt-5-codex":                 {272_000, []string{"low", "medium", "high"}, true, &price{1.25, 0.125, 10, 0}},
		"ft:gpt-4.1-mini:acme::a1":    {1_047_576, nil, true, &price{0.40, 0.10, 1.60, 0}},
		"gpt-7-future":                {0, []string{"low", "medium", "high"}, true, nil},
		"gpt-12":                      {0, []string{"low", "medium", "high"}, true, nil},
		"o5":                          {0, []string{"low", "medium", "high"}, true, nil},
		"gpt-9-pro":                   {0, []string{"high"}, true, nil},
		"gpt-5.2-chat-latest":         {},
		"gpt-4-turbo":                 {images: true},
		"fake-model":                  {},
		"openai/gpt-oss-20b":          {efforts: []string{"low", "medium", "high"}},
		"qwen3-coder:30b":             {},
		"o5mini-that-is-no-such-form": {},
	} {
		got := known(id)
		if got.window != want.window || !slices.Equal(got.efforts, want.efforts) || got.images != want.images ||
			(got.price == nil) != (want.price == nil) || (got.price != nil && *got.price != *want.price) {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
}

func TestUsableModelsAreKnown(t *testing.T) {
	for _, m := range usable() {
		if m.Window == 0 || known(m.ID).price == nil || !chatName().MatchString(m.ID) || notChat().MatchString(m.ID) {
			t.Errorf("%+v", m)
		}
	}
}

func TestCost(t *testing.T) {
	p := &price{2.50, 0.25, 15, 272_000}
	for _, c := range []struct {
		u      protocol.Usage
		p      *price
		writes int64
		want   int64
		free   bool
	}{
		{protocol.Usage{InputTokens: 1000, CachedTokens: 400, OutputTokens: 100}, p, 0, 3100, false},
		{protocol.Usage{InputTokens: 272_000}, p, 0, 680_000, false},
		{protocol.Usage{InputTokens: 272_001}, p, 0, 0, true},
		{protocol.Usage{InputTokens: 1000}, nil, 0, 0, true},
		{protocol.Usage{InputTokens: 1000}, p, 5, 0, true},
		{protocol.Usage{InputTokens: 10, CachedTokens: 20}, p, 0, 5, false},
		{protocol.Usage{InputTokens: 1000, OutputTokens: 9}, &price{}, 0, 0, false},
	} {
		if got := cost(c.u, c.p, c.writes); got.CostMicros != c.want || got.Unpriced != c.free {
			t.Errorf("%+v: %d, %v; want %d, %v", c.u, got.CostMicros, got.Unpriced, c.want, c.free)
		}
	}
}

func TestNearestEffort(t *testing.T) {
	five := []string{"none", "low", "medium", "high", "xhigh"}
	for _, c := range []struct {
		want      string
		supported []string
		got       string
	}{
		{"", five, ""},
		{"high", five, "high"},
		{"high", nil, ""},
		{"minimal", five, "none"},
		{"max", five, "xhigh"},
		{"none", []string{"low", "medium", "high"}, "low"},
		{"xhigh", []string{"low", "medium", "high"}, "high"},
		{"low", []string{"high"}, "high"},
		{"extreme", five, ""},
	} {
		if got := nearestEffort(c.want, c.supported); got != c.got {
			t.Errorf("%q of %v: %q, want %q", c.want, c.supported, got, c.got)
		}
	}
}

func TestForAgents(t *testing.T) {
	var all []listedModel
	for i, id := range []string{
		"gpt-4", "gpt-4-0613", "gpt-4-32k", "gpt-4-turbo", "gpt-3.5-turbo", "gpt-4o-audio-preview", "gpt-4o-realtime-preview", "gpt-4o-mini-tts", "gpt-4o-transcribe",
		"gpt-image-1", "gpt-5-search-api", "text-embedding-3-large", "whisper-1", "dall-e-3", "tts-1", "omni-moderation-latest", "davinci-002", "babbage-002", "sora-2",
		"gpt-5-chat-latest", "o3-deep-research", "o1-mini", "computer-use-preview", "chatgpt-4o-latest", "gpt-realtime", "gpt-audio", "gpt-3.5-turbo-instruct",
		"gpt-5.4-2026-03-05", "gpt-4.1", "gpt-5.4", "gpt-5.4-mini", "o4-mini", "codex-mini-latest", "gpt-6-sol", "ft:gpt-4.1-mini:acme::a1", "gpt-10",
	} {
		m := listedModel{ID: id, Created: loose("17000000" + string(rune('0'+i/10)) + string(rune('0'+i%10)))}
		all = append(all, m)
	}
	var got []string
	for _, m := range forAgents(all) {
		got = append(got, m.ID)
	}
	want := []string{"gpt-5.4-mini", "gpt-10", "ft:gpt-4.1-mini:acme::a1", "gpt-6-sol", "codex-mini-latest", "o4-mini", "gpt-5.4", "gpt-4.1", "gpt-4-turbo", "gpt-5.4-2026-03-05"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
