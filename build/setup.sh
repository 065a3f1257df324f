#!/usr/bin/env bash
# Brings what a level of work on this project needs, and nothing that is there already.
#
#   build/setup.sh build    to compile the app: C compiler, GTK, WebKitGTK, Node.js for the page
#   build/setup.sh run      and to open it: a font, links that open in the browser
#   build/setup.sh check    build, and what `make check` runs
#   build/setup.sh test     run, and what `make test` runs: a display, a browser, accessibility
#
# It looks at the machine itself each time, not at a note from last time, so it is also right
# after something was removed. With nothing to do it takes a fraction of a second.
set -euo pipefail

level=${1:-build}
build=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$build/cache
node_bin=$cache/node/bin

say() { printf 'setup: %s\n' "$*"; }
die() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

# needs prints one "Debian package, what it is for" line per thing that the level needs.
needs() {
  cat <<'EOF'
gcc                      compiles the native window
libc6-dev                C headers for it
pkg-config               finds GTK and WebKitGTK for the compiler
libgtk-3-dev             GTK: the window
libwebkit2gtk-4.1-dev    WebKitGTK: what the window shows
EOF
  case $level in run | test) cat <<'EOF' ;; esac
fonts-dejavu-core        a font, so that the window has letters
xdg-utils                opens links in your browser
EOF
  case $level in check | test) cat <<'EOF' ;; esac
git                      repositories for tests, and the version of a build
EOF
  case $level in check) cat <<'EOF' ;; esac
shellcheck               reads the shell scripts for mistakes
EOF
  case $level in test) cat <<'EOF' ;; esac
g++                      C++ compiler, for builds with the race detector
xvfb                     a display in memory, for tests of the window
xauth                    access to that display
xdotool                  keys and clicks in the window
imagemagick              screenshots of the window, counted and compared
dbus                     a session bus for the window
dbus-x11                 starts that bus
at-spi2-core             the window's accessibility tree
gir1.2-atspi-2.0         reads that tree
python3-gi               reads that tree
python3-pyatspi          reads that tree
fonts-liberation         the fonts that a browser expects
curl                     HTTP requests in tests
jq                       JSON in tests
procps                   process lists in tests
busybox-static           a second shell and its tools, for tests of scripts that run in sandboxes, and an image
EOF
  # Docker's own packages bring one as well, and could not stay beside this.
  case $level:$(engine) in test:) cat <<'EOF' ;; esac
docker.io                a Docker engine, which tests start by themselves
iptables                 what that engine asks for
EOF
  # Ubuntu has no Chromium as a package but only in its app store, which tests can't drive.
  case $level:$(distribution) in
  test:debian) echo "chromium                 the browser for tests of the page" ;;
  test:*) [ -n "$(browser)" ] || echo "libnss3                  for the browser that tests fetch" ;;
  esac
}

# shellcheck disable=SC1091 # the file is the system's
distribution() { (. /etc/os-release 2>/dev/null && printf '%s' "${ID:-}") || true; }

# engine prints the path of a Docker engine, or nothing. It is not in everybody's PATH.
engine() { command -v dockerd || { [ ! -x /usr/sbin/dockerd ] || echo /usr/sbin/dockerd; }; }

# --- Debian and Ubuntu ------------------------------------------------------------------

# missing reads "package  reason" lines and prints those whose package is not installed.
missing() {
  local lines packages installed
  lines=$(cat)
  mapfile -t packages < <(awk '{print $1}' <<<"$lines")
  # dpkg-query fails when one of the packages is unknown to it; that is an answer here.
  installed=$( (dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "${packages[@]}" 2>/dev/null || true) |
    awk '$1 == "ii" {print $2}')
  awk 'NR == FNR {have[$1]; next} !($1 in have)' <(printf '%s\n' "$installed") <(printf '%s\n' "$lines")
}

# apt_install installs the packages of "package  reason" lines with one call.
apt_install() {
  local packages sudo=()
  mapfile -t packages < <(awk '{print $1}' <<<"$1")
  local command="apt-get install -y --no-install-recommends ${packages[*]}"
  say "missing Debian packages, to be installed now:"
  awk '{print "         " $0}' <<<"$1"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "this needs root and there is no sudo. As root, run

  $command

and then repeat what you did."
    say "sudo may ask for your password"
    sudo=(sudo)
  fi
  mkdir -p "$cache"
  # A third-party source that fails must not keep us from the distribution's own.
  "${sudo[@]}" apt-get -qq -o DPkg::Lock::Timeout=600 update || say "apt-get update failed; going on with the lists that are there"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 \
    install -y --no-install-recommends "${packages[@]}" >"$cache/apt.log" 2>&1 && return
  tail -n 20 "$cache/apt.log" >&2
  die "apt-get failed; its whole output is in $cache/apt.log. The command was

  $command"
}

setup_apt() {
  local lines
  lines=$(needs | missing)
  if ! node_present && ! command -v npm >/dev/null; then
    lines+=${lines:+$'\n'}"npm                      fetches the parts of the page, and a newer Node.js"
  fi
  [ -z "$lines" ] || apt_install "$lines"
  hash -r
}

# --- other Linux systems, macOS: tell, don't install --------------------------------------

