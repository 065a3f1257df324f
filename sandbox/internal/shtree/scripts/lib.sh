# Functions of the scripts beside this one, which is put before each of them.
# They need a POSIX shell and the usual small tools, GNU's or busybox's. Names of
# files are arguments or end with NUL, so that they may hold anything.
# The first argument is always the root of the workspace.
unset CDPATH
umask 022

# die KIND TEXT gives up. The kind "system" means that a tool said the text.
die() {
	printf 'tsa:%s:%s\n' "$1" "$2" >&2
	exit 71
}

# try COMMAND... does it, or gives up with what it says.
try() { said=$("$@" 2>&1 >/dev/null) || die system "$said"; }

# need PROGRAM... gives up where one of them is not there.
need() {
	for program; do
		command -v "$program" >/dev/null 2>&1 || die unavailable "the sandbox has no program $program"
	done
}

# gnu: find prints what it is told to.
gnu() { find . -maxdepth 0 -printf '' 2>/dev/null; }

# What is told of a file. With GNU's find: fields, the name, NUL, the target of
# a link, NUL. Else, with stat: the same between marks, as it knows no NUL. A
# name holds no //, and nobody knows the nonce.
told='%y %m %i %s %b %T@ %C@ %p\0%l\0'

# scratch makes a folder for files of this script, and sets it.
scratch() {
	for scratch in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm; do
		scratch=$(mktemp -d "$scratch/tsa.XXXXXX" 2>/dev/null) && break
	done
	[ -n "$scratch" ] || die denied 'there is no folder for temporary files in the sandbox'
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 129' HUP INT TERM
}

# inside: the current folder is in the workspace. cd -P keeps PWD real.
inside() { case $PWD/ in "$root"/*) ;; *) return 1 ;; esac; }

escape() { die escape "$1 is outside the workspace"; }

# A link at PATH is read into target.
read_link() {
	links=$((links + 1))
	[ "$links" -le 64 ] || die invalid 'there are too many links'
	target=$(readlink -n "$1" && echo x) || die system "$1: No such file or directory"
	target=${target%x}
}

# enter PATH MAKE goes to a folder; with MAKE 1 what is missing is made. Once
# there, the shell holds on to the folder itself: what happens to the path after
# that does not matter. Only where the system can't go there at once, it goes
# step by step, to see why.
enter() {
	if cd -P -- "$1" 2>/dev/null; then
		inside || escape "$1"
		return
	fi
	rest=$1
	case $1 in
	/*)
		case $1/ in "$root"/*) ;; *) escape "$1" ;; esac
		rest=${1#"$root"}
		cd -P -- "$root/" 2>/dev/null || die gone "the workspace $root is gone"
		;;
	esac
	while [ -n "$rest" ]; do
		case $rest in
		/*)
			rest=${rest#/}
			continue
			;;
		*/*) part=${rest%%/*} rest=${rest#*/} ;;
		*) part=$rest rest= ;;
		esac
		[ "$part" != . ] || continue
		if [ -L "./$part" ]; then
			read_link "./$part"
			case $target in
			/*)
				if cd -P -- "$target" 2>/dev/null; then
					inside || escape "$target"
					continue
				fi
				case $target/ in "$root"/*) ;; *) escape "$target" ;; esac
				cd -P -- "$root/" 2>/dev/null || die gone "the workspace $root is gone"
				target=${target#"$root"}
				;;
			esac
			rest=$target/$rest
			continue
		fi
		if [ "$2" = 1 ] && [ ! -e "./$part" ]; then
			said=$(mkdir "./$part" 2>&1) || [ -d "./$part" ] || die system "$said"
		fi
		if cd -P -- "./$part" 2>/dev/null; then
			inside || escape "$1"
		elif [ -d "./$part" ]; then
			die denied "the folder $part can't be entered: Permission denied"
		elif [ -e "./$part" ]; then
			die invalid "$part is not a folder"
		else
			die not_found "there is no folder $part"
		fi
	done
}

# place PATH MAKE goes to the folder that holds PATH and sets name, its name
# there; it is . for the workspace itself.
place() {
	path=$1
	while :; do case $path in ?*/) path=${path%/} ;; *) break ;; esac done
	case $path in
	*/*) name=${path##*/} folder=${path%/*}/ ;;
	*) name=$path folder=./ ;;
	esac
	case $name in '' | . | ..) folder=$path/ name=. ;; esac
	enter "$folder" "$2"
	if [ "$name" = . ] && [ "$PWD" != "${root:-/}" ]; then
		name=${PWD##*/}
		cd -P .. || die denied "$PWD/.. can't be entered"
	fi
}

# follow MAKE goes on to where a link leads that is at the end.
follow() {
	while [ -L "./$name" ]; do
		read_link "./$name"
		place "$target" "$1"
	done
}

there() { [ -e "./$name" ] || [ -L "./$name" ]; }

not_root() { [ "$name" != . ] || die invalid 'it is the workspace itself'; }

links=0
root=$1
shift
cd -P -- "$root" 2>/dev/null || die gone "the workspace $root is gone"
root=${PWD%/}
