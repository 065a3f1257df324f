package backend

import (
	"context"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
)

// Fork makes a session that goes on where another was, and remembers the folder
// that was picked.
func (b *Backend) Fork(ctx context.Context, request protocol.ForkRequest) (protocol.ForkResult, error) {
	out, err := b.Sessions.Fork(ctx, request)
	if err == nil && request.Target.Workspace != "" {
		b.remember(ctx, request.Target.Workspace)
	}
	return out, err
}

// Switch moves a session, and remembers the folder that was picked.
func (b *Backend) Switch(ctx context.Context, request protocol.SwitchRequest) (protocol.Receipt, error) {
	receipt, err := b.Sessions.Switch(ctx, request)
	if err == nil && request.Target.Workspace != "" {
		b.remember(ctx, request.Target.Workspace)
	}
	return receipt, err
}

// Reveal shows a file of a local workspace in the system's file manager: marked,
// where there is a way to ask for that, else its folder.
func (b *Backend) Reveal(ctx context.Context, id, name, raw string) error {
	full, err := b.localPath(ctx, id, name, raw)
	if err != nil {
		return err
	}
	var command *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		command = exec.CommandContext(ctx, "open", "-R", full)
	case "linux":
		command = exec.CommandContext(ctx, "dbus-send", "--session", "--print-reply", "--reply-timeout=2000",
			"--dest=org.freedesktop.FileManager1", "/org/freedesktop/FileManager1",
			"org.freedesktop.FileManager1.ShowItems", "array:string:"+fileURL(full), "string:")
	}
	if command != nil && command.Run() == nil {
		return nil
	}
	return openExternally(ctx, filepath.Dir(full))
}

// fileURL names a file for other programs; dbus-send takes a comma as the next
// element.
func fileURL(full string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~"
	var out strings.Builder
	out.WriteString("file://")
	for i := range len(full) {
		if c := full[i]; strings.IndexByte(plain, c) >= 0 {
			out.WriteByte(c)
		} else {
			const digits = "0123456789ABCDEF"
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return out.String()
}

// DownloadName is what a file of a workspace is called when it is saved.
func DownloadName(name string) string {
	base := path.Base(name)
	if base == "." || base == "/" {
		return "workspace.tar.gz"
	}
	return base
}

// LocalImages lists the container images of this machine, none if there is no
// engine.
func (b *Backend) LocalImages(ctx context.Context) []string {
	images, err := b.containers.Images(ctx)
	if err != nil {
		return []string{}
	}
	return images
}

// ExportName is what a session's export is called, without an ending.
func (b *Backend) ExportName(ctx context.Context, id string) (string, error) {
	record, err := b.Sessions.Get(ctx, id)
	if err != nil {
		return "", err
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, record.Title)
	if name = strings.Trim(name, " .-"); name == "" {
		name = "session"
	}
	return string([]rune(name)[:min(80, len([]rune(name)))]), nil
}

// ExportMarkdown writes a conversation into a file.
func (b *Backend) ExportMarkdown(ctx context.Context, id, file string) error {
	return writeExport(file, func(w io.Writer) error { return b.Sessions.Markdown(ctx, id, w) })
}
