# Writes standard input to the terminal of an execution, or sets its size.
# Arguments: STATE ID, or STATE ID ROWS COLS.
# Answers with "ok", "missing", "ended", "noterminal" or "fail".
_tsa_dir=$1/exec/$2
[ -e "$_tsa_dir/pid" ] || { echo missing; exit 0; }
[ -p "$_tsa_dir/in" ] || { echo noterminal; exit 0; }
[ ! -e "$_tsa_dir/exit" ] && _tsa_running "$_tsa_dir" || { echo ended; exit 0; }
if [ $# = 2 ]; then
	cat 1<>"$_tsa_dir/in" || { echo fail; exit 0; }
else
	_tsa_n=0
	until [ -s "$_tsa_dir/tty" ] || [ "$_tsa_n" -ge 100 ]; do
		_tsa_nap 0.02
		_tsa_n=$((_tsa_n + 1))
	done
	stty rows "$3" cols "$4" <"$(cat "$_tsa_dir/tty")" || { echo fail; exit 0; }
fi
echo ok
