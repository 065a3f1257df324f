package backend

import (
	"context"
	"encoding/json"
	"net/url"

	"temporal-sandbox-agent/backend/config"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/trace"
)

// maxPrefs bounds the page's own state, in bytes.
const maxPrefs = 4 << 20

// SaveSettings replaces the settings, but not the page's own state.
func (b *Backend) SaveSettings(ctx context.Context, settings protocol.Settings) (protocol.Settings, error) {
	before := b.settings.Get()
	settings.Prefs = before.Prefs
	saved, err := b.settings.Save(ctx, settings)
	if err != nil {
		return saved, err
	}
	kept := map[string]bool{}
	for _, e := range saved.Endpoints {
		kept[config.EndpointKey(e)] = true
	}
	for _, e := range before.Endpoints {
		if name := config.EndpointKey(e); !kept[name] {
			if err := b.keys.Delete(ctx, name); err != nil {
				b.log.Warn("the key of a server that was removed could not be forgotten", "server", e.Name, "error", err)
			}
		}
	}
	return saved, nil
}

// SavePrefs keeps the page's own state, a JSON text.
func (b *Backend) SavePrefs(ctx context.Context, prefs string) error {
	if len(prefs) > maxPrefs || !json.Valid([]byte(prefs)) {
		return &protocol.Fault{Class: protocol.ClassBadInput, Happened: "The window's state can't be kept", Detail: "not valid JSON, or too long"}
	}
	settings := b.settings.Get()
	settings.Prefs = json.RawMessage(prefs)
	_, err := b.settings.Save(ctx, settings)
	return err
}

// Keys tells which keys are set, and where each is kept.
func (b *Backend) Keys(ctx context.Context) []protocol.KeyInfo {
	return b.keys.List(ctx, b.settings.Get().Endpoints)
}

// SetKey keeps a key.
func (b *Backend) SetKey(ctx context.Context, name, value string) error {
	return b.keys.Set(ctx, name, value)
}

// DeleteKey forgets a key.
func (b *Backend) DeleteKey(ctx context.Context, name string) error { return b.keys.Delete(ctx, name) }

// openTracer opens what tells tracing services of turns.
func (b *Backend) openTracer(ctx context.Context) (trace.Tracer, error) {
	return trace.Open(ctx, trace.Config{
		Mode: func() trace.Mode { return b.traceMode(ctx) },
		Credentials: func(ctx context.Context) trace.Credentials {
			key := b.keys.OpenAI(ctx)
			return trace.Credentials{Key: key.Key, BaseURL: key.BaseURL, Organization: key.Organization, Project: key.Project}
		},
		Version: b.config.Version,
		Log:     b.log,
	})
}

// openAIName is what the user knows OpenAI as.
const openAIName = "OpenAI"

// traceTo names who gets traces: with another address set in OpenAI's place, it
// is not OpenAI. There nobody is asked whether to trace, since few such servers
// take traces.
func (b *Backend) traceTo(ctx context.Context) string {
	base := b.keys.OpenAI(ctx).BaseURL
	u, err := url.Parse(base)
	own, _ := url.Parse(trace.DefaultBaseURL)
	if base == "" || err != nil || u.Hostname() == own.Hostname() {
		return openAIName
	}
	return u.Host
}

// traceMode is what is sent as OpenAI takes it: what this process was told, else the
// environment, else the settings. Without a choice of the user nothing is.
func (b *Backend) traceMode(ctx context.Context) trace.Mode {
	if b.config.Trace != "" {
		return b.config.Trace
	}
	for _, text := range []string{b.keys.Get(ctx, config.KeyTrace), b.settings.Get().Trace} {
		if mode, err := trace.ParseMode(text); err == nil {
			return mode
		}
	}
	return trace.ModeNone
}
