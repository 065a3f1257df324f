#!/usr/bin/env bash
# Runs a Docker engine of its own beside any other, for trying things: in a folder that is
# removed in the end, without network or firewall rules, in the foreground. Needs root.
#
#   build/dockerd.sh          then, elsewhere: export DOCKER_HOST=unix:///tmp/tsa-dockerd/s
#   build/dockerd.sh DIR      the same in another folder; keep its name short
set -euo pipefail

dir=${1:-/tmp/tsa-dockerd}
daemon=$(command -v dockerd || echo /usr/sbin/dockerd)
[ -x "$daemon" ] || {
  echo "there is no dockerd: run build/setup.sh test" >&2
  exit 1
}
[ "$(id -u)" -eq 0 ] || {
  echo "this needs root" >&2
  exit 1
}
[ ! -e "$dir" ] || {
  echo "$dir is there already: name another folder, or remove it" >&2
  exit 1
}
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT
trap : INT TERM # the engine gets these as well, and ends first
echo "export DOCKER_HOST=unix://$dir/s"
"$daemon" --host "unix://$dir/s" --data-root "$dir/d" --exec-root "$dir/x" --pidfile "$dir/pid" \
  --storage-driver vfs --bridge none --iptables=false --ip6tables=false &
engine=$!
trap 'kill "$engine" 2>/dev/null' INT TERM
while kill -0 "$engine" 2>/dev/null; do wait "$engine" || true; done
