# Tells of all that is in the workspace. Arguments: ROOT NONCE, and what find is
# to leave out. Answers with the kind of records, the time, the records, "end"
# with find's status, and the folders that can't be looked into, each with NUL.
nonce=$1
shift
need find

# The time is that of a process which starts now: the clock that stamps files,
# and nothing is written for it.
if gnu; then
	printf 'gnu\0'
	find /proc/self/ -maxdepth 0 -printf '%T@\0' 2>/dev/null || printf '0\0'
	find . -mindepth 1 "$@" -printf "$told" 2>/dev/null
	status=$?
else
	need xargs stat
	printf 'stat\0'
	stat -c '%y' /proc/self/ 2>/dev/null || echo 0
	printf '\0'
	{
		status=$({
			{
				find . -mindepth 1 "$@" -print0 2>/dev/null
				echo "$?" >&4
			} | xargs -0 -r stat -c "%f %i %s %b %y %z %n//$nonce
%N//$nonce" >&3 2>/dev/null
		} 4>&1)
	} 3>&1
fi
printf 'end %s\0' "$status"
[ "$status" = 0 ] || find . "$@" -type d -exec sh -c 'for d; do [ -r "$d" ] && [ -x "$d" ] || printf "%s\0" "$d"; done' sh {} + 2>/dev/null
printf 'done\0'
