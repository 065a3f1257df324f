# One operation on one file. Arguments: ROOT VERB PATH, and more as of the verb.
verb=$1 given=$2
shift 2

missing() { die not_found 'there is no such file'; }

case $verb in
stat) # NONCE
	place "$given" 0
	there || missing
	if gnu; then
		printf 'gnu\0'
		find "./$name" -maxdepth 0 -printf "$told" || missing
	else
		need stat
		printf 'stat\0'
		stat -c "%f %i %s %b %y %z %n//$1" "./$name" && stat -c "%N//$1" "./$name" || missing
	fi
	printf 'end 0\0'
	;;
list) # NONCE
	place "$given" 0
	follow 0
	there || missing
	[ -d "./$name" ] || die invalid 'it is not a folder'
	cd -P -- "./$name" 2>/dev/null || die denied 'the folder can'\''t be entered: Permission denied'
	inside || escape "$given"
	[ -r . ] || die denied 'the folder can'\''t be read: Permission denied'
	need find
	# What vanishes meanwhile is not there.
	if gnu; then
		printf 'gnu\0'
		find . -mindepth 1 -maxdepth 1 -printf "$told" 2>/dev/null
	else
		need stat xargs
		printf 'stat\0'
		find . -mindepth 1 -maxdepth 1 -print0 | xargs -0 -r stat -c "%f %i %s %b %y %z %n//$1
%N//$1" 2>/dev/null
	fi
	printf 'end 0\0'
	exit 0
	;;
read) # BLOCK COUNT: from the BLOCKth 64 KiB on, COUNT of them, - for all
	place "$given" 0
	follow 0
	there || missing
	[ ! -d "./$name" ] || die invalid 'it is a folder'
	[ -f "./$name" ] || die invalid 'it is not a regular file'
	[ -r "./$name" ] || die denied 'it can'\''t be read: Permission denied'
	echo ok
	if [ "$1 $2" = '0 -' ]; then
		exec cat "./$name"
	elif [ "$2" = - ]; then
		dd if="./$name" bs=65536 skip="$1" 2>/dev/null || die transport 'it could not be read to its end'
	else
		dd if="./$name" bs=65536 skip="$1" count="$2" 2>/dev/null || die transport 'it could not be read to its end'
	fi
	;;
write) # MODE NONCE: the input ends with the nonce, else it was cut off
	place "$given" 1
	follow 1
	mode=$1
	if there; then
		[ ! -d "./$name" ] || die invalid 'it is a folder'
		[ -f "./$name" ] || die invalid 'it is not a regular file'
		[ "$mode" != 0 ] || mode=$(stat -c %a "./$name") || die system 'stat: No such file or directory'
	fi
	[ "$mode" != 0 ] || mode=644
	draft=./.tsa-$2.tmp
	trap 'rm -f "$draft"' EXIT
	trap 'exit 129' HUP INT TERM
	said=$(umask 077; { cat >"$draft"; } 2>&1) || die system "$said"
	size=$(wc -c <"$draft")
	[ "$size" -ge "${#2}" ] && [ "$(tail -c "${#2}" "$draft" | tr -d '\0')" = "$2" ] || die transport 'the new content was cut off'
	try dd if=/dev/null of="$draft" bs=1 seek=$((size - ${#2}))
	try chmod "$mode" "$draft"
	try mv -f "$draft" "./$name"
	;;
tidy) # NONCE: of a write that was killed
	place "$given" 0
	follow 0
	rm -f "./.tsa-$1.tmp"
	;;
mkdir) # MODE
	place "$given" 1
	if there; then die exists 'it is there already'; fi
	try mkdir "./$name"
	try chmod "$1" "./$name"
	;;
remove)
	place "$given" 0
	not_root
	there || missing
	if [ -d "./$name" ] && [ ! -L "./$name" ]; then try rmdir "./$name"; else try rm -f "./$name"; fi
	;;
clear)
	place "$given" 0
	not_root
	rm -rf "./$name" 2>/dev/null && exit 0
	# Folders that may not be written, as package managers make them.
	find "./$name" -type d -exec chmod u+rwx {} + 2>/dev/null
	try rm -rf "./$name"
	;;
rename) # TO
	place "$1" 0
	not_root
	to=$name
	# Held on to by the handle, as the current folder is below.
	exec 3<.
	target_is=other
	if [ -d "./$to" ] && [ ! -L "./$to" ]; then target_is=folder; fi
	cd -P -- "${root:-/}" || die gone "the workspace $root is gone"
	place "$given" 0
	not_root
	there || missing
	if [ "$target_is" = folder ] && { [ ! -d "./$name" ] || [ -L "./$name" ]; }; then die invalid 'there is a folder of the new name'; fi
	try mv -fT "./$name" "/proc/self/fd/3/$to"
	;;
chmod) # MODE
	place "$given" 0
	follow 0
	there || missing
	try chmod "$1" "./$name"
	;;
link) # TARGET
	place "$given" 0
	if there; then die exists 'it is there already'; fi
	try ln -s -- "$1" "./$name"
	;;
esac
