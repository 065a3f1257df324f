# Digests files. Argument: ROOT. Answers with "links" and those, or with how
# records end, and a record of each regular file that can be read.
need sha256sum
refuse_links
only N >"$scratch/names"
cat "$scratch/names" | xargs -0 -r sh -c 'exec find "$@" -maxdepth 0 -type f -print0' sh >"$scratch/regular" 2>/dev/null
if sha256sum -z </dev/null >/dev/null 2>&1; then
	printf 'zero\0'
	cat "$scratch/regular" | xargs -0 -r sha256sum -z 2>/dev/null
else
	printf 'line\0'
	cat "$scratch/regular" | xargs -0 -r sha256sum 2>/dev/null
fi
status=$?
[ "$status" -lt 124 ] || die transport "sha256sum ended with $status"
exit 0
