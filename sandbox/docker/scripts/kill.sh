# Kills the processes of a command: the one with the number PID, its group, its
# session and its descendants, and all that carry the mark in their environment.
# Arguments: MARK PID, which is 0 if unknown. First without starting a process:
# there may be no room for one. Answers with "ok" or "left".
mark=$1 known=" $2 " round=0
[ "$2" = 0 ] && known=' '
# Frozen first: the children of a dead parent are nobody's.
[ "$2" = 0 ] || kill -STOP "-$2" 2>/dev/null

# look adds to known what belongs to it, and sets left: those of it that live.
look() {
	more=1
	while [ "$more" = 1 ]; do
		more=0 left=
		for dir in /proc/[0-9]*; do
			line=
			{ read -r line <"$dir/stat"; } 2>/dev/null
			case $line in *') '*) ;; *) continue ;; esac
			pid=${dir#/proc/}
			# The name, in parentheses, may hold anything.
			set -- ${line##*') '}
			case $1 in [ZX]) continue ;; esac
			case $known in
			*" $pid "*) ;;
			*" $2 "* | *" $3 "* | *" $4 "*) known="$known$pid " more=1 ;;
			*) continue ;;
			esac
			left="$left $pid"
		done
	done
}

while [ "$round" -lt 300 ]; do
	look
	if [ -n "$left" ]; then
		kill -STOP $left 2>/dev/null
		kill -KILL $left 2>/dev/null
	fi
	marked=$(grep -lzxF "$mark" /proc/[0-9]*/environ 2>/dev/null)
	for dir in $marked; do
		pid=${dir#/proc/}
		pid=${pid%/environ}
		line=
		{ read -r line <"/proc/$pid/stat"; } 2>/dev/null
		case ${line##*') '} in '' | [ZX]*) continue ;; esac
		left="$left $pid"
		case $known in *" $pid "*) ;; *) known="$known$pid " ;; esac
	done
	if [ -z "$left" ]; then
		echo ok
		exit 0
	fi
	round=$((round + 1))
	sleep 0.01 2>/dev/null || sleep 1
done
echo left
