"""Measures mgpu_pg against PostgreSQL and its peers in one run.

Started by test/bench/bench.  Statements of one group run in turn, round after
round, in one session, so that drift of the machine meets all of them; medians
are compared.  Writes a CSV with what was measured where, and a plot of it when
matplotlib is there.
"""

import argparse
import csv
import datetime
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

# ---------------------------------------------------------------- what to measure
#
# Each line compares one statement of ours with a baseline: the sum of the named
# measurements of its group.  ratio = baseline / ours; the goal is its least value.

RANDOM = {
    'int4': '(random() * 4294967295 - 2147483648)::int4',
    'int8': '((random() - 0.5) * 1.8e19)::int8',
    # one in a hundred is -0, one NaN
    'float8': "CASE (random() * 100)::int WHEN 7 THEN '-0' WHEN 8 THEN 'NaN' ELSE (random() - 0.5) * 1e9 END::float8",
}


def stored(table, element, millions):
    """SQL that makes a table with one stored array.  array_agg ends at 2^26 elements, so halves are joined."""
    parts = 2 if millions > 60 else 1
    half = int(millions * 1e6 / parts)
    pieces = ' || '.join(f'(SELECT array_agg({RANDOM[element]}) FROM generate_series(1, {half}))' for _ in range(parts))
    return (f'CREATE TABLE {table} (a {element}[]); ALTER TABLE {table} ALTER a SET STORAGE EXTERNAL;'
            f'INSERT INTO {table} SELECT {pieces}; CHECKPOINT;')


def ordered(table, what='x', order='x'):
    return f'SELECT cardinality((SELECT array_agg({what} ORDER BY {order}) FROM unnest(a) WITH ORDINALITY u(x, o))) FROM {table}'


def large_group(scale):
    n = 10 * scale
    read = 'SELECT cardinality(a) FROM {}'
    sort = 'SELECT cardinality(mgpu_sort(a)) FROM {}'
    return {
        'name': '10M stored',
        'setup': stored('big4', 'int4', n) + stored('big8', 'int8', n) + stored('bigf', 'float8', n),
        'vqsort': 'big4',
        'statements': {
            'read int4': read.format('big4'),
            'sort int4': sort.format('big4'),
            'sort int8': sort.format('big8'),
            'sort float8': sort.format('bigf'),
            'argsort int4': 'SELECT cardinality(mgpu_argsort(a)) FROM big4',
            'sort_by int8 by int4': 'SELECT cardinality(mgpu_sort_by(v.a, k.a)) FROM big4 k, big8 v',
            'intarray sort int4': 'SELECT cardinality(sort(a)) FROM big4',
            'array_agg int4': 'SELECT cardinality((SELECT array_agg(x ORDER BY x) FROM unnest(a) x)) FROM big4',
            'array_agg int8': 'SELECT cardinality((SELECT array_agg(x ORDER BY x) FROM unnest(a) x)) FROM big8',
            'array_agg float8': 'SELECT cardinality((SELECT array_agg(x ORDER BY x) FROM unnest(a) x)) FROM bigf',
            'array_agg positions': ordered('big4', 'o::int', 'x, o'),
            'array_agg by key': 'SELECT cardinality((SELECT array_agg(v ORDER BY x, o) FROM unnest(k.a, v.a) WITH ORDINALITY u(x, v, o))) FROM big4 k, big8 v',
        },
        'lines': [
            ('sort int4', ['read int4', 'bare vqsort'], 'reading the array and a bare vqsort', 1.0),
            ('sort int4', ['intarray sort int4'], 'intarray sort(a)', 10),
            ('sort int4', ['array_agg int4'], 'array_agg(x ORDER BY x)', 10),
            ('sort int8', ['array_agg int8'], 'array_agg(x ORDER BY x)', 10),
            ('sort float8', ['array_agg float8'], 'array_agg(x ORDER BY x)', 10),
            ('argsort int4', ['array_agg positions'], 'array_agg(position ORDER BY x, position)', 8),
            ('sort_by int8 by int4', ['array_agg by key'], 'array_agg(v ORDER BY k, position)', 8),
        ],
    }


