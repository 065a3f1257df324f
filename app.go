package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
)

// Each binding is one line with these.
type (
	in      = context.Context
	product = *backend.Backend
)

// App is what the page can call. Each method is one call into the backend; the
// window itself (dialogs, events) is the only thing that is dealt with here.
type App struct {
	opener *backend.Opener
	emit   func(ctx context.Context, batch []protocol.Event)

	// ctx is Wails' own, there once shown is closed.
	ctx   context.Context
	shown chan struct{}
	// err is how it ended.
	err    error
	closed sync.Once

	mu      sync.Mutex
	unwatch context.CancelFunc
}

// NewApp returns the bindings of the backend that open opens.
func NewApp(open func() (*backend.Backend, error)) *App {
	a := &App{
		emit:  func(ctx context.Context, batch []protocol.Event) { runtime.EventsEmit(ctx, "events", batch) },
		shown: make(chan struct{}),
	}
	a.opener = backend.NewOpener(open, func(b *backend.Backend) {
		ctx := a.wails()
		a.forward(ctx, b.WatchAll(ctx))
	})
	return a
}

// prepare begins to open the backend, while the window is still being made.
func (a *App) prepare() { a.opener.Begin() }

// start is called when the window exists, with Wails' context.
func (a *App) start(ctx context.Context) {
	a.ctx = ctx
	close(a.shown)
}

// wails is Wails' context, when the window is there.
func (a *App) wails() context.Context {
	<-a.shown
	return a.ctx
}

// RetryStart opens again what could not be opened: all of it, or the engine.
func (a *App) RetryStart() error { return bound(a.opener.Again()) }

// closeLimit is how long closing may take before the process ends anyway: what
// runs goes on at the next start.
const closeLimit = 5 * time.Second

// stop is called when the window was closed, or could not be opened.
func (a *App) stop(ctx context.Context) {
	a.closed.Do(func() {
		var b *backend.Backend
		if b, a.err = a.opener.Wait(); a.err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
		defer cancel()
		a.err = b.Close(ctx)
	})
}

// quitWith closes the window when ctx ends: the system asked the process to.
func (a *App) quitWith(ctx context.Context) {
	context.AfterFunc(ctx, func() {
		_, _ = a.opener.Wait()
		runtime.Quit(a.wails())
	})
}

// forward gives batches of events to the page.
func (a *App) forward(ctx context.Context, batches <-chan []protocol.Event) {
	for batch := range batches {
		a.emit(ctx, batch)
	}
}

// call makes one call into the backend, and its error one that the page can
// read.
func call[T any](a *App, f func(context.Context, *backend.Backend) (T, error)) (T, error) {
	b, err := a.opener.Wait()
	if err != nil {
		var none T
		return none, bound(err)
	}
	v, err := f(a.wails(), b)
	return v, bound(err)
}

// do is call for what returns nothing.
func (a *App) do(f func(context.Context, *backend.Backend) error) error {
	_, err := call(a, func(ctx context.Context, b *backend.Backend) (struct{}, error) { return struct{}{}, f(ctx, b) })
	return err
}

// bound makes an error that the page can read: a Fault as JSON.
func bound(err error) error {
	if err == nil {
		return nil
	}
	fault, ok := errors.AsType[*protocol.Fault](err)
	if !ok {
		fault = &protocol.Fault{Class: protocol.ClassInternal, Happened: "Something inside the app failed", Detail: err.Error()}
	}
	text, jsonErr := json.Marshal(fault)
	if jsonErr != nil {
		return err
	}
	return errors.New(string(text))
}

// Boot returns all that the window needs to draw itself first.
func (a *App) Boot() (protocol.Boot, error) {
	return call(a, func(ctx in, b product) (protocol.Boot, error) { return b.Boot(ctx) })
}

// Sessions lists the records of all sessions.
func (a *App) Sessions() ([]protocol.Session, error) {
	return call(a, func(ctx in, b product) ([]protocol.Session, error) { return b.Sessions.List(ctx) })
}

// Create makes a session.
func (a *App) Create(request protocol.CreateRequest) (protocol.Session, error) {
	return call(a, func(ctx in, b product) (protocol.Session, error) { return b.CreateSession(ctx, request) })
}

// Rename gives a session another title.
func (a *App) Rename(id, title string) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.Rename(ctx, id, title) })
}

// Destroy ends a session.
func (a *App) Destroy(id string, removeWorkspace bool) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.Destroy(ctx, id, removeWorkspace) })
}

// Send gives a session a message.
func (a *App) Send(id string, request protocol.SendRequest) (protocol.SendResult, error) {
	return call(a, func(ctx in, b product) (protocol.SendResult, error) { return b.Sessions.Send(ctx, id, request) })
}

