# Lists executions. Arguments: STATE PREFIX RUNNING; 1 leaves out what ended.
# Answers with lines: "boot ID", and for each "id ID", "claim LINE", "exit LINE",
# "alive 0|1" and, if it was not claimed, "changed SECONDS".
_tsa_boot=-
{ read -r _tsa_boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
echo "boot $_tsa_boot"
for _tsa_dir in "$1/exec/$2"*; do
	[ -d "$_tsa_dir" ] || continue
	[ "$3" = 0 ] || [ ! -e "$_tsa_dir/exit" ] || continue
	# Dead or alive before recorded or not: see observe.sh.
	_tsa_lives=0
	[ -e "$_tsa_dir/exit" ] || { _tsa_running "$_tsa_dir" && _tsa_lives=1; }
	echo "id ${_tsa_dir##*/}"
	_tsa_first "$_tsa_dir/exit"
	echo "exit $_tsa_text"
	_tsa_first "$_tsa_dir/pid"
	echo "claim $_tsa_text"
	echo "alive $_tsa_lives"
	[ -n "$_tsa_text" ] || echo "changed $(date -r "$_tsa_dir" +%s 2>/dev/null)"
done