def small_group(scale, length, goal):
    rows = int(1_000_000 * scale)
    table = f'small{length}'
    elements = ', '.join(f'hashint4(g * {length} + {i})' for i in range(length))
    return {
        'name': f'1M small arrays of {length}',
        'setup': f'CREATE TABLE {table} AS SELECT ARRAY[{elements}] AS a FROM generate_series(1, {rows}) g; VACUUM ANALYZE {table};',
        'statements': {
            'read': f'SELECT count(a[1]) FROM {table}',
            'sort': f'SELECT count(mgpu_sort(a)) FROM {table}',
            'argsort': f'SELECT count(mgpu_argsort(a)) FROM {table}',
            'intarray sort': f'SELECT count(sort(a)) FROM {table}',
        },
        'lines': [
            ('sort', ['intarray sort'], 'intarray sort(a)', goal),
            ('argsort', ['intarray sort'], 'intarray sort(a)', goal / 2),
        ],
    }


# Merge, bulk changes, segments and locality sort on ten million int4.  A statement reads stored
# arrays and returns one; "(executor)" is mgpu_last_run()'s kernel_ms, the work alone.  Bulk changes
# and locality sorts have none on the CPU: they are done while the array is read.  memcpy copies as many bytes as the
# result has, between warm buffers.

def family_table(table, columns):
    """SQL that makes a one-row table of stored int4 arrays: columns are names and expressions."""
    types = ', '.join(f'{name} int4[]' for name in columns)
    storage = ', '.join(f'ALTER {name} SET STORAGE EXTERNAL' for name in columns)
    return f'CREATE TABLE {table} ({types}); ALTER TABLE {table} {storage}; INSERT INTO {table} SELECT {", ".join(columns.values())}; CHECKPOINT;'


def merge_group(scale, executor):
    half = int(5e6 * scale)
    table = f'merge_{executor}'
    sorted_half = f'(SELECT mgpu_sort(array_agg({RANDOM["int4"]})) FROM generate_series(1, {half}))'
    return {
        'name': f'{executor}: merge of two 5M int4',
        'settings': f'SET mgpu.executor = {executor};',
        'setup': family_table(table, {'a': sorted_half, 'b': sorted_half}),
        'memcpy': 2 * half * 4,
        'kernels': ['merge'],
        'statements': {
            'read': f'SELECT cardinality(a) + cardinality(b) FROM {table}',
            'merge': f'SELECT cardinality(mgpu_merge(a, b)) FROM {table}',
            'array_agg': f'SELECT cardinality((SELECT array_agg(x ORDER BY x) FROM (SELECT unnest(a) UNION ALL SELECT unnest(b)) u(x))) FROM {table}',
        },
        'lines': [
            ('merge', ['array_agg'], 'array_agg(x ORDER BY x) over both unnested', 20),
            ('merge', ['read', 'memcpy'], 'reading both and a memcpy of the result', 0.5),
            ('merge (executor)', ['memcpy'], 'a memcpy of the result', 0.5),
        ],
    }


