# common.sh: what the scripts of this folder share.  Sourced, never run.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '%s\n' "$*"; }
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Runs a command.  Says every five seconds that it still runs, and for how long.
say_while() { # WHAT COMMAND…
	local what=$1 started=$SECONDS teller status=0
	shift
	# ends with the script too: Ctrl-C does not reach it
	while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do say "$what: $((SECONDS - started)) s"; done >&2 &
	teller=$!
	"$@" || status=$?
	kill "$teller" 2>/dev/null || true
	wait "$teller" 2>/dev/null || true
	return "$status"
}
into() { "${@:2}" >"$1" 2>&1; } # LOG COMMAND…

# Major version of the PostgreSQL that $PG_CONFIG (or PATH) leads to; fails where there is none.
pg_major() {
	local version
	version=$("${PG_CONFIG:-pg_config}" --version 2>/dev/null) || return 1
	sed -E 's/^[^0-9]*([0-9]+).*/\1/' <<<"$version"
}

# Whether that PostgreSQL has server programs, not libpq alone, and what a library for the server is built with.
# Debian's clients bring PGXS without one header, so headers are looked for themselves.
pg_has_server() { [ -x "$("${PG_CONFIG:-pg_config}" --bindir 2>/dev/null)/postgres" ]; }
pg_has_headers() {
	local config=${PG_CONFIG:-pg_config}
	[ -f "$("$config" --pgxs 2>/dev/null)" ] && [ -f "$("$config" --includedir-server 2>/dev/null)/postgres.h" ]
}
pg_is_complete() { pg_has_server && pg_has_headers; }

# make, without the caller's job server, whose file descriptors the scripts between do not hand on,
# but with its settings (NAME=value).  All output goes where the caller sends it.
run_make() {
	local word
	local -a settings=()
	for word in ${MAKEFLAGS:-}; do
		case $word in
			--*) ;;
			[A-Za-z_]*=*) settings+=("$word") ;;
		esac
	done
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$repo" --no-print-directory "${settings[@]}" "$@"
}

# The programs refuse root: the user that they run as instead, and the command words that make it so.
# Sets run_as (an array, empty for everyone but root).
find_unprivileged_user() {
	local user
	run_as=()
	server_user=$(id -un)
	[ "$(id -u)" -eq 0 ] || return 0
	for user in postgres nobody; do
		id "$user" >/dev/null 2>&1 && server_user=$user && break
	done
	[ "$server_user" != root ] || die 'running as root, and neither postgres nor nobody exists to run a server'
	if command -v setpriv >/dev/null; then
		run_as=(setpriv "--reuid=$server_user" "--regid=$(id -gn "$server_user")" --clear-groups)
	else
		run_as=(runuser -u "$server_user" --)
	fi
}

# First python3 that can import the modules named; prints its path.
find_python() {
	local python module
	for python in python3 /usr/bin/python3 /usr/local/bin/python3; do
		python=$(command -v "$python") || continue
		for module; do
			"$python" -c "import $module" >/dev/null 2>&1 || continue 2
		done
		printf '%s\n' "$python"
		return 0
	done
	return 1
}

# A further server beside tools/with_server's, which ends with that: starts one whose directory, and socket, is DATA.
# Standard input is added to its postgresql.conf.
start_node() { # DATA
	(
		cd "$MGPU_PRIVATE"
		# shellcheck disable=SC2086 # words
		$MGPU_RUN_AS initdb -D "$1" -U postgres -A trust -E UTF8 --no-locale --no-sync >/dev/null
		{
			printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$1'" 'port = 5432' 'fsync = off'
			cat
		} >>"$1/postgresql.conf"
		# shellcheck disable=SC2086
		$MGPU_RUN_AS pg_ctl -D "$1" -l "$1/log" -w start >/dev/null
	)
}
