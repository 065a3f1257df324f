# Runs one command to its end: claims it, starts it in a session of its own,
# keeps its output, ends it when its time is up, and records how it ended. It is
# started detached, in the command's folder and with its environment.
# Arguments: DIR ID NONCE CAP TIMEOUT TTY ROWS COLS NOW. CAP is how much output
# to keep, in blocks of 512 bytes; TIMEOUT is in seconds, 0 for none; NOW is the
# time. On 3 it answers "claimed", by whomever, or "fail system TEXT".
_tsa_dir=$1 _tsa_id=$2 _tsa_nonce=$3 _tsa_cap=$4 _tsa_timeout=$5 _tsa_tty=$6 _tsa_rows=$7 _tsa_cols=$8 _tsa_now=$9

# What ends others must not end this. A trap, unlike ignoring, does not reach
# the command.
trap : HUP INT QUIT TERM

# _tsa_answer TEXT tells launch.sh, which may be gone.
_tsa_answer() {
	trap '' PIPE
	echo "$1" >&3
	exec 3>&-
	trap - PIPE
}

# _tsa_fail TEXT gives up before the command has run.
_tsa_fail() {
	rm -f "$_tsa_dir/pid.$_tsa_nonce" "$_tsa_dir/cmd.$_tsa_nonce"
	_tsa_answer "fail system $1"
	exit 1
}

_tsa_uptime() {
	_tsa_up=-
	{ read -r _tsa_up _tsa_x </proc/uptime; } 2>/dev/null
}