// QueuedText returns the text of a message that waits.
func (a *App) QueuedText(id, messageID string) (string, error) {
	return call(a, func(ctx in, b product) (string, error) { return b.Sessions.QueuedText(ctx, id, messageID) })
}

// EditQueued replaces the text of a message that waits.
func (a *App) EditQueued(id, messageID, text string) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.EditQueued(ctx, id, messageID, text) })
}

// RemoveQueued takes a message that waits back.
func (a *App) RemoveQueued(id, messageID string) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.RemoveQueued(ctx, id, messageID) })
}

// MoveQueued gives a message that waits another place.
func (a *App) MoveQueued(id, messageID string, to int) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.MoveQueued(ctx, id, messageID, to) })
}

// SteerQueued puts a message that waits into the turn under way.
func (a *App) SteerQueued(id, messageID string) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.SteerQueued(ctx, id, messageID) })
}

// Stop ends the turn under way.
func (a *App) Stop(id string) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.Stop(ctx, id) })
}

// StopCommands ends the commands that a session's turns have left running.
func (a *App) StopCommands(id string) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.StopCommands(ctx, id) })
}

// RetryTurn works a failed turn again.
func (a *App) RetryTurn(id string) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.RetryTurn(ctx, id) })
}

// Resolve answers a question of the agent.
func (a *App) Resolve(id string, resolution protocol.Resolution) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.Resolve(ctx, id, resolution) })
}

// SetOptions changes a session's options.
func (a *App) SetOptions(id string, change protocol.OptionsChange) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.SetOptions(ctx, id, change) })
}

// Transcript returns a page of a conversation.
func (a *App) Transcript(id, before string, limit int) (protocol.Page, error) {
	return call(a, func(ctx in, b product) (protocol.Page, error) { return b.Sessions.Page(ctx, id, before, limit) })
}

// ToolLog returns a part of a command's full output.
func (a *App) ToolLog(id, log string, offset int64, limit int) (protocol.LogPart, error) {
	return call(a, func(ctx in, b product) (protocol.LogPart, error) {
		return b.Sessions.ToolLog(ctx, id, log, offset, limit)
	})
}

// Object returns an attachment or image as a data URL.
func (a *App) Object(id, mime string) (string, error) {
	return call(a, func(ctx in, b product) (string, error) { return b.Sessions.Object(ctx, id, mime) })
}

// Search finds sessions by title and content.
func (a *App) Search(query string) ([]protocol.SearchHit, error) {
	return call(a, func(ctx in, b product) ([]protocol.SearchHit, error) { return b.Sessions.Search(ctx, query) })
}

// Backends tells of each backend whether it can be used.
func (a *App) Backends() ([]protocol.BackendInfo, error) {
	return call(a, func(ctx in, b product) ([]protocol.BackendInfo, error) { return b.Backends(ctx), nil })
}

// Providers tells of each provider of models whether it can be used.
func (a *App) Providers() ([]protocol.ProviderInfo, error) {
	return call(a, func(ctx in, b product) ([]protocol.ProviderInfo, error) { return b.Models.Providers(ctx), nil })
}

// Models lists a provider's models.
func (a *App) Models(provider string) ([]protocol.ModelInfo, error) {
	return call(a, func(ctx in, b product) ([]protocol.ModelInfo, error) { return b.ModelsOf(ctx, provider) })
}

// PickFolder opens the system's folder dialog; empty means cancelled.
func (a *App) PickFolder(start string) (string, error) {
	if start == "" {
		start, _ = os.UserHomeDir() // without it GTK lists what was used last: files
	}
	folder, err := runtime.OpenDirectoryDialog(a.wails(), runtime.OpenDialogOptions{
		Title: "Choose the workspace folder", DefaultDirectory: start, CanCreateDirectories: true,
	})
	return folder, bound(err)
}

// FolderInfo tells what picking a folder would mean.
func (a *App) FolderInfo(path string) (protocol.FolderInfo, error) {
	return call(a, func(ctx in, b product) (protocol.FolderInfo, error) { return b.FolderInfo(path), nil })
}

// ListDir lists a folder of the workspace.
func (a *App) ListDir(id, path, rawPath string) ([]protocol.FileEntry, error) {
	return call(a, func(ctx in, b product) ([]protocol.FileEntry, error) {
		return b.Sessions.ListDir(ctx, id, path, rawPath)
	})
}

// ReadFile returns a part of a file.
func (a *App) ReadFile(id, path, rawPath string, offset int64, limit int) (protocol.FileContent, error) {
	return call(a, func(ctx in, b product) (protocol.FileContent, error) {
		return b.Sessions.ReadFile(ctx, id, path, rawPath, offset, limit)
	})
}