def bulk_group(scale, executor):
    n = int(1e7 * scale)
    table = f'bulk_{executor}'
    own = 'SELECT x, o, 1 AS own, 0::bigint AS i FROM unnest(a) WITH ORDINALITY u(x, o)'
    return {
        'name': f'{executor}: bulk, 1M of 10M int4',
        'settings': f'SET mgpu.executor = {executor};',
        'setup': family_table(table, {'a': f'(SELECT array_agg({RANDOM["int4"]}) FROM generate_series(1, {n}))',
                                      'p': f'ARRAY(SELECT i * 10 - (random() * 9)::int FROM generate_series(1, {n // 10}) i)',
                                      'v': f'ARRAY(SELECT generate_series(1, {n // 10}))'}),
        'memcpy': n * 4,
        'statements': {
            'read': f'SELECT cardinality(a) + cardinality(p) FROM {table}',
            'read more': f'SELECT cardinality(a) + cardinality(p) + cardinality(v) FROM {table}',
            'remove': f'SELECT cardinality(mgpu_bulk_remove(a, p)) FROM {table}',
            'insert': f'SELECT cardinality(mgpu_bulk_insert(a, p, v)) FROM {table}',
            'plain remove': f'SELECT cardinality((SELECT array_agg(x ORDER BY o) FROM unnest(a) WITH ORDINALITY u(x, o) WHERE o NOT IN (SELECT unnest(p)))) FROM {table}',
            'plain insert': f'SELECT cardinality((SELECT array_agg(x ORDER BY o, own, i) FROM ({own} UNION ALL SELECT y, at, 0, i FROM unnest(p, v) WITH ORDINALITY w(at, y, i)) t)) FROM {table}',
        },
        'lines': [
            ('remove', ['plain remove'], 'array_agg over unnest WITH ORDINALITY', 20),
            ('insert', ['plain insert'], 'array_agg over unnest WITH ORDINALITY', 20),
            ('remove', ['read', 'memcpy'], 'reading both and a memcpy of 10M', 0.333),
            ('insert', ['read more', 'memcpy'], 'reading all and a memcpy of 10M', 0.333),
        ],
    }


def segsort_group(scale, executor):
    n = int(1e7 * scale)
    table = f'segments_{executor}'
    return {
        'name': f'{executor}: 10M int4, segments of 100',
        'settings': f'SET mgpu.executor = {executor};',
        'setup': family_table(table, {'a': f'(SELECT array_agg({RANDOM["int4"]}) FROM generate_series(1, {n}))',
                                      'heads': f'ARRAY(SELECT i FROM generate_series(2, {n}) i WHERE random() < 0.01)'}),
        'vqsort': table,
        'kernels': ['segsort'],
        'statements': {
            'read': f'SELECT cardinality(a) + cardinality(heads) FROM {table}',
            'segsort': f'SELECT cardinality(mgpu_segsort(a, heads)) FROM {table}',
            'sort': f'SELECT cardinality(mgpu_sort(a)) FROM {table}',
        },
        'lines': [
            ('segsort', ['read', 'bare vqsort'], 'reading both and a bare vqsort of all', 1.0),
            ('segsort (executor)', ['bare vqsort'], 'a bare vqsort of all', 1.0),
            ('segsort', ['sort'], 'mgpu_sort of all', 1.0),
        ],
    }


def locality_group(scale, executor):
    n = int(1e7 * scale)
    table = f'nearly_{executor}'
    alone = [('locality (executor)', ['sort (executor)'], 'mgpu_sort of the same, algorithm auto', 2)]
    return {
        'name': f'{executor}: 10M int4, nearly sorted',
        'settings': f'SET mgpu.executor = {executor};',
        # each at most 64 places from its own
        'setup': family_table(table, {'a': f'(SELECT array_agg(i + (random() * 64)::int) FROM generate_series(1, {n}) i)'}),
        'kernels': ['locality', 'sort'] if executor == 'gpu' else [],
        'statements': {
            'read': f'SELECT cardinality(a) FROM {table}',
            'locality': f'SELECT cardinality(mgpu_locality_sort(a)) FROM {table}',
            'sort': f'SELECT cardinality(mgpu_sort(a)) FROM {table}',
        },
        'lines': [
            ('locality', ['sort'], 'mgpu_sort of the same, algorithm auto', 2),
        ] + (alone if executor == 'gpu' else []),
    }


def family_groups(scale, executor):
    return [make(scale, executor) for make in (merge_group, bulk_group, segsort_group, locality_group)]


# Types whose elements are byte strings, or become such, and uuid: name, column, element, millions,
# goals on the CPU and on a GPU.  Those of AGGREGATED are sorted as rows too, with the same goals.

WORDS = "substr(translate(md5(i::text), '0123456789', 'ghijklmnop'), 1, 4 + i % 7)"
COLLATIONS = ''.join(f"CREATE COLLATION IF NOT EXISTS {name} (provider = libc, locale = '{locale}.UTF-8');"
                     for name, locale in (('english', 'en_US'), ('code_points', 'C')))
