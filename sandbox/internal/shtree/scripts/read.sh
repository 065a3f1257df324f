# Reads files. Argument: ROOT NONCE. Answers with "links" and those, or with the
# kind of records, a record for each name that is there, "end", and archives of
# the regular files.
need tar
refuse_links
only N >"$scratch/names"
if gnu; then
	printf 'gnu\0'
	cat "$scratch/names" | xargs -0 -r sh -c 'exec find "$@" -maxdepth 0 -printf "$0"' "$told" 2>/dev/null
else
	need stat
	printf 'stat\0'
	cat "$scratch/names" | xargs -0 -r stat -c "%f %i %s %b %y %z %n//$1
%N//$1" 2>/dev/null
fi
printf 'end 0\0'
cat "$scratch/names" | xargs -0 -r sh -c 'exec find "$@" -maxdepth 0 -type f -print0' sh >"$scratch/regular" 2>/dev/null
[ -s "$scratch/regular" ] || exit 0
# What is not in an archive is asked for again, so that only the death of tar is
# a failure.
case $(tar --version 2>/dev/null) in
*'GNU tar'*) tar -c -f - --format=gnu --hard-dereference --no-recursion --null -T "$scratch/regular" 2>"$scratch/said" ;;
*) cat "$scratch/regular" | xargs -0 tar -c -f - 2>"$scratch/said" ;;
esac
status=$?
[ "$status" -lt 124 ] || die transport "tar ended with $status: $(tail -n 1 "$scratch/said")"
exit 0
