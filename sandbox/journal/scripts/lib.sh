# Functions of the journal's scripts. They need a POSIX shell and the usual
# small tools, and use /proc where there is one. All names begin with _tsa_: what
# a script exports would otherwise reach the command.

# _tsa_stat PID reads a process: state, parent, group, session, start.
_tsa_stat() {
	_tsa_line=
	{ read -r _tsa_line <"/proc/$1/stat"; } 2>/dev/null
	case $_tsa_line in *') '*) ;; *) return 1 ;; esac
	# The name, in parentheses, may hold anything: what follows the last one counts.
	set -- ${_tsa_line##*') '}
	_tsa_state=$1 _tsa_parent=$2 _tsa_group=$3 _tsa_session=$4 _tsa_start=${20}
}

# _tsa_first FILE reads the first line of a file into _tsa_text, which is empty
# if there is none.
_tsa_first() {
	_tsa_text=
	{ IFS= read -r _tsa_text <"$1"; } 2>/dev/null
}

# _tsa_alive PID START: the process with this number and start runs. A start of
# 0 is not compared.
_tsa_alive() {
	[ "$1" -gt 0 ] 2>/dev/null || return 1
	[ -r /proc/self/stat ] || { kill -0 "$1" 2>/dev/null; return; }
	_tsa_stat "$1" || return 1
	case $_tsa_state in [ZX]) return 1 ;; esac
	[ "$2" = 0 ] || [ "$2" = "$_tsa_start" ]
}

# _tsa_leader DIR reads the first process of a command.
_tsa_leader() {
	_tsa_pid=0 _tsa_since=0
	{ read -r _tsa_pid _tsa_since <"$1/leader"; } 2>/dev/null
	[ -n "$_tsa_pid" ] || _tsa_pid=0
	[ -n "$_tsa_since" ] || _tsa_since=0
}

# _tsa_running DIR: what runs the command, or the command itself, is alive.
_tsa_running() {
	_tsa_runner=0 _tsa_began=0
	{ read -r _tsa_x _tsa_runner _tsa_began _tsa_x <"$1/pid"; } 2>/dev/null
	_tsa_alive "$_tsa_runner" "$_tsa_began" && return
	_tsa_leader "$1"
	_tsa_alive "$_tsa_pid" "$_tsa_since"
}

# _tsa_nap sleeps a little, or a second where sleep knows only those.
_tsa_nap() { sleep "$1" 2>/dev/null || sleep 1; }

# _tsa_tree ID KNOWN prints the living processes that belong to KNOWN, by
# descent, group or session, or carry the call's mark.
_tsa_tree() {
	{
		grep -lzxF "TSA_CALL=:$1:" /proc/[0-9]*/environ
		echo =
		cat /proc/[0-9]*/stat
	} 2>/dev/null | awk -v known="$2" '
		BEGIN {
			n = split(known, list, " ")
			for (i = 1; i <= n; i++) ours[list[i]] = 1
		}
		!stats && $0 == "=" { stats = 1; next }
		!stats { split($0, part, "/"); marked[part[3]] = 1; next }
		{
			pid = $1
			# The name, in parentheses, may hold anything.
			if (!sub(/^.*\) /, "") || $1 ~ /[ZX]/) next
			parent[pid] = $2; group[pid] = $3; session[pid] = $4
			if (pid in marked) ours[pid] = 1
		}
		END {
			do {
				more = 0
				for (pid in parent)
					if (!(pid in ours) && ((parent[pid] in ours) || (group[pid] in ours) || (session[pid] in ours))) {
						ours[pid] = 1
						more = 1
					}
			} while (more)
			for (pid in parent) if (pid in ours) print pid
		}'
}

# _tsa_kill ID LEADER START kills the leader with its group, its session and its
# descendants, and all that carry the call's mark, until none is left.
_tsa_kill() {
	_tsa_known= _tsa_round=0
	if _tsa_alive "$2" "$3"; then
		_tsa_known=$2
		# Frozen first: the children of a dead parent are nobody's.
		kill -STOP "-$2" 2>/dev/null || kill -STOP "$2" 2>/dev/null
	fi
	while [ "$_tsa_round" -lt 300 ]; do
		_tsa_left=$(_tsa_tree "$1" "$_tsa_known" | tr '\n' ' ')
		# At once, and where there is no /proc all that can be done.
		[ "$_tsa_round" != 0 ] || [ -z "$_tsa_known" ] || kill -KILL "-$2" 2>/dev/null || kill -KILL "$2" 2>/dev/null
		[ -n "$_tsa_left" ] || return 0
		# None may outlive its child and tell of its death.
		kill -STOP $_tsa_left 2>/dev/null
		kill -KILL $_tsa_left 2>/dev/null
		_tsa_known="$_tsa_known $_tsa_left"
		_tsa_round=$((_tsa_round + 1))
		_tsa_nap 0.01
	done
	return 1
}
