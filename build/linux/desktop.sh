#!/usr/bin/env bash
# Puts the app into the menu of the user who runs this, and takes it out again.
#
#   build/linux/desktop.sh install BINARY    copies the program, its icon and its menu entry
#   build/linux/desktop.sh uninstall         removes the three; sessions and settings stay
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=temporal-sandbox-agent
share=${XDG_DATA_HOME:-$HOME/.local/share}
program=$HOME/.local/bin/$name
entry=$share/applications/$name.desktop
icon=$share/icons/hicolor/scalable/apps/$name.svg

# refresh tells the desktop at once; without these tools it notices by itself a little later.
refresh() {
  if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$share/applications" || true; fi
  if command -v gtk-update-icon-cache >/dev/null; then gtk-update-icon-cache -qtf "$share/icons/hicolor" || true; fi
}

# quoted writes a path as the value of Exec: in double quotes, with the characters escaped
# that have a meaning between them, and % doubled.
quoted() { printf '"%s"' "$(sed -e 's/\\/&&&&/g' -e 's/["`$]/\\\\&/g' -e 's/%/%%/g' <<<"$1")"; }

case ${1:-} in
install)
  binary=${2:?the built program}
  [ "$(uname -s)" = Linux ] || { echo "menu entries are for Linux; on macOS use: make dev, or wails build" >&2; exit 1; }
  # The copy is moved into place, so that a running app is not disturbed.
  install -D -m 755 "$binary" "$program.new" && mv -f "$program.new" "$program"
  install -D -m 644 "$here/$name.svg" "$icon"
  mkdir -p "${entry%/*}"
  # An absolute path: ~/.local/bin is not in every desktop's PATH.
  exec_line="Exec=$(quoted "$program")"
  while IFS= read -r line; do
    case $line in Exec=*) line=$exec_line ;; esac
    printf '%s\n' "$line"
  done <"$here/$name.desktop" >"$entry"
  chmod 755 "$entry" # some desktops start an entry by double click only when it is executable
  refresh
  echo "installed: $program and a menu entry, Temporal Sandbox Agent"
  ;;
uninstall)
  rm -f "$program" "$entry" "$icon"
  refresh
  echo "removed the program and its menu entry; sessions and settings stay"
  ;;
*)
  echo "usage: $0 install BINARY | uninstall" >&2
  exit 2
  ;;
esac
