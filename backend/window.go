package backend

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"temporal-sandbox-agent/backend/config"
	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

// Boot returns all that the window needs to draw itself first. It does not
// wait for the engine.
func (b *Backend) Boot(ctx context.Context) (protocol.Boot, error) {
	sessions, err := b.Sessions.List(ctx)
	if err != nil {
		return protocol.Boot{}, err
	}
	if sessions == nil {
		sessions = []protocol.Session{}
	}
	settings := b.settings.Get()
	provider, model := b.Models.Default(ctx)
	home, _ := os.UserHomeDir() // without one, paths are shown whole
	to := b.traceTo(ctx)
	b.log.Info("the window has its data", "sessions", len(sessions))
	return protocol.Boot{
		Version:         b.config.Version,
		Platform:        runtime.GOOS,
		Engine:          b.Status(),
		Settings:        settings,
		Sessions:        sessions,
		DefaultProvider: provider,
		DefaultModel:    model,
		AskTrace:        settings.Trace == "" && !b.keys.Has(ctx, config.KeyTrace) && b.keys.Has(ctx, config.KeyOpenAI) && to == openAIName,
		TraceTo:         to,
		DataDir:         b.paths.Data,
		Home:            home,
	}, nil
}

// CreateSession makes a session and remembers the folder that was picked.
func (b *Backend) CreateSession(ctx context.Context, request protocol.CreateRequest) (protocol.Session, error) {
	session, err := b.Sessions.Create(ctx, request)
	if err == nil && request.Workspace != "" {
		b.remember(ctx, request.Workspace)
	}
	return session, err
}

// recentFolders is how many picked folders are remembered.
const recentFolders = 12

func (b *Backend) remember(ctx context.Context, folder string) {
	settings := b.settings.Get()
	recent := []string{folder}
	for _, f := range settings.RecentFolders {
		if f != folder && len(recent) < recentFolders {
			recent = append(recent, f)
		}
	}
	settings.RecentFolders = recent
	if _, err := b.settings.Save(ctx, settings); err != nil {
		b.log.Warn("the picked folder is not remembered", "error", err)
	}
}

// watchAgain is the pause before a workspace that can't be watched yet is
// tried again.
const watchAgain = time.Second

// WatchSession gives the live events of a session, and tells of changes of its
// files while it is watched.
func (b *Backend) WatchSession(ctx context.Context, id string) <-chan []protocol.Event {
	go b.watchFiles(ctx, id)
	return b.Watch(ctx, id)
}

func (b *Backend) watchFiles(ctx context.Context, id string) {
	for ctx.Err() == nil {
		err := b.Sessions.WatchFiles(ctx, id, func(dirs []string) {
			b.events.Publish(protocol.Event{
				Type: protocol.EventFiles, SessionID: id, Files: &protocol.FilesChanged{Dirs: dirs},
			})
		})
		if err != nil {
			b.log.Debug("the workspace is not watched", "session", id, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchAgain):
		}
	}
}

// FolderInfo tells what picking a folder as a workspace would mean.
func (b *Backend) FolderInfo(path string) protocol.FolderInfo {
	info := protocol.FolderInfo{Path: path}
	if e, ok := errors.AsType[*sandbox.Error](b.check(path)); ok && e.Kind == sandbox.KindInvalid {
		info.Refused = join(e.Err.Error()+".", e.Remedy)
	}
	dir, err := os.Open(path)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) && info.Refused == "" {
			info.Refused = "This folder can't be read."
		}
		return info
	}
	defer func() { _ = dir.Close() }()
	stat, err := dir.Stat()
	if err != nil || !stat.IsDir() {
		info.Refused = "This is not a folder."
		return info
	}
	info.Exists = true
	names, _ := dir.Readdirnames(1000)
	info.Entries = len(names)
	_, err = os.Stat(filepath.Join(path, ".git"))
	info.Git = err == nil
	info.Writable = writable(path)
	return info
}

func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".tsa-write-test-")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}

// OpenExternal opens a file of a local workspace with the system's program for
// it; an empty path opens the folder.
func (b *Backend) OpenExternal(ctx context.Context, id, path, raw string) error {
	name, err := b.localPath(ctx, id, path, raw)
	if err != nil {
		return err
	}
	return openExternally(ctx, name)
}

// localPath is the real path of a file of a local workspace.
func (b *Backend) localPath(ctx context.Context, id, path, raw string) (string, error) {
	record, err := b.Sessions.Get(ctx, id)
	if err != nil {
		return "", err
	}
	if record.Backend != "local" || record.Workspace == "" {
		return "", &protocol.Fault{
			Class: protocol.ClassUnavailable, Happened: "Only files on this machine can be opened in other programs",
			Remedy: "Save a copy of it first.",
		}
	}
	return b.Sessions.RealPath(ctx, id, path, raw)
}

// Backends tells of each backend whether it can be used, for the picker.
func (b *Backend) Backends(ctx context.Context) []protocol.BackendInfo {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var out []protocol.BackendInfo
	for _, backend := range b.Places.Backends() {
		info := backendInfo(backend.Provider.Name(), backend.Label, backend.Blurb, backend.Provider.Probe(ctx))
		if backend.Image != "" {
			info.Image = cmp.Or(b.settings.Get().DockerImage, backend.Image)
		}
		out = append(out, info)
	}
	for _, next := range b.announced {
		info := backendInfo(next.name, next.label, next.blurb, next.probe(ctx))
		// What it would need is told; that it is not made yet comes first.
		info.Available, info.Planned = false, true
		info.Reason = "Comes with the next version. " + info.Reason
		out = append(out, info)
	}
	return out
}

// announced is a backend of which this version can only tell whether it is
// there.
type announced struct {
	name, label, blurb string
	probe              func(context.Context) sandbox.Availability
}

func backendInfo(name, label, blurb string, a sandbox.Availability) protocol.BackendInfo {
	return protocol.BackendInfo{
		Name: name, Label: label, Blurb: blurb, Available: a.OK, Reason: a.Reason, Remedy: a.Remedy,
		Version: a.Version, Confined: a.Confined,
	}
}

// TestBackend looks whether a backend can be used.
func (b *Backend) TestBackend(ctx context.Context, name string) protocol.TestResult {
	for _, info := range b.Backends(ctx) {
		if info.Name != name {
			continue
		}
		if info.Available {
			return protocol.TestResult{OK: true, Text: info.Label + " works."}
		}
		return protocol.TestResult{Text: join(info.Reason, info.Remedy)}
	}
	return protocol.TestResult{Text: "There is no backend " + name + "."}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// ModelsOf lists a provider's models.
func (b *Backend) ModelsOf(ctx context.Context, name string) ([]protocol.ModelInfo, error) {
	provider, err := b.Models.Provider(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return provider.Models(ctx)
}

// TestProvider asks a provider for its models.
func (b *Backend) TestProvider(ctx context.Context, name string) protocol.TestResult {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	models, err := b.ModelsOf(ctx, name)
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return protocol.TestResult{Text: join(fault.Happened+".", fault.Remedy)}
	}
	if err != nil {
		return protocol.TestResult{Text: err.Error()}
	}
	if len(models) == 0 {
		return protocol.TestResult{Text: "It answers, but offers no model."}
	}
	return protocol.TestResult{OK: true, Text: "It answers and offers " + count(len(models), "model") + "."}
}