// OpenFile opens a file of the workspace with the system's program for it.
func (a *App) OpenFile(id, path, rawPath string) error { return a.OpenExternal(id, path, rawPath) }

// OpenExternal opens a file of the workspace with the system's program for it;
// an empty path opens the folder.
func (a *App) OpenExternal(id, path, rawPath string) error {
	return a.do(func(ctx in, b product) error { return b.OpenExternal(ctx, id, path, rawPath) })
}

// RevealFile shows a file of the workspace in the system's file manager.
func (a *App) RevealFile(id, path, rawPath string) error {
	return a.do(func(ctx in, b product) error { return b.Reveal(ctx, id, path, rawPath) })
}

// PutFiles writes files into a folder of the workspace and returns their paths.
func (a *App) PutFiles(id, dir string, files []protocol.Upload) ([]string, error) {
	return call(a, func(ctx in, b product) ([]string, error) { return b.Sessions.PutFiles(ctx, id, dir, files) })
}

// SaveFile saves a file of the workspace where the user says, a folder as an
// archive; empty means cancelled.
func (a *App) SaveFile(id, path, rawPath string) (string, error) {
	return a.save(backend.DownloadName(path), func(ctx in, b product, to string) error { return b.Sessions.SaveFile(ctx, id, path, rawPath, to) })
}

// ForkSession makes a session that goes on where another was.
func (a *App) ForkSession(r protocol.ForkRequest) (protocol.ForkResult, error) {
	return call(a, func(ctx in, b product) (protocol.ForkResult, error) { return b.Fork(ctx, r) })
}

// SwitchSession moves a session to another place.
func (a *App) SwitchSession(r protocol.SwitchRequest) (protocol.Receipt, error) {
	return call(a, func(ctx in, b product) (protocol.Receipt, error) { return b.Switch(ctx, r) })
}

// Rewind takes a session back to the end of a turn, or takes a rewind back.
func (a *App) Rewind(r protocol.RewindRequest) (protocol.Receipt, error) {
	return call(a, func(ctx in, b product) (protocol.Receipt, error) { return b.Sessions.Rewind(ctx, r) })
}

// Carry tells what a fork or a switch would carry.
func (a *App) Carry(id, turn string) (protocol.Carry, error) {
	return call(a, func(ctx in, b product) (protocol.Carry, error) { return b.Sessions.Carry(ctx, id, turn) })
}

// Turns lists a session's turns, the newest first.
func (a *App) Turns(id string) ([]protocol.Turn, error) {
	return call(a, func(ctx in, b product) ([]protocol.Turn, error) { return b.Sessions.Turns(ctx, id) })
}

// SetSnapshots chooses what a session's snapshots hold.
func (a *App) SetSnapshots(id string, policy protocol.SnapshotPolicy) error {
	return a.do(func(ctx in, b product) error { return b.Sessions.SetSnapshots(ctx, id, policy) })
}

// Changes lists the files that differ.
func (a *App) Changes(id string, scope protocol.ChangeScope) (protocol.Changes, error) {
	return call(a, func(ctx in, b product) (protocol.Changes, error) { return b.Sessions.Changes(ctx, id, scope) })
}

// FileDiff returns a file before and after.
func (a *App) FileDiff(id string, scope protocol.ChangeScope, path, rawPath string) (protocol.FileDiff, error) {
	return call(a, func(ctx in, b product) (protocol.FileDiff, error) {
		return b.Sessions.FileDiff(ctx, id, scope, path, rawPath)
	})
}

// Revert puts a file back as it was before the changes.
func (a *App) Revert(r protocol.RevertRequest) (protocol.Receipt, error) {
	return call(a, func(ctx in, b product) (protocol.Receipt, error) { return b.Sessions.Revert(ctx, r) })
}

// ExportSession writes a session into a file of the user's choice; empty means
// cancelled.
func (a *App) ExportSession(id string) (string, error) {
	return a.save(a.exportName(id, ".tsa"), func(ctx in, b product, to string) error { return b.Export(ctx, id, to) })
}

// ExportMarkdown writes a conversation into a file of the user's choice.
func (a *App) ExportMarkdown(id string) (string, error) {
	return a.save(a.exportName(id, ".md"), func(ctx in, b product, to string) error { return b.ExportMarkdown(ctx, id, to) })
}

func (a *App) exportName(id, ext string) string {
	name, _ := call(a, func(ctx in, b product) (string, error) { return b.ExportName(ctx, id) })
	return name + ext
}

// ImportSession makes a session from a file of the user's choice; one without
// an id means cancelled.
func (a *App) ImportSession() (protocol.Session, error) {
	from, err := runtime.OpenFileDialog(a.wails(), runtime.OpenDialogOptions{
		Title: "Import a session", Filters: []runtime.FileFilter{{DisplayName: "Sessions (*.tsa)", Pattern: "*.tsa"}},
	})
	if err != nil || from == "" {
		return protocol.Session{}, bound(err)
	}
	return call(a, func(ctx in, b product) (protocol.Session, error) {
		out, err := b.Import(ctx, from, "", protocol.Target{})
		return out.Session, err
	})
}

