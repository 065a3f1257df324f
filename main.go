// Temporal Sandbox Agent: a desktop app in which people talk to a coding agent
// that works in a real folder. Without arguments it opens the window; its
// commands do the same without one.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"

	"temporal-sandbox-agent/backend"
	"temporal-sandbox-agent/backend/cli"
	"temporal-sandbox-agent/build/linux/webkit"
)

//go:embed all:frontend/dist
var page embed.FS

//go:embed build/appicon.png
var icon []byte

// version is set when the app is built.
var version = "dev"

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Process{
		Version: version, Open: backend.New, Window: window, WebView: webkit.Load, Out: os.Stdout, Err: os.Stderr, In: os.Stdin,
	}))
}

// window opens the window and returns when it was closed. The engine starts
// beside it, so that the window is there at once.
func window(ctx context.Context, config backend.Config) error {
	// While the bindings are generated there is no window to open.
	generating := filepath.Base(os.Args[0]) == "wailsbindings"
	if goruntime.GOOS == "linux" && !generating {
		if _, err := backend.Display(ctx, os.Getenv); err != nil {
			return err
		}
	}
	if err := useSoftwareBuffersOnNVIDIA(); err != nil {
		return err
	}
	config.DemoPace = 12 * time.Millisecond // about as fast as a model writes
	opening := context.WithoutCancel(ctx)   // it is closed in order, see App.stop
	app := NewApp(func() (*backend.Backend, error) { return backend.New(opening, config) })
	if !generating {
		app.prepare()
	}
	if err := webkit.Load(); err != nil {
		app.stop(ctx)
		return errors.Join(backend.WebViewFault(err), app.err)
	}
	app.quitWith(ctx)
	size := config.WindowSize()
	err := run(&options.App{
		Title:            "Temporal Sandbox Agent",
		Width:            size.Width,
		Height:           size.Height,
		MinWidth:         640,
		MinHeight:        480,
		BackgroundColour: options.NewRGB(0x0e, 0x10, 0x13),
		AssetServer:      &assetserver.Options{Assets: page},
		OnStartup:        app.start,
		OnShutdown:       app.stop,
		Bind:             []any{app},
		DragAndDrop:      &options.DragAndDrop{EnableFileDrop: false},
		Linux: &linux.Options{
			Icon:        icon,
			ProgramName: "temporal-sandbox-agent",
			// Without it scrolling a long conversation is painted by the CPU.
			WebviewGpuPolicy: linux.WebviewGpuPolicyOnDemand,
		},
	})
	if err != nil && !generating {
		app.stop(ctx) // there may have been no window to close
	}
	return errors.Join(err, app.err)
}

// run is wails.Run, which panics where a display answers but takes no window
// (it refuses this user, say).
func run(app *options.App) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case error:
			if !strings.Contains(cause.Error(), "init GTK") {
				panic(cause)
			}
			named := "DISPLAY=" + os.Getenv("DISPLAY")
			if wayland := os.Getenv("WAYLAND_DISPLAY"); wayland != "" {
				named += " and WAYLAND_DISPLAY=" + wayland
			}
			err = backend.DisplayFault(named, cause)
		default:
			panic(cause)
		}
	}()
	return wails.Run(app)
}

// useSoftwareBuffersOnNVIDIA turns off a way of WebKitGTK to share buffers that
// leaves the window blank with NVIDIA's own driver. It must be set before
// WebKit starts; a user's own choice is kept.
func useSoftwareBuffersOnNVIDIA() error {
	const variable = "WEBKIT_DISABLE_DMABUF_RENDERER"
	if _, set := os.LookupEnv(variable); set {
		return nil
	}
	if _, err := os.Stat("/proc/driver/nvidia/version"); err != nil {
		return nil // no such driver here
	}
	if err := os.Setenv(variable, "1"); err != nil {
		return fmt.Errorf("set %s: %w", variable, err)
	}
	return nil
}
