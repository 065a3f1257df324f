# Ends the process tree of an execution. Arguments: STATE ID.
# Answers with "ok", "missing" or "left".
_tsa_dir=$1/exec/$2
[ -d "$_tsa_dir" ] || { echo missing; exit 0; }
_tsa_tries=0
while [ "$_tsa_tries" -lt 300 ]; do
	_tsa_pid=0 _tsa_since=0
	if [ ! -e "$_tsa_dir/exit" ]; then # else the number may be another's
		: >"$_tsa_dir/killed"
		_tsa_leader "$_tsa_dir"
	fi
	_tsa_kill "$2" "$_tsa_pid" "$_tsa_since" || break
	if [ ! -e "$_tsa_dir/pid" ] || [ -e "$_tsa_dir/exit" ] || ! _tsa_running "$_tsa_dir"; then
		echo ok
		exit 0
	fi
	_tsa_nap 0.01 # it is dead, and about to be recorded
	_tsa_tries=$((_tsa_tries + 1))
done
echo left