// save asks where to save, and saves; empty means cancelled.
func (a *App) save(name string, f func(ctx in, b product, to string) error) (string, error) {
	to, err := runtime.SaveFileDialog(a.wails(), runtime.SaveDialogOptions{DefaultFilename: name, CanCreateDirectories: true})
	if err != nil || to == "" {
		return "", bound(err)
	}
	return to, a.do(func(ctx in, b product) error { return f(ctx, b, to) })
}

// StoreUse tells what uses the space of the store; with check, also what is
// damaged.
func (a *App) StoreUse(check bool) (protocol.StoreUse, error) {
	return call(a, func(ctx in, b product) (protocol.StoreUse, error) { return b.StoreUse(ctx, check) })
}

// CleanStore removes what no session reaches.
func (a *App) CleanStore() (protocol.Swept, error) {
	return call(a, func(ctx in, b product) (protocol.Swept, error) { return b.CleanStore(ctx) })
}

// LocalImages lists the container images of this machine.
func (a *App) LocalImages() ([]string, error) {
	return call(a, func(ctx in, b product) ([]string, error) { return b.LocalImages(ctx), nil })
}

// OpenURL opens a web page in the system's browser.
func (a *App) OpenURL(url string) error {
	if err := backend.CheckURL(url); err != nil {
		return bound(err)
	}
	runtime.BrowserOpenURL(a.wails(), url)
	return nil
}

// SaveSettings replaces the settings.
func (a *App) SaveSettings(settings protocol.Settings) (protocol.Settings, error) {
	return call(a, func(ctx in, b product) (protocol.Settings, error) { return b.SaveSettings(ctx, settings) })
}

// SavePrefs keeps the page's own state (pane widths, drafts), a JSON text.
func (a *App) SavePrefs(prefs string) error {
	return a.do(func(ctx in, b product) error { return b.SavePrefs(ctx, prefs) })
}

// Keys tells which keys are set, and where each is kept.
func (a *App) Keys() ([]protocol.KeyInfo, error) {
	return call(a, func(ctx in, b product) ([]protocol.KeyInfo, error) { return b.Keys(ctx), nil })
}

// SetKey keeps a key in the system's keyring, or in a file that only the user
// can read.
func (a *App) SetKey(name, value string) error {
	return a.do(func(ctx in, b product) error { return b.SetKey(ctx, name, value) })
}

// DeleteKey forgets a key.
func (a *App) DeleteKey(name string) error {
	return a.do(func(ctx in, b product) error { return b.DeleteKey(ctx, name) })
}

// TestProvider asks a provider for its models.
func (a *App) TestProvider(name string) (protocol.TestResult, error) {
	return call(a, func(ctx in, b product) (protocol.TestResult, error) { return b.TestProvider(ctx, name), nil })
}

// TestBackend looks whether a backend can be used.
func (a *App) TestBackend(name string) (protocol.TestResult, error) {
	return call(a, func(ctx in, b product) (protocol.TestResult, error) { return b.TestBackend(ctx, name), nil })
}

// Watch says which session is shown: its text, output and file changes are
// sent to the page until another is watched.
func (a *App) Watch(id string) error {
	return a.do(func(ctx in, b product) error {
		ctx, cancel := context.WithCancel(ctx)
		a.mu.Lock()
		if a.unwatch != nil {
			a.unwatch()
		}
		a.unwatch = cancel
		a.mu.Unlock()
		if id != "" {
			go a.forward(ctx, b.WatchSession(ctx, id))
		}
		return nil
	})
}

// OpenDevUI opens the Temporal Web UI in the system's browser.
func (a *App) OpenDevUI() error {
	return a.do(func(ctx in, b product) error {
		url, err := b.DevUI(ctx)
		if err != nil {
			return err
		}
		runtime.BrowserOpenURL(ctx, url)
		return nil
	})
}

// Doctor tells what works here.
func (a *App) Doctor() ([]protocol.Check, error) {
	return call(a, func(ctx in, b product) ([]protocol.Check, error) { return b.Doctor(ctx), nil })
}

// KeepWindowSize keeps the size for the next start. The page tells it: asking
// GTK while it quits is a race with it.
func (a *App) KeepWindowSize(width, height int) error {
	return a.do(func(_ in, b product) error { return b.KeepWindowSize(width, height) })
}

// Quit closes the window. What runs goes on when it is opened again.
func (a *App) Quit() { runtime.Quit(a.wails()) }
