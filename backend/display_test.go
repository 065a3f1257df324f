//go:build linux

package backend_test

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/protocol"
)

func TestDisplay(t *testing.T) {
	dir := t.TempDir()
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	listen("unix", filepath.Join(dir, "wayland-7"))
	listen("unix", "@/tmp/.X11-unix/X64123")
	// A server that died leaves its socket.
	dead := listen("unix", filepath.Join(dir, "wayland-8")).(*net.UnixListener)
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()

	for name, c := range map[string]struct {
		env  map[string]string
		want string // begins so; empty is a fault
	}{
		"nothing":                {nil, ""},
		"wayland":                {map[string]string{"WAYLAND_DISPLAY": "wayland-7"}, "Wayland display wayland-7"},
		"wayland by path":        {map[string]string{"WAYLAND_DISPLAY": filepath.Join(dir, "wayland-7")}, "Wayland display /"},
		"dead wayland":           {map[string]string{"WAYLAND_DISPLAY": "wayland-8"}, ""},
		"dead wayland, living x": {map[string]string{"WAYLAND_DISPLAY": "wayland-8", "DISPLAY": ":64123"}, "X display :64123"},
		"x with a screen":        {map[string]string{"DISPLAY": "unix:64123.0"}, "X display"},
		"dead x":                 {map[string]string{"DISPLAY": ":64124"}, ""},
		"x elsewhere":            {map[string]string{"DISPLAY": "localhost:50001"}, ""},
		"no x at all":            {map[string]string{"DISPLAY": "nonsense"}, ""},
		"no number":              {map[string]string{"DISPLAY": ":x"}, ""},
		"another way":            {map[string]string{"DISPLAY": ":64124", "GDK_BACKEND": "broadway"}, "the display"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := backend.Display(t.Context(), func(n string) string {
				if n == "XDG_RUNTIME_DIR" {
					return dir
				}
				return c.env[n]
			})
			if c.want != "" {
				if err != nil || !strings.HasPrefix(got, c.want) {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			fault, ok := errors.AsType[*protocol.Fault](err)
			if !ok || fault.Class != protocol.ClassUnavailable || !strings.Contains(fault.Remedy, "the command run") {
				t.Errorf("%q, %#v", got, err)
			}
			for _, value := range c.env {
				if !strings.Contains(err.Error(), value) {
					t.Errorf("%q does not say %q", err, value)
				}
			}
		})
	}
}
