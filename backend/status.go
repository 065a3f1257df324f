package backend

import (
	"context"
	"errors"
	"time"

	"temporal-sandbox-agent/backend/engine"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/backend/store"
)

// Status is the state of the engine for the status bar.
func (b *Backend) Status() protocol.EngineStatus {
	if b.host == nil {
		return protocol.EngineStatus{State: string(engine.HostClosed), Since: time.Now()}
	}
	return b.statusOf(b.host.Status())
}

func (b *Backend) statusOf(now engine.HostStatus) protocol.EngineStatus {
	status := protocol.EngineStatus{State: string(now.State), Notices: b.Notices(), Since: now.Since}
	switch now.State {
	case engine.HostRunning:
		status.Role, status.Text = string(engine.RoleOwner), "Engine running"
	case engine.HostAttached:
		status.Role, status.Text = string(engine.RoleAttached), "Engine running in another window"
	case engine.HostStarting:
		status.Text = "Starting the engine"
	case engine.HostRecovering:
		status.Text = "Taking over the engine"
	case engine.HostFailed:
		status.Text = "The engine doesn't run"
		if fault, ok := errors.AsType[*protocol.Fault](engineFault(now.Err)); ok {
			status.Fault = fault
		}
	case engine.HostClosed:
		status.Text = "Engine closed"
	}
	for _, n := range now.Notices {
		status.Notices = append(status.Notices, n.Text())
	}
	return status
}

// RetryEngine opens the engine again after it could not be opened.
func (b *Backend) RetryEngine() {
	if b.host != nil {
		b.host.Retry()
	}
}

// tellEngine tells who watches that the engine's state changed. It may be
// called before StartHost has returned, so it does not look at b.host.
func (b *Backend) tellEngine(now engine.HostStatus) {
	status := b.statusOf(now)
	b.events.Publish(protocol.Event{Type: protocol.EventEngine, Engine: &status})
}

// engineFault says in the user's words why the engine can't be used.
func engineFault(err error) error {
	if err == nil {
		return nil
	}
	fault := &protocol.Fault{
		Class: protocol.ClassUnavailable, Happened: "The engine can't be started", Detail: err.Error(),
		Kept: "Your sessions are kept.", Remedy: "Try again, or quit the app and start it again.",
	}
	if _, ok := errors.AsType[*engine.DiskFullError](err); ok {
		fault.Class, fault.Happened, fault.Remedy = protocol.ClassDiskFull, "The disk is full", "Free some space, then try again."
	}
	if _, ok := errors.AsType[*engine.UnwritableError](err); ok {
		fault.Happened, fault.Remedy = "The data folder can't be written", "Check its permissions, or choose another one with --data-dir."
	}
	if _, ok := errors.AsType[*engine.BusyError](err); ok {
		fault.Happened, fault.Remedy = "Another process holds the data folder and does not answer", "End that process, then try again."
	}
	return fault
}

// storeFault says in the user's words why the store can't be opened.
func storeFault(err error) error {
	fault := &protocol.Fault{
		Class: protocol.ClassUnavailable, Happened: "The app's data folder can't be used", Detail: err.Error(),
		Remedy: "Check its permissions, or choose another one with --data-dir.",
	}
	if errors.Is(err, store.ErrNoSpace) {
		fault.Class, fault.Happened, fault.Remedy = protocol.ClassDiskFull, "The disk is full", "Free some space, then start the app again."
	}
	return fault
}

// DevUI starts the Temporal Web UI and returns its address.
func (b *Backend) DevUI(ctx context.Context) (string, error) {
	if b.host == nil {
		return "", engineFault(engine.ErrClosed)
	}
	e, err := b.host.Engine(ctx)
	if err != nil {
		return "", engineFault(err)
	}
	url, err := e.StartDevUI(ctx)
	if err != nil {
		return "", engineFault(err)
	}
	return url, nil
}