setup_other_linux() {
  local lacking=()
  command -v gcc >/dev/null || command -v cc >/dev/null || lacking+=("a C compiler (gcc)")
  if command -v pkg-config >/dev/null; then
    pkg-config --exists gtk+-3.0 || lacking+=("GTK 3 headers (Fedora: gtk3-devel, Arch: gtk3)")
    pkg-config --exists webkit2gtk-4.1 || lacking+=("WebKitGTK 4.1 headers (Fedora: webkit2gtk4.1-devel, Arch: webkit2gtk-4.1)")
  else
    lacking+=("pkg-config, then GTK 3 and WebKitGTK 4.1 headers (Fedora: gtk3-devel webkit2gtk4.1-devel)")
  fi
  if [ "$level" = test ]; then
    local tool
    for tool in git Xvfb xauth xdotool import dbus-run-session curl jq ps; do
      command -v "$tool" >/dev/null || lacking+=("$tool")
    done
  fi
  [ ${#lacking[@]} -eq 0 ] || die "this system has no apt-get, so please install by its own means:
$(printf '  %s\n' "${lacking[@]}")"
}

setup_macos() {
  xcode-select -p >/dev/null 2>&1 || die "Apple's command line tools are missing. Run: xcode-select --install"
}

# --- Node.js for the page -------------------------------------------------------------------

# The page's build (Vite) takes Node.js 20 from 20.19 on, and 22.12 or newer.
node_fits() {
  local version major minor
  version=$(node -p process.versions.node 2>/dev/null) || return 1
  IFS=. read -r major minor _ <<<"$version"
  { [ "$major" -eq 20 ] && [ "$minor" -ge 19 ]; } || { [ "$major" -eq 22 ] && [ "$minor" -ge 12 ]; } || [ "$major" -gt 22 ]
}

# node_present tells whether there is a Node.js for the page: in build/cache/node, which the
# Makefile puts first in the PATH of its commands and nobody else sees, or the system's own.
node_present() {
  if cmp -s "$build/node/package-lock.json" "$cache/node/installed.json" && [ -x "$node_bin/node" ]; then return; fi
  command -v npm >/dev/null && node_fits
}

setup_node() {
  if node_present; then return; fi
  local wanted="Node.js 22.12 or newer with npm is missing (for the page's build)"
  [ "$(uname -s)" != Darwin ] || die "$wanted. Install it from nodejs.org or with: brew install node"
  command -v npm >/dev/null || die "$wanted"
  say "Node.js $(node --version 2>/dev/null || echo '(none)') is too old for the page's build: a newer one goes to build/cache/node; the system's stays as it is"
  rm -rf "$cache/node" && mkdir -p "$cache/node"
  # The lock file names the exact versions and their checksums.
  cp "$build/node/package.json" "$build/node/package-lock.json" "$cache/node/"
  (cd "$cache/node" && npm ci --no-audit --no-fund --loglevel=error) || die "npm could not fetch Node.js into $cache/node"
  # Not node_modules/.bin: old releases of npm leave node out of it.
  mkdir "$node_bin"
  ln -s "$(cd "$node_bin" && echo ../node_modules/node-linux-*/bin/node)" "$node_bin/node"
  ln -s ../node_modules/npm/bin/npm-cli.js "$node_bin/npm"
  ln -s ../node_modules/npm/bin/npx-cli.js "$node_bin/npx"
  "$node_bin/node" --version >/dev/null || die "the fetched Node.js does not start: $node_bin/node"
  cp "$build/node/package-lock.json" "$cache/node/installed.json" # last: marks a whole installation
}

# --- the browser for tests of the page --------------------------------------------------------

# browser prints the path of a Chromium in PATH, or nothing.
browser() { command -v chromium || command -v google-chrome || command -v google-chrome-stable || true; }

# setup_browser leaves build/cache/browser: a link to a Chromium that tests can drive.
setup_browser() {
  local found own=$cache/chromium
  found=$(browser)
  if [ -z "$found" ]; then
    found=$own/chromium
    [ -x "$found" ] || fetch_browser "$own"
  fi
  mkdir -p "$cache"
  ln -sfn "$found" "$cache/browser"
}

fetch_browser() {
  [ "$(uname -sm)" = "Linux x86_64" ] || die "no Chromium or Google Chrome in PATH (for tests of the page)"
  say "no Chromium in PATH: one for tests goes to build/cache/chromium (67 MB to fetch)"
  rm -rf "$1" && mkdir -p "$1"
  cp "$build/browser/package.json" "$build/browser/package-lock.json" "$1/"
  (
    cd "$1"
    PATH=$node_bin:$PATH
    npm ci --no-audit --no-fund --loglevel=error
    node -e 'require("fs").createReadStream("node_modules/@sparticuz/chromium/bin/chromium.br")
      .pipe(require("zlib").createBrotliDecompress())
      .pipe(require("fs").createWriteStream("unpacked", {mode: 0o755}))'
    mv unpacked chromium
  ) || die "could not fetch a Chromium into $1"
}

# -------------------------------------------------------------------------------------------------

case $level in build | run | check | test) ;; *) die "unknown level '$level': use build, run, check or test" ;; esac
command -v go >/dev/null || die "Go is missing. This project presupposes Go (go.mod names the version) and make; see https://go.dev/dl"

case $(uname -s) in
Linux) if command -v apt-get >/dev/null; then setup_apt; else setup_other_linux; fi ;;
Darwin) setup_macos ;;
*) die "only Linux and macOS are supported by this script" ;;
esac
setup_node
if [ "$level" = test ]; then setup_browser; fi