TYPES = [
    ('text of 12 bytes, C', 'text[] COLLATE "C"', "substr(md5(i::text), 1, 12)", 10, 4, 8),
    ('uuid', 'uuid[]', 'md5(i::text)::uuid', 10, 8, 15),
    ('numeric', 'numeric[]', '((random() - 0.5) * 1e9)::numeric(14, 3)', 10, 4, 4),
    ('URLs, 30 common bytes', 'text[] COLLATE "C"', "'https://www.example.org/items/' || i::bigint * 48271 % 2147483647", 5, 3, 3),
    ('words, ICU', 'text[] COLLATE "en-x-icu"', WORDS, 5, 2, 2),
    ('words, en_US.UTF-8', 'text[] COLLATE english', WORDS, 5, 1.7, 1.7),
    ('words, C.UTF-8', 'text[] COLLATE code_points', WORDS, 5, 4, 4),
    ('inet', 'inet[]', "'0.0.0.0'::inet + i::bigint * 48271 % 4294967295", 5, 3, 3),
]


AGGREGATED = ('text of 12 bytes, C', 'numeric')


def type_group(number, scale, executors):
    title, column, element, millions, *goals = TYPES[number]
    table = f'types{number}'
    sort = 'SET mgpu.executor = {}; SELECT cardinality(mgpu_sort(a)) FROM {}'
    group = {
        'name': f'types: {millions}M {title}',
        'setup': f'{COLLATIONS} CREATE TABLE {table} (a {column}); ALTER TABLE {table} ALTER a SET STORAGE EXTERNAL;'
                 f'INSERT INTO {table} SELECT array_agg({element}) FROM generate_series(1, {int(millions * 1e6 * scale)}) i; CHECKPOINT;',
        'statements': {
            'read': f'SELECT cardinality(a) FROM {table}',
            **{f'sort, {executor}': sort.format(executor, table) for executor in executors},
            'array_agg': f'SELECT cardinality((SELECT array_agg(x ORDER BY x) FROM unnest(a) x)) FROM {table}',
        },
        'lines': [(f'sort, {executor}', ['array_agg'], 'array_agg(x ORDER BY x)', goal)
                  for executor, goal in zip(executors, goals)],
    }
    if title in AGGREGATED:
        group['setup'] += f'CREATE TABLE {table}_rows AS SELECT x FROM {table}, unnest(a) x; VACUUM ANALYZE {table}_rows; CHECKPOINT;'
        for executor, goal in zip(executors, goals):
            group['statements'][f'sort_agg, {executor}'] = \
                f'SET mgpu.executor = {executor}; SELECT cardinality(mgpu_sort_agg(x)) FROM {table}_rows'
            group['lines'].append((f'sort_agg, {executor}', ['array_agg of rows'], 'array_agg(x ORDER BY x) of rows', goal))
        group['statements']['array_agg of rows'] = f'SELECT cardinality(array_agg(x ORDER BY x)) FROM {table}_rows'
    return group


def type_groups(scale, gpu):
    executors = ['cpu', 'gpu'] if gpu else ['cpu']
    return [type_group(number, scale, executors) for number in range(len(TYPES))]


def gpu_groups(scale):
    groups = []
    for element, millions, goal in (('int4', 10, 1.25), ('int4', 100, 1.12), ('float8', 50, 1.12)):
        table = f'gpu_{element}_{millions}'
        groups.append({
            'name': f'GPU {millions}M {element}',
            'settings': 'SET mgpu.executor = gpu;',
            'setup': stored(table, element, millions * scale),
            'statements': {
                'read': f'SELECT cardinality(a) FROM {table}',
                'sort': f'SELECT cardinality(mgpu_sort(a)) FROM {table}',
            },
            'lines': [('sort', ['read'], 'reading the array (cardinality)', goal)],
        })
    return groups


# ---------------------------------------------------------------------- a session

