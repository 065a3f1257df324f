# Makes what the archive in standard input holds. Argument: ROOT.
scratch
case $(tar --version 2>/dev/null) in
*'GNU tar'*) set -- --warning=no-timestamp --delay-directory-restore ;;
*) set -- ;;
esac
tar -x -p -o -f - "$@" >"$scratch/said" 2>&1 || die system "$(grep -v 'Exiting with failure' "$scratch/said" | head -n 3)"
