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

# _tsa_kill ID LEADER START kills the leader with its group, its session and its
# descendants, and all that carry the call's mark, until none is left.
_tsa_kill() {
	_tsa_known=' ' _tsa_round=0
	if _tsa_alive "$2" "$3"; then
		_tsa_known=" $2 "
		kill -KILL "-$2" 2>/dev/null || kill -KILL "$2" 2>/dev/null
	fi
	while [ "$_tsa_round" -lt 300 ]; do
		_tsa_marked=" $(grep -lF "TSA_CALL=:$1:" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n' | tr '\n' ' ')"
		_tsa_all=
		for _tsa_x in /proc/[0-9]*; do
			_tsa_x=${_tsa_x#/proc/}
			_tsa_stat "$_tsa_x" || continue
			case $_tsa_state in [ZX]) continue ;; esac
			_tsa_all="$_tsa_all $_tsa_x:$_tsa_parent:$_tsa_group:$_tsa_session"
			case $_tsa_marked in *" $_tsa_x "*) _tsa_known="$_tsa_known$_tsa_x " ;; esac
		done
		_tsa_again=1
		while [ "$_tsa_again" = 1 ]; do
			_tsa_again=0
			for _tsa_x in $_tsa_all; do
				case $_tsa_known in *" ${_tsa_x%%:*} "*) continue ;; esac
				_tsa_rest=${_tsa_x#*:}
				_tsa_parent=${_tsa_rest%%:*} _tsa_rest=${_tsa_rest#*:}
				case $_tsa_known in
				*" $_tsa_parent "* | *" ${_tsa_rest%:*} "* | *" ${_tsa_rest#*:} "*)
					_tsa_known="$_tsa_known${_tsa_x%%:*} " _tsa_again=1
					;;
				esac
			done
		done
		_tsa_left=
		for _tsa_x in $_tsa_all; do
			case $_tsa_known in *" ${_tsa_x%%:*} "*) _tsa_left="$_tsa_left ${_tsa_x%%:*}" ;; esac
		done
		[ -n "$_tsa_left" ] || return 0
		kill -KILL $_tsa_left 2>/dev/null
		_tsa_round=$((_tsa_round + 1))
		_tsa_nap 0.01
	done
	return 1
}