class Session:
    """A psql that stays, with server and client time of each statement in ms."""

    def __init__(self, database=None):
        where = ['-d', database] if database else []
        self.process = subprocess.Popen(['psql', '-XAtq', '-v', 'VERBOSITY=terse'] + where, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.run('\\timing on')
        self.pid = int(self.run('SELECT pg_backend_pid();')[0])

    def run(self, sql):
        """Output lines and milliseconds of the statement (the last, if several)."""
        self.process.stdin.write(sql + '\n\\echo _end_\n')
        self.process.stdin.flush()
        lines, ms = [], None
        for line in self.process.stdout:
            line = line.rstrip('\n')
            if line == '_end_':
                break
            timing = re.match(r'Time: ([0-9.]+) ms', line)
            if timing:
                ms = float(timing.group(1))
            elif line.startswith('ERROR'):
                sys.exit(f'{line}\n  of: {sql[:200]}')
            else:
                lines.append(line)
        else:
            sys.exit(f'the session ended in: {sql[:200]}')
        return '\n'.join(lines), ms

    def peak_mb(self):
        with open(f'/proc/{self.pid}/status', encoding='ascii') as status:
            return int(re.search(r'VmHWM:\s+(\d+) kB', status.read()).group(1)) / 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def one_value(sql):
    return subprocess.run(['psql', '-XAtqc', sql], check=True, capture_output=True, text=True).stdout.strip()


def table_exists(name):
    return one_value(f"SELECT to_regclass('bench.{name}') IS NOT NULL") == 't'


# -------------------------------------------------------------------- measurements

class Results:
    def __init__(self):
        self.rows = []

    def add(self, group, ours, baseline, executor, unit, our_value, base_value, goal):
        """A line: ratio = baseline / ours, met when at least the goal."""
        ratio = base_value / our_value if our_value > 0 else float('inf')
        met = ratio >= goal
        self.rows.append([group, ours, baseline, executor, unit, f'{our_value:.2f}', f'{base_value:.2f}',
                          f'{ratio:.2f}', f'{goal:g}', 'met' if met else 'not met'])
        print(f'{group:22} {ours:22} {our_value:10.1f} {unit:3}  vs {baseline:42} {base_value:10.1f}  '
              f'{ratio:7.2f} x   goal {goal:g} x: {"met" if met else "NOT MET"}  [{executor}]', flush=True)


IN_EXECUTOR = ' (executor)'


# Statements that take less are run once more, untimed, before each run that counts.
SHORT_MS = 1000


def measure(session, statements, rounds, kernels=()):
    """Median ms of each statement over alternating rounds, after one round that warms up.

    A virtual machine may have given memory that lay unused for seconds, while a long statement ran, back to
    its host; the next one to use it would pay for that, whichever it is (80 ms for 80 MB have been seen).
    """
    times = {name: [] for name in statements}
    times.update({name + IN_EXECUTOR: [] for name in kernels})
    warm = {}
    for turn in range(rounds + 1):
        for name, sql in statements.items():
            if warm.get(name, SHORT_MS) < SHORT_MS:
                session.run(sql + ';')
            _, ms = session.run(sql + ';')
            warm[name] = ms
            if turn > 0:
                times[name].append(ms)
            if turn > 0 and name in kernels:
                times[name + IN_EXECUTOR].append(float(session.run('SELECT kernel_ms FROM mgpu_last_run();')[0]))
    return {name: statistics.median(values) for name, values in times.items()}


def executor_of(session, sql):
    session.run(sql + ';')
    answer, _ = session.run("SELECT executor || ' ' || algorithm FROM mgpu_last_run();")
    return answer


def bare_vqsort(program, table, rounds):
    copy = subprocess.Popen(['psql', '-Xqc', f'COPY (SELECT a FROM bench.{table}) TO STDOUT (FORMAT binary)'],
                            stdout=subprocess.PIPE)
    answer = subprocess.run([program, str(rounds)], stdin=copy.stdout, check=True, capture_output=True, text=True)
    copy.wait()
    return float(answer.stdout.split()[0])


def bare_memcpy(program, num_bytes, rounds):
    answer = subprocess.run([program, '--memcpy', str(num_bytes), str(rounds)], check=True, capture_output=True, text=True)
    return float(answer.stdout.split()[0])


def run_group(group, options, results):
    print(f'-- {group["name"]}: making the data', flush=True)
    session = Session()
    session.run('SET client_min_messages = warning; SET search_path = bench, public; SELECT setseed(0.5);')
    session.run(group['setup'])
    session.run('SET max_parallel_workers_per_gather = 0; SET jit = off; SET work_mem = \'1GB\';' + group.get('settings', ''))
    statements = {name: sql for name, sql in group['statements'].items()
                  if options.intarray or 'intarray' not in name}
    medians = measure(session, statements, options.rounds, group.get('kernels', ()))
    if group.get('vqsort'):
        medians['bare vqsort'] = bare_vqsort(options.vqsort, group['vqsort'], options.rounds)
    if group.get('memcpy'):
        medians['memcpy'] = bare_memcpy(options.vqsort, group['memcpy'], options.rounds)
    for ours, baseline, title, goal in group['lines']:
        if all(name in medians for name in baseline):
            results.add(group['name'], ours, title, executor_of(session, statements[ours.removesuffix(IN_EXECUTOR)]), 'ms',
                        medians[ours], sum(medians[name] for name in baseline), goal)
    for name in medians:
        results.rows.append([group['name'], name, '', '', 'ms', f'{medians[name]:.2f}', '', '', '', ''])
    session.close()


def run_first_call(options, results):
    """A session's first call on the GPU against a warm one and what its context costs.

    A driver without persistence mode lets go of a device when its last process ends, and brings it up again for the
    next one; while that last process is still on its way out, the next one finds it up.  So both kinds of session do
    the same things, and begin when the one before is gone for good.
    """
    def fresh_session():
        time.sleep(1)
        session = Session()
        session.run('SET search_path = bench, public; SET mgpu.executor = gpu;')
        session.run('SELECT cardinality(a) FROM gpu_int4_10;')
        return session

    first, warm, context = [], [], []
    for _ in range(options.rounds):
        session = fresh_session()
        first.append(session.run('SELECT cardinality(mgpu_sort(a)) FROM gpu_int4_10;')[1])
        warm.append(session.run('SELECT cardinality(mgpu_sort(a)) FROM gpu_int4_10;')[1])
        session.close()
        session = fresh_session()
        context.append(session.run('SELECT count(*) FROM mgpu_device_info();')[1])
        session.close()
    results.add('GPU first call', 'first sort of a session', 'a warm one + a context (mgpu_device_info)', 'gpu', 'ms',
                statistics.median(first), statistics.median(warm) + statistics.median(context), 0.9)


def run_memory(options, results, executor, table, megabytes):
    """Peak of one call, against input + result + 64 MB.  Shared buffers that the call maps count in both."""
    session = Session()
    session.run(f'SET search_path = bench, public; SET mgpu.executor = {executor};')
    # map the shared buffers that hold the array, and set up what lasts for the session
    session.run(f'SELECT sum(length(chunk_data)) FROM {toast_of(table)};')
    session.run('SELECT cardinality(mgpu_sort(array_agg(i))) FROM generate_series(1, 100000) i;')
    before = session.peak_mb()
    session.run(f'SELECT cardinality(mgpu_sort(a)) FROM {table};')
    grown = max(session.peak_mb() - before, 0.1)
    results.add('peak memory', f'sort {table}', 'input + result + 64 MB', executor, 'MB', grown, 2 * megabytes + 64, 1.0)
    session.close()


def toast_of(table):
    return one_value(f"SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'bench.{table}'::regclass")


# ------------------------------------------------------------------------- output

def processor():
    with open('/proc/cpuinfo', encoding='utf-8') as info:
        names = re.findall(r'^model name\s*: (.*)$', info.read(), re.M)
    return f'{names[0] if names else platform.processor()}, {os.cpu_count()} cores'


def describe(options, gpu):
    driver = subprocess.run(['nvidia-smi', '--query-gpu=driver_version', '--format=csv,noheader'],
                            capture_output=True, text=True).stdout.split('\n')[0] if gpu and shutil.which('nvidia-smi') else ''
    return {
        'date': datetime.date.today().isoformat(),
        'machine': f'{platform.system()} {platform.release()} {platform.machine()}',
        'processor': processor(),
        'PostgreSQL': one_value('SHOW server_version'),
        'GPU': gpu or 'none',
        'driver': driver or '-',
        'tree': options.tree,
        'rounds': options.rounds,
        'scale': options.scale,
    }


COLUMNS = ['group', 'ours', 'baseline', 'executor', 'unit', 'value', 'baseline_value', 'ratio', 'goal', 'met']


def write_csv(path, facts, columns, rows):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'w', encoding='utf-8', newline='') as out:
        for name, value in facts.items():
            out.write(f'# {name}: {value}\n')
        writer = csv.writer(out, lineterminator='\n')
        writer.writerow(columns)
        writer.writerows(rows)