# The claim: a link appears as a whole or not at all, and only if there is none.
_tsa_start=0 _tsa_boot=-
_tsa_stat $$
{ read -r _tsa_boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
_tsa_uptime
_tsa_said=$({ echo "$_tsa_nonce $$ $_tsa_start $_tsa_boot $_tsa_up $_tsa_now" >"$_tsa_dir/pid.$_tsa_nonce"; } 2>&1) ||
	_tsa_fail "write: $_tsa_said"
_tsa_said=$(ln "$_tsa_dir/pid.$_tsa_nonce" "$_tsa_dir/pid" 2>&1) || {
	[ -e "$_tsa_dir/pid" ] || _tsa_fail "$_tsa_said"
	rm -f "$_tsa_dir/pid.$_tsa_nonce" "$_tsa_dir/cmd.$_tsa_nonce"
	_tsa_answer claimed # somebody else runs it
	exit 0
}
# The place of the record is kept from now on: the command may fill the disk.
_tsa_said=$({
	mv -f "$_tsa_dir/cmd.$_tsa_nonce" "$_tsa_dir/cmd" &&
		printf '%63s\n' '' >"$_tsa_dir/exit.tmp" && : >"$_tsa_dir/out" &&
		{ [ -p "$_tsa_dir/pipe" ] || mkfifo "$_tsa_dir/pipe"; } &&
		{ [ "$_tsa_tty" = 0 ] || [ -p "$_tsa_dir/in" ] || mkfifo "$_tsa_dir/in"; }
} 2>&1) || {
	rm -f "$_tsa_dir/pid"
	_tsa_fail "$_tsa_said"
}
# On disk before the command starts, so that no power failure can run it again.
sync "$_tsa_dir/pid" "$_tsa_dir" "${_tsa_dir%/*}" 2>/dev/null || sync
_tsa_answer claimed

_tsa_code=137
if [ ! -e "$_tsa_dir/killed" ]; then
	# Both ends are opened here, without waiting for the other sides.
	exec 4<>"$_tsa_dir/pipe" 5<"$_tsa_dir/pipe" 6>"$_tsa_dir/pipe" 4>&-

	# What the command writes. The limit on the size of files is this part's
	# alone; beyond it, and on a full disk, output is read and dropped, so that
	# the command is not held up. cat is started again if somebody kills it.
	(
		exec <&5 5<&- 6>&- 2>/dev/null
		trap '' 25 # SIGXFSZ
		ulimit -S -f "$_tsa_cap"
		for _tsa_x in 0 3 3 3; do
			cat && exit "$_tsa_x"
		done >>"$_tsa_dir/out"
		cat >/dev/null
		exit 3
	) &
	_tsa_pump=$!

	_tsa_timer=
	if [ "$_tsa_timeout" != 0 ]; then
		(
			exec </dev/null >/dev/null 2>&1 5<&- 6>&-
			trap 'kill "$_tsa_x"; exit' TERM
			sleep "$_tsa_timeout" &
			_tsa_x=$!
			wait "$_tsa_x" || sleep "$((${_tsa_timeout%.*} + 1))" # where there are no parts of seconds
			trap '' TERM # not to be stopped half-way
			: >"$_tsa_dir/timedout"
			_tsa_leader "$_tsa_dir"
			_tsa_kill "$_tsa_id" "$_tsa_pid" "$_tsa_since"
		) &
		_tsa_timer=$!
	fi

	# The command, in the foreground, as in launch.sh.
	(
		exec </dev/null >&6 2>&1 5<&- 6>&-
		# This part's own number has no name in a POSIX shell.
		_tsa_line=
		{ read -r _tsa_line </proc/self/stat; } 2>/dev/null
		if [ -n "$_tsa_line" ]; then
			_tsa_pid=${_tsa_line%% *}
			_tsa_stat "$_tsa_pid"
		else
			_tsa_pid=$(exec sh -c 'echo $PPID') _tsa_start=0
		fi
		echo "$_tsa_pid $_tsa_start" >"$_tsa_dir/leader"
		# Whoever wants it dead wrote that down and then looks for the leader:
		# one of the two sees the other.
		[ -e "$_tsa_dir/killed" ] && exit 137
		unset OLDPWD
		TSA_CALL=:$_tsa_id:
		export TSA_CALL
		_tsa_shell=sh
		command -v bash >/dev/null 2>&1 && _tsa_shell=bash
		# The x keeps line ends at the end.
		_tsa_cmd=$(cat "$_tsa_dir/cmd"; echo x)
		_tsa_cmd=${_tsa_cmd%x}
		# One argument can't be longer than 128 KiB.
		[ "${#_tsa_cmd}" -le 30000 ] || _tsa_cmd=
		if [ "$_tsa_tty" = 0 ]; then
			if [ -n "$_tsa_cmd" ]; then
				set -- "$_tsa_shell" -c "$_tsa_cmd"
			else
				set -- "$_tsa_shell" -c '. "$0"' "$_tsa_dir/cmd"
			fi
		else
			# script keeps a terminal; it runs its command by $SHELL.
			_TSA_SHELL=${SHELL-} _TSA_DIR=$_tsa_dir SHELL=/bin/sh
			export _TSA_SHELL _TSA_DIR SHELL
			exec <>"$_tsa_dir/in"
			set -- script -q -e -f -c "
				stty sane rows $_tsa_rows cols $_tsa_cols
				tty >\"\$_TSA_DIR/tty\"
				set -- $_tsa_shell -c '. \"\$0\"' \"\$_TSA_DIR/cmd\"
				SHELL=\$_TSA_SHELL
				[ -n \"\$SHELL\" ] || unset SHELL
				unset _TSA_SHELL _TSA_DIR
				exec \"\$@\"" /dev/null
		fi
		command -v setsid >/dev/null 2>&1 && set -- setsid "$@"
		exec "$@"
	) 2>/dev/null
	_tsa_code=$?
	exec 5<&- 6>&-
	if [ -n "$_tsa_timer" ]; then
		[ -e "$_tsa_dir/timedout" ] || kill "$_tsa_timer" 2>/dev/null
		wait "$_tsa_timer"
	fi
fi

_tsa_flags=
if [ "$_tsa_code" = 137 ]; then
	[ ! -e "$_tsa_dir/timedout" ] || _tsa_flags=t
	[ ! -e "$_tsa_dir/killed" ] || _tsa_flags=${_tsa_flags}k
fi
_tsa_uptime
# _tsa_record FLAGS writes the record over its place.
_tsa_record() { printf '%-63s\n' "$_tsa_code ? ${1:--} $_tsa_up" 1<>"$_tsa_dir/exit.tmp"; }
_tsa_record "$_tsa_flags"
if [ -n "${_tsa_pump-}" ]; then
	# The record comes after the output. But what the command left running may
	# hold on to its output for ever: it is not waited for.
	(
		exec </dev/null >/dev/null 2>&1
		_tsa_nap 0.3
		mv -f "$_tsa_dir/exit.tmp" "$_tsa_dir/exit"
	) &
	wait "$_tsa_pump"
	[ $? != 3 ] || _tsa_record "${_tsa_flags}c"
fi
exec mv -f "$_tsa_dir/exit.tmp" "$_tsa_dir/exit" 2>/dev/null
