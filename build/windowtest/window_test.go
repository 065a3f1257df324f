// Package windowtest looks at the native window of the built app: on a display
// in memory, by its pixels and by its accessibility tree, and with real keys.
package windowtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Size of the display; the window fills it.
const width, height = 1440, 900

// patience bounds each wait: the machines of CI are slow and shared.
const patience = 60 * time.Second

// require skips a test whose tools are missing, but where everything must run
// it fails.
func require(t *testing.T) (bin string) {
	t.Helper()
	missing := ""
	for _, tool := range []string{"Xvfb", "xauth", "xdotool", "import", "dbus-run-session"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing += " " + tool
		}
	}
	bin = os.Getenv("TSA_BIN")
	if _, err := os.Stat(bin); err != nil {
		missing += " the built app (TSA_BIN)"
	}
	if missing == "" {
		return bin
	}
	if os.Getenv("TSA_REQUIRE_ALL") != "" {
		t.Fatal("missing:" + missing)
	}
	t.Skip("missing:" + missing)
	return ""
}

// display starts an X server and returns its name.
func display(t *testing.T, args ...string) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// It chooses a free number and writes it to the pipe once it is ready.
	server := exec.Command("Xvfb", append([]string{"-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", width, height), "-nolisten", "tcp"}, args...)...)
	server.ExtraFiles = []*os.File{write}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	_ = write.Close()
	_ = read.SetReadDeadline(time.Now().Add(patience))
	number := make([]byte, 16)
	n, err := read.Read(number)
	if err != nil {
		t.Fatal("the X server did not start: ", err)
	}
	return ":" + strings.TrimSpace(string(number[:n]))
}

// window is the running app.
type window struct {
	t       *testing.T
	bin     string
	display string
	data    string
	env     []string
	process *exec.Cmd
	pid     int
	log     *bytes.Buffer
}

// open starts the app in a D-Bus session of its own.
func open(t *testing.T, bin string) *window {
	t.Helper()
	dir := t.TempDir()
	w := &window{t: t, bin: bin, display: display(t), data: filepath.Join(dir, "data"), log: &bytes.Buffer{}}
	runtimeDir := filepath.Join(dir, "run")
	if err := os.MkdirAll(runtimeDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "OPENAI_"), strings.HasPrefix(name, "TSA_"), name == "DISPLAY", name == "WAYLAND_DISPLAY":
		default:
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "DISPLAY="+w.display, "TSA_DATA_DIR="+w.data, "XDG_RUNTIME_DIR="+runtimeDir,
		"HOME="+dir, "GTK_A11Y=atspi", "NO_AT_BRIDGE=0")
	// The shell tells the app's own process id and leaves the session's bus
	// address for the reader of the tree.
	script := `printf '%s' "$DBUS_SESSION_BUS_ADDRESS" >"$1/bus"; /usr/libexec/at-spi-bus-launcher --launch-immediately & "$2" & printf '%s' $! >"$1/pid"; wait $!`
	w.process = exec.Command("dbus-run-session", "--", "sh", "-c", script, "sh", dir, bin)
	w.process.Env = w.env
	w.process.Stdout, w.process.Stderr = w.log, w.log
	w.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := w.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-w.process.Process.Pid, syscall.SIGKILL)
		_ = w.process.Wait()
		if t.Failed() {
			t.Log("the app printed:\n" + w.log.String())
		}
	})
	w.wait("the app's process", func() bool {
		pid, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err != nil {
			return false
		}
		w.pid, err = strconv.Atoi(string(pid))
		return err == nil
	})
	bus, err := os.ReadFile(filepath.Join(dir, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "DBUS_SESSION_BUS_ADDRESS="+string(bus))
	return w
}

func (w *window) wait(what string, ready func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for !ready() {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited %s for %s", patience, what)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (w *window) run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = w.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), errors.Join(err, errors.New(errs.String()))
	}
	return out.String(), nil
}

// screenshot takes a picture of the display.
func (w *window) screenshot(name string) image.Image {
	w.t.Helper()
	dir := os.Getenv("TSA_SCREENSHOTS")
	if dir == "" {
		dir = w.t.TempDir()
	}
	file := filepath.Join(dir, name+".png")
	if _, err := w.run("import", "-window", "root", file); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	picture, _, err := image.Decode(f)
	if err != nil {
		w.t.Fatal(err)
	}
	return picture
}

// colours counts the different colours of a part of a picture.
func colours(picture image.Image, part image.Rectangle) int {
	type colour struct{ r, g, b uint32 }
	seen := map[colour]bool{}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			seen[colour{r, g, b}] = true
		}
	}
	return len(seen)
}

// minColours is what text on the page has at least: its edges are smoothed. A
// blank window has one or two.
const minColours = 40

type record struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Workspace string `json:"workspace"`
	Turns     int    `json:"turns"`
}

func (w *window) sessions() []record {
	out, err := w.run(w.bin, "sessions", "list", "--json")
	if err != nil {
		return nil
	}
	var records []record
	if json.Unmarshal([]byte(out), &records) != nil {
		return nil
	}
	return records
}

