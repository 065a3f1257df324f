# Sets the mode of folders that are still there. Arguments: ROOT MODE. Standard
# input: the names.
need xargs
scratch
xargs -0 -r sh -c 'for n; do [ ! -d "$n" ] || [ -L "$n" ] || printf "%s\0" "$n"; done' sh >"$scratch/names"
cat "$scratch/names" | xargs -0 -r chmod "$1" 2>"$scratch/said" || die system "$(head -n 1 "$scratch/said")"
