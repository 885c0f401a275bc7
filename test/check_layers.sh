#!/usr/bin/env bash
# Checks the layers of the tree: who includes what, and which symbols cross.
#
#	test/check_layers.sh		after a build; prints what is wrong, exits 1 if anything is
#
#	src/core	libc and itself (Highway in the C++ files)
#	kernels		core, CUDA, CUB, the C and C++ libraries; its folders what is below them
#	src			postgres.h first, then PostgreSQL and core; never kernels or a CUDA header
#
# Inside src an include stays in its folder or goes to one further left in $folders.
# No header includes itself by way of others.
#
# The library exports what PostgreSQL looks up by name and nothing else, and the
# core's archive asks for no name of PostgreSQL or CUDA.
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0
failed=0

check() { # DESCRIPTION, findings on stdin: none is a pass
	local findings
	findings=$(cat)
	if [ -z "$findings" ]; then
		passed=$((passed + 1))
		printf 'ok      %s\n' "$1"
	else
		failed=$((failed + 1))
		printf 'FAILED  %s\n' "$1"
		sed 's/^/          /' <<<"$findings"
	fi
}

# FILE:LINE:HEADER of every include in the files named
includes() {
	[ $# -gt 0 ] || return 0
	grep -HnE '^[[:space:]]*#[[:space:]]*include' "$@" |
		sed -E 's/^([^:]*:[0-9]+:)[[:space:]]*#[[:space:]]*include[[:space:]]*([<"][^>"]*[>"]).*/\1\2/'
}
# of those, the lines whose header does not match the pattern
all_but() { grep -vE ":[0-9]+:($1)\$"; }
shopt -s nullglob lastpipe
libc='<(assert|ctype|errno|fcntl|float|inttypes|limits|locale|math|pthread|sched|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|threads|time|unistd|(sys|linux)/[a-z_]+|[a-z]*intrin)\.h>'
libcxx='<[a-z_]+>'
core_headers=$(cd src/core && printf '%s|' *.h cpu/*.h cpu/table/*.h program/*.h service/*.h | sed 's/\./\\./g; s/|$//')

includes src/core/*.[ch] src/core/cpu/*.[ch] src/core/cpu/table/*.[ch] src/core/program/*.[ch] src/core/service/*.[ch] | all_but "$libc|\"(core/)?($core_headers)\"" |
	check 'src/core, C: libc and core headers alone'
includes src/core/*.[ch] src/core/*.cpp src/core/program/*.[ch] src/*.[ch] | grep -F '"core/cpu/' |
	check 'src/core/cpu: its headers are its own'
includes src/core/*.cpp | all_but "$libc|$libcxx|<hwy/[a-z0-9_/-]+\.h>|\"(core/)?($core_headers)\"" |
	check 'src/core, C++: the same, and Highway'

includes $(find kernels -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp') |
	all_but "$libc|$libcxx|<(cub|thrust|cuda|nv)/[a-z0-9_/]+(\.cuh|\.h)?>|<(cuda|cuda_runtime|cuda_runtime_api|device_launch_parameters|cooperative_groups)(\.h)?>|<(cooperative_groups)/[a-z0-9_/]+\.h>|\"[a-z0-9_./]+\.(h|cuh|inc)\"" |
	check 'kernels: no headers but C, C++, CUDA and CUB'
includes $(find kernels -name '*.c*' -o -name '*.h') | grep -iE 'postgres|fmgr|"(\.\./)?src/[a-z_]+\.h"' |
	check 'kernels: nothing of PostgreSQL'

# inside kernels: engine -> segmented -> sort -> device, engine -> merge -> device, engine -> group -> device
for folders in 'device device' 'sort device|sort' 'segmented device|sort|segmented' 'merge device|merge' 'group device|group'; do
	includes kernels/"${folders%% *}"/*.* | grep '"' | all_but "\"(core|${folders##* })/[a-z0-9_]+\.(h|cuh)\""
done | check 'kernels: folders include what is below them'

mapfile -t sources < <(find src -name '*.[ch]' -not -path 'src/core/*' | sort)
includes "${sources[@]}" | grep -E '[<"/](cuda|cub|thrust|hwy|kernels)[/._a-z]' |
	check 'src: no kernel, CUDA or Highway header'
for file in "${sources[@]}"; do
	[[ $file == *.h ]] || includes "$file" | head -n 1 | grep -v '"postgres\.h"$'
done | check 'src: postgres.h is the first include of every .c file'
includes "${sources[@]}" | grep -E '\.h:[0-9]+:"postgres\.h"' | check 'src: no header includes postgres.h'

# from the bottom up; mgpu_pg.c, the module, is above all of them
folders='core . service array run keys order merge batch expr scan sql agg query exec index'
includes "${sources[@]}" | grep -v '^src/mgpu_pg\.c:' | awk -F: -v folders="$folders" '
	BEGIN { split(folders, names, " "); for (i in names) rank[names[i]] = i + 0 }
	function folder(path) { return path ~ "/" ? substr(path, 1, index(path, "/") - 1) : "." }
	{
		to = $3; gsub(/"/, "", to); from = $1; sub(/^src\//, "", from)
		if ($3 !~ /^"/ || to == "postgres.h" || system("test -f src/" to) != 0) next
		if (!(folder(from) in rank)) print $1 ": its folder has no place in the order"
		else if (rank[folder(to)] > rank[folder(from)]) print $0
	}' | check "src: includes go one way ($folders)"
for tree in src kernels; do
	includes $(find "$tree" -name '*.h' -o -name '*.cuh') | sed -E 's/:[0-9]+:/ /; s/[<>"]//g' |
		awk -v tree="$tree" '{ from = $1; sub("^" tree "/", "", from); print from, $2 }' |
		tsort 2>&1 >/dev/null
done | check 'no header includes itself by way of others'

# -------------------------------------------------------------------- symbols

archive=build/libmgpu_core.a
if [ -f "$archive" ]; then
	nm -u "$archive" | awk 'NF == 2 && $1 == "U" {print $2}' | sort -u >build/core.undefined
	# names of PostgreSQL: what its server program itself defines
	postgres=$("${PG_CONFIG:-pg_config}" --bindir)/postgres
	nm -D --defined-only "$postgres" | awk '{sub(/@.*/, "", $3); print $3}' | sort -u >build/postgres.defined
	# the C++ runtime and libm are no business of PostgreSQL's, though its program may define some too
	comm -12 build/core.undefined build/postgres.defined | grep -vE '^(_|environ|std)' |
		check "$archive asks for no symbol of PostgreSQL"
	grep -E '^(cuda|cu[A-Z]|__cuda|cub|nv)' build/core.undefined |
		check "$archive asks for no symbol of CUDA"
	nm --defined-only --extern-only "$archive" | awk 'NF == 3 && $2 !~ /[VWu]/ {print $3}' | grep -vE '^mgpu_' |
		check "$archive defines mgpu_ names alone"