// A display that is gone, or refuses this user, is told in words.
func TestNoWindowOnADeadDisplay(t *testing.T) {
	bin := require(t)
	private := display(t, "-auth", cookie(t))
	for name, at := range map[string]string{"none": "", "dead": ":64001", "refusing": private} {
		t.Run(name, func(t *testing.T) {
			app := exec.Command(bin)
			app.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TSA_DATA_DIR=" + t.TempDir(), "DISPLAY=" + at}
			out, err := app.CombinedOutput()
			if code := app.ProcessState.ExitCode(); code != 3 {
				t.Errorf("it ended with %d, %v", code, err)
			}
			text := string(out)
			if !strings.Contains(text, "error: ") || !strings.Contains(text, "the command run") || !strings.Contains(text, at) || strings.Contains(text, "goroutine") {
				t.Errorf("it said:\n%s", text)
			}
		})
	}
}

// cookie is a file of X's authority that lets in whoever knows it.
func cookie(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "authority")
	out, err := exec.Command("xauth", "-f", path, "add", ":0", ".", strings.Repeat("ab", 16)).CombinedOutput()
	if err != nil {
		t.Fatalf("xauth: %v\n%s", err, out)
	}
	return path
}

func TestWindow(t *testing.T) {
	w := open(t, require(t))

	id := ""
	w.wait("the window", func() bool {
		out, err := w.run("xdotool", "search", "--onlyvisible", "--name", "Temporal Sandbox Agent")
		id = strings.TrimSpace(out)
		return err == nil && id != ""
	})
	id, _, _ = strings.Cut(id, "\n")
	if _, err := w.run("xdotool", "windowsize", id, strconv.Itoa(width), strconv.Itoa(height), "windowmove", id, "0", "0"); err != nil {
		t.Fatal(err)
	}

	t.Run("is not blank", func(t *testing.T) {
		var picture image.Image
		w.wait("the page", func() bool {
			picture = w.screenshot("start")
			return colours(picture, picture.Bounds()) >= minColours
		})
		// Each of the main parts shows something of its own.
		for name, part := range map[string]image.Rectangle{
			"sidebar":    image.Rect(0, 60, 250, 260),
			"composer":   image.Rect(400, 740, 1300, 880),
			"status bar": image.Rect(0, height-30, width, height),
		} {
			if n := colours(picture, part); n < 8 {
				t.Errorf("%s shows %d colours", name, n)
			}
		}
	})

	t.Run("has an accessibility tree", func(t *testing.T) {
		out, err := w.run("/usr/bin/python3", "tree.py", strconv.Itoa(w.pid), "30")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"New session", "Message"} {
			if !strings.Contains(out, want) {
				t.Errorf("nothing named %q in the tree:\n%s", want, out)
			}
		}
	})

	t.Run("works a turn that is typed", func(t *testing.T) {
		// There is no window manager here that would give the window the keys.
		composer := []string{"windowfocus", "--sync", id, "mousemove", strconv.Itoa(width/2 + 100), strconv.Itoa(height - 103), "click", "1"}
		if _, err := w.run("xdotool", composer...); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, err := w.run("xdotool", "type", "--delay", "15", "create hello.txt with hi there"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.run("xdotool", "key", "Return"); err != nil {
			t.Fatal(err)
		}
		w.screenshot("sent")
		var session record
		w.wait("the turn", func() bool {
			records := w.sessions()
			if len(records) == 1 {
				session = records[0]
			}
			return session.Turns == 1 && session.State == "idle"
		})
		content, err := os.ReadFile(filepath.Join(session.Workspace, "hello.txt"))
		if err != nil || strings.TrimSpace(string(content)) != "hi there" {
			t.Errorf("hello.txt: %q, %v", content, err)
		}
		w.screenshot("turn")
	})

	t.Run("shows a dialog in its height", func(t *testing.T) {
		if _, err := w.run("xdotool", "key", "ctrl+n"); err != nil {
			t.Fatal(err)
		}
		// The dialog's form, between its title and its buttons.
		form := regexp.MustCompile(`(?m)^.*: Where it works \[(\d+)\]$|^.*: Title \[(\d+)\]$`)
		dialog := regexp.MustCompile(`(?m)^dialog: New session \[(\d+)\]$`)
		var tree string
		w.wait("the dialog", func() bool {
			tree, _ = w.run("/usr/bin/python3", "tree.py", strconv.Itoa(w.pid), "30")
			return dialog.MatchString(tree)
		})
		w.screenshot("dialog")
		if h, _ := strconv.Atoi(dialog.FindStringSubmatch(tree)[1]); h < 300 || h > height || !form.MatchString(tree) {
			t.Errorf("the dialog is %d pixels high:\n%s", h, tree)
		}
		if _, err := w.run("xdotool", "key", "Escape"); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("closes when the system asks", func(t *testing.T) {
		if err := syscall.Kill(w.pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		w.wait("the process to end", func() bool { return syscall.Kill(w.pid, 0) != nil })
	})
}
