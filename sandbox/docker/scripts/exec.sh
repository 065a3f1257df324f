# Runs a command in its folder and tells, in its outputs, where it begins and
# where it ends: what is left running may hold on to the outputs, and the engine
# knows neither that nor a command's folder.
# Arguments: MARK OUTPUTS ROOT VARIABLES DIR, so many variables ("NAME=value"), and
# the command. OUTPUTS is which are wanted: out, err, both (apart), one (both in
# one), none. The engine knows only texts: VARIABLES is - if all that follows is
# text as it is, else each argument is for printf to decode.
# An answer is the mark, a word and the end of the line. All names begin with
# _tsa_, and none is exported.
_tsa_mark=$1 _tsa_outputs=$2 _tsa_root=$3 _tsa_vars=$4
shift 4
if [ "$_tsa_vars" != - ]; then
	_tsa_n=$#
	while [ "$_tsa_n" -gt 0 ]; do
		_tsa_x=$(printf %b "$1" && echo x)
		set -- "$@" "${_tsa_x%x}"
		shift
		_tsa_n=$((_tsa_n - 1))
	done
fi
_tsa_dir=$1
shift
while [ "${_tsa_vars#-}" ] && [ "$_tsa_vars" -gt 0 ]; do
	export "${1?}"
	shift
	_tsa_vars=$((_tsa_vars - 1))
done
# What the shell says of the deaths of commands is not theirs.
exec 3>&2 2>/dev/null

_tsa_end() {
	printf '%s%s\n' "$_tsa_mark" "$1"
	printf '%s%s\n' "$_tsa_mark" "$1" >&3
	exit 0
}

printf '%sbegin %s\n' "$_tsa_mark" "$$"
if ! cd -- "$_tsa_dir"; then
	[ -d "$_tsa_root" ] || _tsa_end gone
	[ -d "$_tsa_dir" ] && _tsa_end denied
	[ -e "$_tsa_dir" ] && _tsa_end file
	_tsa_end missing
fi
unset OLDPWD
export PWD
(
	case $_tsa_outputs in
	one) exec 2>&1 ;;
	both) exec 2>&3 ;;
	out) ;;
	err) exec >/dev/null 2>&3 ;;
	none) exec >/dev/null ;;
	esac
	exec "$@" 3>&-
)
_tsa_code=$?
if [ "$_tsa_code" = 127 ]; then
	case $1 in
	*/*) [ -e "$1" ] || _tsa_end 'noprogram' ;;
	*)
		(
			IFS=:
			set -f
			for _tsa_x in $PATH; do [ ! -e "$_tsa_x/$1" ] || exit 0; done
			exit 1
		) || _tsa_end 'noprogram'
		;;
	esac
fi
_tsa_end "end $_tsa_code"