def write_plot(csv_path):
    """The statements that the CSV has beside PostgreSQL's own."""
    try:
        import plots
    except ImportError:
        print('no matplotlib here: no plot')
        return
    plots.draw(csv_path, csv_path.removesuffix('.csv') + '.png')


def option_parser():
    """What test/bench/bench hands on, for this program and two_builds.py."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--vqsort', required=True)
    parser.add_argument('--tree', default='unknown')
    parser.add_argument('--name')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--scale', type=float, default=1.0)
    parser.add_argument('--only', default='')
    parser.add_argument('--out', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'))
    return parser


def begin(options):
    """Makes the schema of the data.  The GPU's name, or '', and what the results are headed by."""
    one_value('SET client_min_messages = warning; DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench;'
              'CREATE EXTENSION IF NOT EXISTS mgpu_pg')
    gpu = one_value('SELECT name FROM mgpu_device_info() ORDER BY ordinal LIMIT 1')
    facts = describe(options, gpu)
    for name, value in facts.items():
        print(f'{name}: {value}')
    return gpu, facts


def is_chosen(group, options):
    return re.search(options.only, group['name']) is not None


def result_path(options, gpu, ending):
    os.makedirs(options.out, exist_ok=True)
    name = options.name or (re.sub(r'[^a-z0-9]+', '-', gpu.lower()) if gpu else 'cpu')
    return os.path.join(options.out, name + ending)


