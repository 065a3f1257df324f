# Removes the files of executions that don't run. Arguments: STATE ID...
_tsa_exec=$1/exec
shift
for _tsa_x in "$@"; do
	if [ -e "$_tsa_exec/$_tsa_x/exit" ] || ! _tsa_running "$_tsa_exec/$_tsa_x"; then
		rm -rf "$_tsa_exec/$_tsa_x" || exit 1
	fi
done
