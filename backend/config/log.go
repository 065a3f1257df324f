package config

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// maxLogBytes is the size from which the log is begun anew at a start; the one
// before is kept.
const maxLogBytes = 4 << 20

// LogFile is where the app writes what it can't show.
func (p Paths) LogFile() string { return filepath.Join(p.State, "app.log") }

// OpenLog opens the app's log for appending: processes that share the folders
// write to it at once. Whoever logs leaves out what people, models and commands
// said: the file goes into reports of faults. What redact finds in a text, keys
// say, is kept out of it.
// The second result closes it.
func OpenLog(p Paths, level slog.Leveler, redact func(string) string) (*slog.Logger, func() error, error) {
	name := p.LogFile()
	if info, err := os.Stat(name); err == nil && info.Size() > maxLogBytes {
		_ = os.Rename(name, name+".1") // if it can't be, the log goes on
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w", err)
	}
	handler := slog.NewTextHandler(file, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case string:
			a.Value = slog.StringValue(redact(v))
		case error:
			a.Value = slog.StringValue(redact(v.Error()))
		}
		return a
	}})
	return slog.New(handler).With("pid", os.Getpid()), file.Close, nil
}
