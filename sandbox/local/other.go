//go:build !unix

package local

import (
	"context"
	"errors"

	"temporal-sandbox-agent/sandbox"
)

// Provider is here so that the app can tell why it has no local sandboxes.
type Provider struct{}

// New returns a provider that makes nothing.
func New(Config) *Provider { return &Provider{} }

// Warm does nothing.
func (p *Provider) Warm(context.Context) error { return nil }

// Close does nothing.
func (p *Provider) Close() error { return nil }

// Name implements sandbox.Provider.
func (p *Provider) Name() string { return name }

const (
	reason = "Local sandboxes need a Unix system: Linux or macOS."
	remedy = "Use Docker or a cloud backend, or run the app in WSL."
)

// Probe implements sandbox.Provider.
func (p *Provider) Probe(context.Context) sandbox.Availability {
	return sandbox.Availability{Reason: reason, Remedy: remedy}
}

func unavailable(op string) error {
	return &sandbox.Error{Kind: sandbox.KindUnavailable, Backend: name, Op: op, Remedy: remedy, Err: errors.New(reason)}
}

// Create implements sandbox.Provider.
func (p *Provider) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, unavailable("create sandbox")
}

// Attach implements sandbox.Provider.
func (p *Provider) Attach(context.Context, sandbox.Ref) (sandbox.Sandbox, error) {
	return nil, unavailable("attach to sandbox")
}

// Destroy implements sandbox.Provider.
func (p *Provider) Destroy(context.Context, sandbox.Ref) error {
	return unavailable("destroy sandbox")
}

// Check tells that no folder can be used here.
func (p *Provider) Check(string) error { return unavailable("use folder") }
