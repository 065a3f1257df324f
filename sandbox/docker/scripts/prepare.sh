# Makes a new container fit to work in, as root. Arguments: ROOT USER, where USER
# is whom commands run as, empty for root. Answers with the real path of the root,
# and the programs that are not there.
mkdir -p "$1" || exit 1
for dir in /tmp /var/tmp; do
	[ -d "$dir" ] || { mkdir -p "$dir" && chmod 1777 "$dir"; }
done
if [ -n "$2" ]; then
	name=${2%%:*} group=
	case $2 in *:*) group=${2#*:} ;; esac
	if [ -z "$group" ]; then
		group=$(id -g "$name" 2>/dev/null) || group=0
	fi
	chown "$name:$group" "$1" || exit 1
fi
cd -P -- "$1" || exit 1
printf '%s\n' "$PWD"
for program in find xargs tar sha256sum readlink stat grep; do
	command -v "$program" >/dev/null 2>&1 || printf '%s\n' "$program"
done
exit 0