def main():
    options = option_parser().parse_args()
    gpu, facts = begin(options)
    options.intarray = one_value("SELECT count(*) FROM pg_available_extensions WHERE name = 'intarray'") == '1'
    if options.intarray:
        one_value('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS intarray')
    else:
        print('no intarray here: its lines are left out')

    results = Results()
    groups = [large_group(options.scale), small_group(options.scale, 100, 1.0), small_group(options.scale, 10, 1.0)]
    groups += type_groups(options.scale, gpu)
    groups += family_groups(options.scale, 'cpu')
    if gpu:
        groups += gpu_groups(options.scale) + family_groups(options.scale, 'gpu')
    else:
        print('no GPU here: its lines are left out')
    for group in groups:
        if is_chosen(group, options):
            run_group(group, options, results)
    if gpu and table_exists('gpu_int4_10'):
        run_first_call(options, results)
        run_memory(options, results, 'gpu', 'gpu_int4_10', 40 * options.scale)
    if table_exists('big4'):
        run_memory(options, results, 'cpu', 'big4', 40 * options.scale)
        run_memory(options, results, 'cpu', 'bigf', 80 * options.scale)

    path = result_path(options, gpu, '.csv')
    write_csv(path, facts, COLUMNS, results.rows)
    print(f'wrote {path}')
    write_plot(path)
    one_value('DROP SCHEMA bench CASCADE')
    lines = [row for row in results.rows if row[9]]
    print(f'{sum(row[9] == "met" for row in lines)} of {len(lines)} goals met')


if __name__ == '__main__':
    main()