else
	echo "no $archive" | check 'the core archive is built'
fi

if [ -f mgpu_pg.so ]; then
	functions=$(sed -n 's/^PG_FUNCTION_INFO_V1(\([a-z0-9_]*\)).*/\1/p; s/^extern PGDLLEXPORT void \([a-z0-9_]*\)(.*/\1/p' \
		"${sources[@]}" | sort -u)
	nm -D --defined-only mgpu_pg.so | awk '{sub(/@.*/, "", $3); print $3}' |
		grep -vE '^(Pg_magic_func|_PG_init|pg_finfo_[a-z0-9_]+)$' | grep -vxF "$functions" |
		check 'mgpu_pg.so exports what PostgreSQL looks up, and no more'
	# and the other way round: every function that the SQL script names is there
	sed -n "s/.*'MODULE_PATHNAME', *'\([a-z0-9_]*\)'.*/\1/p" sql/mgpu_pg--*.sql | sort -u |
		grep -vxF "$(nm -D --defined-only mgpu_pg.so | awk '{print $3}')" |
		check 'mgpu_pg.so exports every function that the SQL scripts name'
	nm -D -u mgpu_pg.so | awk '{print $2}' | grep '^mgpu_' |
		check 'mgpu_pg.so leaves none of its own names undefined'
	readelf -d mgpu_pg.so | grep NEEDED | grep -iE 'libcuda|libcudart|libnv' |
		check 'mgpu_pg.so needs no CUDA library to load'
else
	echo 'no mgpu_pg.so' | check 'the library is built'
fi

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
