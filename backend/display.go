package backend

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// displayWait is how long a display on another machine may take to answer.
const displayWait = 3 * time.Second

// withoutWindow is what to do where there is no display.
const withoutWindow = "work without a window: see the command run."

// Display tells on which display a window would open, on systems where that is
// chosen by the environment. One that is named but does not answer is as good
// as none: the window's library would end the program. The error is a
// *protocol.Fault.
func Display(ctx context.Context, getenv func(string) string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, displayWait)
	defer cancel()
	wayland, x := getenv("WAYLAND_DISPLAY"), getenv("DISPLAY")
	if getenv("WAYLAND_SOCKET") != "" || strings.Contains(getenv("GDK_BACKEND"), "broadway") {
		return "the display of this session", nil // nothing to look at
	}
	if wayland == "" && x == "" {
		return "", &protocol.Fault{
			Class:    protocol.ClassUnavailable,
			Happened: "There is no display to open the window on",
			Remedy:   "Set DISPLAY or WAYLAND_DISPLAY, or " + withoutWindow,
		}
	}
	var named []string
	var last error
	if wayland != "" {
		socket := wayland
		if !filepath.IsAbs(socket) {
			socket = filepath.Join(getenv("XDG_RUNTIME_DIR"), socket)
		}
		if last = dials(ctx, "unix", socket); last == nil {
			return "Wayland display " + wayland, nil
		}
		named = append(named, "WAYLAND_DISPLAY="+wayland)
	}
	if x != "" {
		if last = reachX(ctx, x); last == nil {
			return "X display " + x, nil
		}
		named = append(named, "DISPLAY="+x)
	}
	return "", DisplayFault(strings.Join(named, " and "), last)
}

// DisplayFault says that the display that the environment names takes no
// window.
func DisplayFault(named string, err error) *protocol.Fault {
	return &protocol.Fault{
		Class:    protocol.ClassUnavailable,
		Happened: fmt.Sprintf("The window can't be opened: the display (%s) does not answer, or refuses this user", named),
		Remedy:   "Start it from a desktop, set the variable to a display that runs, or " + withoutWindow,
		Detail:   err.Error(),
	}
}

func dials(ctx context.Context, network, address string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// reachX connects to an X display as its library does: "host:number.screen",
// without a host on this machine.
func reachX(ctx context.Context, display string) error {
	at := strings.LastIndexByte(display, ':')
	if at < 0 {
		return fmt.Errorf("%q does not name a display", display)
	}
	host := display[:at]
	number, _, _ := strings.Cut(display[at+1:], ".")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return fmt.Errorf("%q does not name a display: %w", display, err)
	}
	switch {
	case strings.HasPrefix(host, "/"):
		return dials(ctx, "unix", display)
	case host != "" && host != "unix":
		return dials(ctx, "tcp", net.JoinHostPort(strings.Trim(host, "[]"), strconv.FormatUint(6000+n, 10)))
	}
	socket := "/tmp/.X11-unix/X" + number
	if dials(ctx, "unix", "@"+socket) == nil {
		return nil
	}
	return dials(ctx, "unix", socket)
}
