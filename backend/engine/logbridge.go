package engine

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// maxLogBytes is the size at which the log is started anew; one old file is
// kept.
const maxLogBytes = 4 << 20

// openLog opens the engine's log file. It is a file and never the terminal:
// the terminal belongs to the command that embeds the engine.
func openLog(p paths, level slog.Leveler) (*slog.Logger, *os.File, error) {
	if fi, err := os.Stat(p.log()); err == nil && fi.Size() > maxLogBytes {
		_ = os.Rename(p.log(), p.log()+".1")
	}
	f, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, storageError(p.dir, "open the engine's log", err)
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level})), f, nil
}

// serverLog carries the server's log to slog.
type serverLog struct {
	to *slog.Logger
	// fatal is told about what the server would end the process for.
	fatal func(error)
}

var (
	_ log.Logger      = serverLog{}
	_ log.WithLogger  = serverLog{}
	_ log.SLogWrapper = serverLog{}
)

// SLog gives the server's own slog users the logger below.
func (l serverLog) SLog() *slog.Logger { return l.to }

// With binds tags.
func (l serverLog) With(tags ...tag.Tag) log.Logger {
	return serverLog{to: slog.New(l.to.Handler().WithAttrs(attrs(tags))), fatal: l.fatal}
}

// Debug logs below the usual level.
func (l serverLog) Debug(msg string, tags ...tag.Tag) { l.to.Debug(msg, lazy(tags)) }

// Info logs what is normal.
func (l serverLog) Info(msg string, tags ...tag.Tag) { l.to.Info(msg, lazy(tags)) }

// Warn logs what may be wrong.
func (l serverLog) Warn(msg string, tags ...tag.Tag) { l.to.Warn(msg, lazy(tags)) }

// Error logs what is wrong.
func (l serverLog) Error(msg string, tags ...tag.Tag) { l.to.Error(msg, lazy(tags)) }

// DPanic logs what should stop a program under development; this is not one.
func (l serverLog) DPanic(msg string, tags ...tag.Tag) { l.to.Error(msg, lazy(tags)) }

// Panic logs and panics, as the server expects.
func (l serverLog) Panic(msg string, tags ...tag.Tag) {
	l.to.Error(msg, lazy(tags))
	panic(msg)
}

// Fatal logs, reports, and ends the calling goroutine. The server expects it
// not to return; ending the process would take the window and the user's work
// with it.
func (l serverLog) Fatal(msg string, tags ...tag.Tag) {
	l.to.Error(msg, lazy(tags))
	err := fmt.Errorf("%s", msg)
	for _, t := range tags {
		if cause, ok := t.Value().(string); ok && t.Key() == "error" {
			err = fmt.Errorf("%s: %s", msg, cause)
		}
	}
	l.fatal(err)
	runtime.Goexit()
}

// lazyTags are read only if the message is written: most are below the level,
// and a tag is costly to read.
type lazyTags []tag.Tag

// LogValue reads the tags.
func (t lazyTags) LogValue() slog.Value { return slog.GroupValue(attrs(t)...) }

// lazy gives the tags to a log call, as attributes of the message itself.
func lazy(tags []tag.Tag) slog.Attr { return slog.Any("", lazyTags(tags)) }

func attrs(tags []tag.Tag) []slog.Attr {
	out := make([]slog.Attr, 0, len(tags))
	for _, t := range tags {
		out = append(out, slog.Any(t.Key(), t.Value()))
	}
	return out
}
