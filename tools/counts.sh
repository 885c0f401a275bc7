# counts.sh: how a part of the tests reports what passed.  Sourced, never run.
#
# $counts names a file: a line "PASSED FAILED SKIPPED" a report; $counts.reason
# says why something was skipped.

count() { # PASSED FAILED [SKIPPED]
	echo "$1 $2 ${3:-0}" >>"$counts"
}
skip() { # REASON
	echo "$*" >>"$counts.reason"
	count 0 0 1
}
# counts one check: its name, and the command
check() {
	local name=$1
	shift
	if "$@"; then
		echo "ok - $name"
		count 1 0
	else
		echo "not ok - $name"
		count 0 1
	fi
}
# counts what another program says in its last line: "3 passed, 1 failed[, 2 skipped]"
count_program() {
	local said
	said=$("$@" 2>&1)
	echo "$said"
	if [[ $(tail -n 1 <<<"$said") =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
		count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[4]:-0}"
	else
		echo "not ok - $1 ended without a summary"
		count 0 1
	fi
}
