#!/usr/bin/env bash
# Generates the TypeScript side of app.go's methods (frontend/wailsjs), as `wails generate module`
# does it: the app built with the tag "bindings" writes them instead of opening a window, into the
# folder that the wails.json of its working directory names.
#
#   build/bindings.sh write    replaces frontend/wailsjs
#   build/bindings.sh check    compares with frontend/wailsjs; fails and shows the difference
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

generate() {
  (cd "$root" && go build -buildvcs=false -tags bindings,webkit2_41 -o "$work/wailsbindings" .)
  mkdir "$work/frontend"
  cp "$root/wails.json" "$work/"
  # A data folder of its own: generating must not touch, or need, anybody's sessions.
  (cd "$work" && env TSA_DATA_DIR="$work/data" tsprefix="" tssuffix="" tsoutputtype=classes ./wailsbindings >log 2>&1) ||
    { cat "$work/log" >&2; exit 1; }
  [ -d "$work/frontend/wailsjs/go" ] || {
    echo "bindings: the program wrote none; does main() still reach wails.Run when built with the tag \"bindings\"?" >&2
    exit 1
  }
  # Wails marks them all as programs; they are text.
  find "$work/frontend/wailsjs" -type f -exec chmod 644 {} +
}

case ${1:-} in
write)
  generate
  rm -rf "$root/frontend/wailsjs"
  cp -R "$work/frontend/wailsjs" "$root/frontend/wailsjs"
  ;;
check)
  generate
  diff -r -u "$root/frontend/wailsjs" "$work/frontend/wailsjs" || {
    echo "bindings: frontend/wailsjs is not what app.go says today; run: make bindings" >&2
    exit 1
  }
  ;;
*)
  echo "usage: $0 write | check" >&2
  exit 2
  ;;
esac
