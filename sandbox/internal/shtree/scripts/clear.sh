# Makes way for what is to be made. Argument: ROOT. The list holds what is to be
# removed (R), the folders that are to be (D), those that should be there (P) and
# those that only have to be writable (W), parents first, and the files and links
# that are to be (F). Answers with
# "links" and those, or with the kind of tar, and then the mode and the name of
# each folder that was made writable.
need tar
refuse_links
case $(tar --version 2>/dev/null) in
*'GNU tar'*) printf 'gnu\0' ;;
*) printf 'other\0' ;;
esac
# Folders. A link where one is to be, or something else, goes.
cat "$scratch/list" | xargs -0 -r sh -c '
	for n; do
		kind=${n%"${n#?}"} n=${n#?}
		case $kind in [DPW]) ;; *) continue ;; esac
		if [ -d "$n" ] && [ ! -L "$n" ]; then
			[ -w "$n" ] && [ -x "$n" ] && continue
			printf "%s %s\0" "$(stat -c %a "$n")" "$n"
			chmod u+rwx "$n" || exit 255
		elif [ -L "$n" ] || [ -e "$n" ]; then
			[ "$kind" != W ] || continue
			if [ "$kind" = P ]; then
				echo "tsa:escape:$n is not a folder of the workspace" >&2
				exit 255
			fi
			rm -f "$n" || exit 255
		fi
	done' sh 2>"$scratch/said" || die system "$(cat "$scratch/said")"
only R >"$scratch/names"
if [ -s "$scratch/names" ]; then
	cat "$scratch/names" | xargs -0 rm -rf 2>/dev/null || {
		cat "$scratch/names" | xargs -0 sh -c 'exec find "$@" -type d -exec chmod u+rwx {} +' sh 2>/dev/null
		cat "$scratch/names" | xargs -0 rm -rf 2>"$scratch/said" || die system "$(head -n 1 "$scratch/said")"
	}
fi
only F >"$scratch/names"
if [ -s "$scratch/names" ]; then
	cat "$scratch/names" | xargs -0 sh -c 'exec find "$@" -maxdepth 0 -type d -print0' sh >"$scratch/ways" 2>/dev/null
	[ ! -s "$scratch/ways" ] || cat "$scratch/ways" | xargs -0 rm -rf 2>/dev/null || {
		cat "$scratch/ways" | xargs -0 sh -c 'exec find "$@" -type d -exec chmod u+rwx {} +' sh 2>/dev/null
		cat "$scratch/ways" | xargs -0 rm -rf 2>"$scratch/said" || die system "$(head -n 1 "$scratch/said")"
	}
fi
printf 'done\0'
