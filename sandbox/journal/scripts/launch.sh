# Starts an execution, detached, unless it is claimed: lays down its files,
# starts run.sh, and waits until that has claimed it.
# Arguments: STATE ID NONCE ROOT DIR RUN TEXT LENGTH, and the rest of run.sh's;
# TEXT is run.sh and RUN its name. Standard input: the command line, of LENGTH
# bytes; if whoever sends it dies half-way, the rest of it must not be run.
# Answers with "claim LINE" or "fail KIND TEXT".
_tsa_state_dir=$1 _tsa_id=$2 _tsa_nonce=$3 _tsa_root=$4 _tsa_work=$5 _tsa_run=$1/$6 _tsa_text=$7 _tsa_length=$8
shift 8
_tsa_dir=$_tsa_state_dir/exec/$_tsa_id

# _tsa_do COMMAND... does it, or answers with what it says.
_tsa_do() {
	_tsa_said=$("$@" 2>&1) || {
		echo "fail system $_tsa_said"
		exit 0
	}
}
_tsa_store() { cat >"$1.new$_tsa_nonce" && mv -f "$1.new$_tsa_nonce" "$1"; }

if [ ! -e "$_tsa_dir/pid" ]; then
	[ -d "$_tsa_root" ] || { echo "fail gone the workspace $_tsa_root is gone"; exit 0; }
	[ -e "$_tsa_work" ] || { echo "fail not_found there is no folder $_tsa_work"; exit 0; }
	[ -d "$_tsa_work" ] || { echo "fail invalid $_tsa_work is not a folder"; exit 0; }
	cd -- "$_tsa_work" 2>/dev/null || { echo "fail denied can't go to $_tsa_work"; exit 0; }
	if [ "$3" = 1 ] && ! { command -v script && command -v stty; } >/dev/null 2>&1; then
		echo "fail unavailable a terminal needs the programs script and stty in the sandbox"
		exit 0
	fi
	_tsa_mask=$(umask)
	umask 077
	_tsa_do mkdir -p "$_tsa_dir"
	# In a file of its own: of several that launch at once, one wins.
	_tsa_do _tsa_store "$_tsa_dir/cmd.$_tsa_nonce"
	if [ "$(wc -c <"$_tsa_dir/cmd.$_tsa_nonce")" -ne "$_tsa_length" ]; then
		rm -f "$_tsa_dir/cmd.$_tsa_nonce"
		echo "fail transport the command line was cut off"
		exit 0
	fi
	[ -e "$_tsa_run" ] || printf '%s\n' "$_tsa_text" | _tsa_do _tsa_store "$_tsa_run"
	umask "$_tsa_mask"
	set -- sh "$_tsa_run" "$_tsa_dir" "$_tsa_id" "$_tsa_nonce" "$@"
	command -v setsid >/dev/null 2>&1 && set -- setsid "$@"
	# What a shell starts in the background ignores SIGINT and SIGQUIT, and so
	# would the command. So it is started in the foreground, and the shell that
	# would wait for it is ended. It answers on 3, and closes that.
	_tsa_said=$({ sh -c '"$@" </dev/null >/dev/null 2>&1 | kill -9 "$$"' sh "$@"; } 3>&1 2>/dev/null)
	if [ "$_tsa_said" != claimed ]; then
		echo "${_tsa_said:-fail transport the command could not be started}"
		exit 0
	fi
fi
read -r _tsa_line <"$_tsa_dir/pid"
echo "claim $_tsa_line"
