# Takes the list of names from standard input, for the scripts that are put
# after this one: each begins with a letter that says what it is, and ends with
# NUL. Lists reach xargs through a pipe: a tool of busybox that it runs puts the
# offset in a file back. A name is ./ and the rest; an A is a folder on the way to a name, of
# which none may be a link.
need xargs find
scratch
cat >"$scratch/list" || die no_space 'the list of names can'\''t be kept: No space left'

# only LETTER prints the names of this kind, without the letter.
only() {
	cat "$scratch/list" | xargs -0 -r sh -c 'k=$0; for n; do case $n in "$k"*) printf "%s\0" "${n#?}" ;; esac; done' "$1"
}

# refuse_links tells which A are links, or files, if any are, and ends.
refuse_links() {
	cat "$scratch/list" | xargs -0 -r sh -c 'for n; do case $n in A*) n=${n#A}; [ -L "$n" ] || { [ -e "$n" ] && [ ! -d "$n" ]; } && printf "%s\0" "$n" ;; esac; done' sh >"$scratch/links"
	[ -s "$scratch/links" ] || return 0
	printf 'links\0'
	cat "$scratch/links"
	exit 0
}
