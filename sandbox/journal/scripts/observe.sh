# Tells the state of an execution and a part of its output.
# Arguments: STATE ID UNTIL OFFSET BLOCK BLOCKS. UNTIL is what to wait for, some
# seconds at most: now, output (beyond OFFSET) or end. Output is returned from
# the BLOCKth 64 KiB on, BLOCKS of them.
# Answers with lines "name value", an empty line, and the output.
_tsa_dir=$1/exec/$2 _tsa_until=$3 _tsa_offset=$4
_tsa_n=0 _tsa_size=0
while :; do
	# In this order: what is dead and left no record is broken, and what is
	# recorded has all its output.
	_tsa_lives=0
	_tsa_running "$_tsa_dir" && _tsa_lives=1
	_tsa_first "$_tsa_dir/exit"
	_tsa_exit=$_tsa_text
	if [ -e "$_tsa_dir/out" ] && [ "$_tsa_until$6" != end0 ]; then
		_tsa_size=$(ls -ln "$_tsa_dir/out" | { read -r _tsa_x _tsa_x _tsa_x _tsa_x _tsa_s _tsa_x; echo "$_tsa_s"; })
	fi
	[ -z "$_tsa_exit" ] && [ "$_tsa_lives" = 1 ] || break
	case $_tsa_until in
	now) break ;;
	output) [ "$_tsa_size" -le "$_tsa_offset" ] || break ;;
	esac
	_tsa_n=$((_tsa_n + 1))
	[ "$_tsa_n" -lt 100 ] || break
	if [ "$_tsa_n" -lt 5 ]; then _tsa_nap 0.005; elif [ "$_tsa_n" -lt 20 ]; then _tsa_nap 0.02; else _tsa_nap 0.1; fi
done
_tsa_boot=-
{ read -r _tsa_boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
_tsa_first "$_tsa_dir/pid"
echo "claim $_tsa_text"
echo "exit $_tsa_exit"
echo "boot $_tsa_boot"
echo "alive $_tsa_lives"
echo "size $_tsa_size"
echo
[ "$6" = 0 ] || [ ! -e "$_tsa_dir/out" ] || dd if="$_tsa_dir/out" bs=65536 skip="$5" count="$6" 2>/dev/null
