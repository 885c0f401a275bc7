"""Measures plain SQL with mgpu_pg against PostgreSQL's own plans in one run.

Started by test/bench/plain_sql.  The statements are what users have: nothing in them
names the extension.  Each runs by PostgreSQL's own plan, with the extension on the CPU and
on the GPU, in one process and with parallel workers, and if asked for in DuckDB, in turn,
round after round.  Medians are compared.  Before that, the answers are.  Writes a CSV, and
a plot of how many times faster the extension is.
"""

import argparse
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from agg_bench import earlier_rows
from bench import Session, describe, one_value, result_path, table_exists, write_csv, write_plot
from sessions import service_is_up

# ---------------------------------------------------------------- what to measure

TABLES = '''
DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench; SET search_path = bench, public; SELECT setseed(0.5);
CREATE UNLOGGED TABLE t AS SELECT v, g, g2, f, 'customer-' || g AS k FROM (
    SELECT (random() * 1e9)::int4 AS v, floor(random() * {groups})::int4 AS g, floor(random() * 1000)::int4 AS g2, random() AS f
    FROM generate_series(1, {rows}) OFFSET 0) s;
CREATE UNLOGGED TABLE tiny AS SELECT v, g2 % 10 AS g FROM t LIMIT 1000;
CREATE UNLOGGED TABLE keyed AS SELECT v, g FROM t LIMIT {rows} / 10;
CREATE INDEX ON keyed (g);
CREATE UNLOGGED TABLE forms AS SELECT v, g, g2, g2 % 4 AS g4, f, timestamptz '2026-01-01 UTC' + row_number() OVER () * interval '1 second' AS at, k,
    (v / 1000000.0)::numeric(12, 2) AS n, (g2 % 11 / 100.0)::numeric(4, 2) AS d FROM t;
CREATE UNLOGGED TABLE labels AS SELECT i AS id, 'label-' || i % 300 AS label FROM generate_series(0, 999) i;
VACUUM ANALYZE t, tiny, keyed, forms, labels; CHECKPOINT;
'''

MEDIAN = 'percentile_cont(0.5) WITHIN GROUP (ORDER BY v)'
FIVE = 'count(v), sum(v), avg(v), min(v), max(v)'

# What is compared of a row s of an answer: its text, or where there are millions of rows something faster.
AS_TEXT = 'hashtextextended(s::text, 0)'
AS_RECORD = 'hash_record_extended(s, 0)'
# "low": also with little work_mem.
Statement = collections.namedtuple('Statement', 'name sql check low', defaults=(AS_TEXT, False))


def grouped(what, by, more='', table='t'):
    return f'SELECT {by}, {what} FROM {table} GROUP BY {by}{more}'


STATEMENTS = [
    Statement('percentile_cont by g', grouped(MEDIAN, 'g'), low=True),
    Statement('two percentiles, count(*) by g', grouped(f'{MEDIAN}, percentile_cont(0.9) WITHIN GROUP (ORDER BY v), count(*)', 'g')),
    Statement('percentile_cont by g2', grouped(MEDIAN, 'g2')),
    Statement('percentile_cont by g, g2', grouped(MEDIAN, 'g, g2'), AS_RECORD),
    Statement('percentile_cont by k', grouped(MEDIAN, 'k')),
    Statement('percentile_cont', f'SELECT {MEDIAN} FROM t', low=True),
    Statement('percentile_cont, FILTER by g', grouped(f'{MEDIAN} FILTER (WHERE f < 0.5), count(*) FILTER (WHERE f >= 0.9)', 'g')),
    Statement('percentile_cont, HAVING by g', grouped(MEDIAN, 'g', ' HAVING count(*) > 100')),
    Statement('mode by g2', grouped('mode() WITHIN GROUP (ORDER BY v)', 'g2')),
    Statement('array_agg(v ORDER BY v) by g', grouped('array_agg(v ORDER BY v)', 'g'), low=True),
    Statement('array_agg(v ORDER BY f) by g', grouped('array_agg(v ORDER BY f)', 'g')),
    Statement('array_agg(v ORDER BY v)', 'SELECT array_agg(v ORDER BY v) FROM t'),
    Statement('string_agg(k ORDER BY v) by g', grouped("string_agg(k, ',' ORDER BY v)", 'g')),
    Statement('count(DISTINCT v) by g', grouped('count(DISTINCT v)', 'g')),
    Statement('count(DISTINCT v) by g2', grouped('count(DISTINCT v)', 'g2'), low=True),
    Statement('count(DISTINCT v)', 'SELECT count(DISTINCT v) FROM t', low=True),
    Statement('count, sum, avg, min, max by g', grouped(FIVE, 'g'), low=True),
    Statement('count, sum, avg, min, max by g2', grouped(FIVE, 'g2'), low=True),
    # the order in which floats are added shows in their last digits
    Statement('stddev(f), avg(f) by g', grouped('stddev(f) AS a, avg(f) AS b', 'g'),
              "hashtextextended(format('%s %s %s', s.g, round(s.a::numeric, 6), round(s.b::numeric, 6)), 0)"),
    Statement('avg(f) by g2', grouped('avg(f) AS a', 'g2'), "hashtextextended(format('%s %s', s.g2, round(s.a::numeric, 6)), 0)"),
    Statement('sum(v) WHERE f < 0.1', 'SELECT sum(v) FROM t WHERE f < 0.1', low=True),
    Statement('count(*)', 'SELECT count(*) FROM t'),
    Statement('count(*), sum(v) by k', grouped('count(*), sum(v)', 'k')),
    Statement('count(*) by g, g2', grouped('count(*)', 'g, g2'), AS_RECORD, low=True),
    Statement('DISTINCT g, g2', 'SELECT DISTINCT g, g2 FROM t', AS_RECORD),
    Statement('DISTINCT k', 'SELECT DISTINCT k FROM t'),
    Statement('row_number() <= 3 by g', 'SELECT g, v, n FROM (SELECT g, v, row_number() OVER (PARTITION BY g ORDER BY v) AS n FROM t) w WHERE n <= 3', AS_RECORD, low=True),
    Statement('rank() <= 3 by g, all columns', 'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY v DESC) AS n FROM t) w WHERE n <= 3'),
    Statement('DISTINCT ON (g) ORDER BY g, v', 'SELECT DISTINCT ON (g) g, v FROM t ORDER BY g, v', AS_RECORD, low=True),
    Statement('ORDER BY v LIMIT 100000', 'SELECT v FROM t ORDER BY v LIMIT 100000', AS_RECORD),
    Statement('ORDER BY v LIMIT 10, all columns', 'SELECT v, g, g2, f, k FROM t ORDER BY v, f LIMIT 10'),
    Statement('ORDER BY v, counted', 'SELECT count(*) FROM (SELECT v FROM t ORDER BY v OFFSET 0) o', low=True),
    Statement('ORDER BY g, v', 'SELECT g, v FROM t ORDER BY g, v', AS_RECORD),
    Statement('ORDER BY v, f, all columns', 'SELECT v, g, g2, f, k FROM t ORDER BY v, f'),
    Statement('lag(v) by g', 'SELECT g, v, lag(v) OVER (PARTITION BY g ORDER BY v) AS n FROM t', AS_RECORD, low=True),
    Statement('row_number, lag, sum by g', 'SELECT g, v, row_number() OVER w AS n, v - lag(v) OVER w AS d, sum(v) OVER w AS total FROM t WINDOW w AS (PARTITION BY g ORDER BY v)', AS_RECORD),
    Statement('avg(v) OVER (ORDER BY v) by g2', 'SELECT g2, v, avg(v) OVER (PARTITION BY g2 ORDER BY v) AS n FROM t', AS_RECORD),
    Statement('count(*) OVER (PARTITION BY g2)', 'SELECT g2, v, count(*) OVER (PARTITION BY g2) AS n FROM t', AS_RECORD),
    Statement('1,000 rows: percentile_cont by g', grouped(MEDIAN, 'g', table='tiny')),
    Statement('1,000 rows: row_number() <= 3 by g', 'SELECT * FROM (SELECT g, v, row_number() OVER (PARTITION BY g ORDER BY v) AS n FROM tiny) w WHERE n <= 3'),
    Statement('1,000 rows: ORDER BY v', 'SELECT v FROM tiny ORDER BY v'),
    Statement('1,000 rows: lag(v) by g', 'SELECT g, v, lag(v) OVER (PARTITION BY g ORDER BY v) AS n FROM tiny'),
    # the same work in forms that real queries have
    Statement('form: percentile_cont by an hour', grouped(MEDIAN, "date_trunc('hour', at)", table='forms')),
    Statement('form: percentile_cont by k', grouped(MEDIAN, 'k', table='forms')),
    Statement('form: percentile_disc(n) by g', grouped('percentile_disc(0.5) WITHIN GROUP (ORDER BY n)', 'g', table='forms')),
    Statement('form: percentile_cont(v * 2 + 1) by g', grouped('percentile_cont(0.5) WITHIN GROUP (ORDER BY v::int8 * 2 + 1)', 'g', table='forms')),
    Statement('form: percentile_cont WHERE k LIKE', f"SELECT g, {MEDIAN} FROM forms WHERE k LIKE '%9%' GROUP BY g"),
    Statement('form: percentile_cont WHERE g2 IN', f'SELECT g, {MEDIAN} FROM forms WHERE g2 IN (1, 5, 9, 100, 200, 300, 400, 500, 600, 700) GROUP BY g'),
    Statement('form: percentile_cont by ROLLUP', f'SELECT g2, g % 10, {MEDIAN} FROM forms GROUP BY ROLLUP (g2, g % 10)'),
    Statement('form: percentile_cont by label of a join', f'SELECT label, {MEDIAN} FROM forms JOIN labels ON id = g2 GROUP BY label'),
    Statement('form: sum(n * (1 - d)), avg(n) by g4', grouped('sum(n * (1 - d)), avg(n), count(*)', 'g4', table='forms')),
    Statement('form: sum(f * f) by g2', grouped('sum(f * f)', 'g2', table='forms'), "hashtextextended(format('%s %s', s.g2, round(s.sum::numeric, 6)), 0)"),
    Statement('form: sum(CASE) by g2', grouped('sum(CASE WHEN f < 0.5 THEN v ELSE 0 END)', 'g2', table='forms')),
    Statement('form: count(*) by k', grouped('count(*)', 'k', table='forms')),
    Statement('form: count(DISTINCT k) by g2', grouped('count(DISTINCT k)', 'g2', table='forms')),
    Statement('form: avg(f) by g2 % 50, a minute', "SELECT g2 % 50 AS m, date_trunc('minute', at) AS t, avg(f) AS a FROM forms GROUP BY 1, 2",
              "hashtextextended(format('%s %s %s', s.m, s.t, round(s.a::numeric, 6)), 0)"),
    Statement('form: count(*), sum(v) by CUBE', 'SELECT g4, g2 % 10, count(*), sum(v) FROM forms GROUP BY CUBE (g4, g2 % 10)'),
    Statement('form: sum(v) WHERE v % 7, f * 2', 'SELECT sum(v) FROM forms WHERE v % 7 = 3 AND f * 2 < 0.5'),
    Statement('by an index, LIMIT 10', grouped('count(*), max(v)', 'g', ' ORDER BY g LIMIT 10', 'keyed')),
]

# All rows of the answer are made, and none is sent.
NONE_SENT = ' OFFSET 1000000000'

# ---------------------------------------------------------------- the server and the data


def start_server(options):
    settings = {'shared_preload_libraries': 'mgpu_pg', 'autovacuum': 'off', 'jit': 'off', 'max_wal_size': '8GB',
                # a table of more than a quarter of it would not stay in it
                'shared_buffers': f'{512 + options.rows * 850 // 1_000_000}MB',
                'max_worker_processes': options.workers + 8, 'max_parallel_workers': options.workers}
    private = os.environ['MGPU_PRIVATE']
    subprocess.run(os.environ.get('MGPU_RUN_AS', '').split() +
                   ['pg_ctl', '-D', f'{private}/data', '-l', f'{private}/server.log', '-m', 'fast', '-t', '120', '-w',
                    '-o', ' '.join(f'-c {name}={value}' for name, value in settings.items()), 'restart'],
                   check=True, cwd=private, stdout=subprocess.DEVNULL)
    one_value('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS mgpu_pg')


def make_tables(options):
    """What is there already stays with --keep."""
    session = Session()
    if not (options.keep and table_exists('labels') and int(one_value('SELECT count(*) FROM bench.t')) == options.rows):
        session.run('SET client_min_messages = warning;' + TABLES.format(rows=options.rows, groups=max(1, options.rows // 100)))
    # the planner would give a table of this size fewer than it is allowed
    session.run(''.join(f'ALTER TABLE bench.{table} SET (parallel_workers = {options.workers});' for table in ('t', 'forms')))
    session.run('SET max_parallel_workers_per_gather = 0; SELECT count(f) FROM bench.t;')
    read = re.search(r'read=(\d+)', session.run('EXPLAIN (ANALYZE, BUFFERS) SELECT count(f) FROM bench.t;')[0])
    if read:
        print(f'{read[1]} pages of the table are not in shared_buffers')
    session.close()


class DuckDB:
    """The same tables in the memory of this process."""

    def __init__(self):
        import duckdb
        self.version, self.error = duckdb.__version__, duckdb.Error
        self.connection = duckdb.connect()
        self.connection.execute('SET preserve_insertion_order = false')
        for table, columns in (('t', 'v int4, g int4, g2 int4, f float8, k text'), ('tiny', 'v int4, g int4'), ('keyed', 'v int4, g int4'), ('labels', 'id int4, label text'),
                               ('forms', 'v int4, g int4, g2 int4, g4 int4, f float8, at timestamptz, k text, n decimal(12, 2), d decimal(4, 2)')):
            self.connection.execute(f'CREATE TABLE {table} ({columns})')
            with tempfile.NamedTemporaryFile(suffix='.csv') as file:
                subprocess.run(['psql', '-Xqc', f'COPY bench.{table} TO STDOUT (FORMAT csv)'], check=True, stdout=file)
                self.connection.execute(f"COPY {table} FROM '{file.name}' (FORMAT csv, HEADER false)")

    def run(self, settings, sql):
        self.connection.execute(settings)
        began = time.monotonic()
        try:
            self.connection.execute(sql).fetchall()
        except self.error as error:
            raise SystemExit(str(error)) from error
        return (time.monotonic() - began) * 1000


# ---------------------------------------------------------------------- measuring

# ROWS: on the CPU, with rows from PostgreSQL's executor instead of pages as columns
CORE, CPU, GPU, ROWS, DUCKDB = 'PostgreSQL', 'cpu', 'gpu', 'rows', 'DuckDB'
SETTINGS = {CPU: 'SET mgpu.executor = cpu;', GPU: 'SET mgpu.executor = gpu;', ROWS: 'SET mgpu.executor = cpu; SET mgpu.enable_columns = off;'}
NODES = ''.join(f'SET mgpu.enable_{part} = {{0}};' for part in ('group', 'top', 'sort', 'scan', 'not_in', 'correlated', 'hashed_loops'))
WORK_MEM, LITTLE_WORK_MEM = '2GB', '4MB'
FAILED = 'FAILED'
Mode = collections.namedtuple('Mode', 'system parallel settings')

# Statements that take less run more often.
SHORT_MS, SHORT_RUNS = 20, 20


def modes(options):
    answer = []
    for parallel in (False, True) if options.workers else (False,):
        workers = f'SET max_parallel_workers_per_gather = {options.workers if parallel else 0};'
        answer.append(Mode(CORE, parallel, f'{workers}{NODES.format("off")}'))
        answer += [Mode(executor, parallel, f'{workers}{NODES.format("on")}{SETTINGS[executor]}') for executor in options.executors]
        if options.duckdb:
            answer.append(Mode(DUCKDB, parallel, f'SET threads = {os.cpu_count() if parallel else 1}'))
    return answer


class Case:
    """A statement with one work_mem, and what is known of it in each mode."""

    def __init__(self, statement, work_mem):
        self.statement, self.work_mem = statement, work_mem
        self.label = statement.name + ('' if work_mem == WORK_MEM else f', work_mem {work_mem}')
        self.sql = statement.sql + ('' if 'LIMIT' in statement.sql else NONE_SENT)
        self.times = {}
        self.node, self.ran, self.outcome = {}, {}, {}
        self.answer = None

    def settings(self, mode):
        return f"RESET ALL; SET search_path = bench, public; SET work_mem = '{self.work_mem}';{mode.settings}"

    def look(self, session, mode):
        """Whether the node is in the plan, and the answer that of PostgreSQL's plan in one process."""
        session.run(self.settings(mode))
        found = re.search(r'Mgpu(Group|Top|Window|Sort)', session.run(f'EXPLAIN {self.sql};')[0])
        self.node[mode] = found[0] if found else ''
        if mode.system == CORE and mode.parallel:
            return
        *warnings, answer = session.run(f'SELECT count(*), sum({self.statement.check}) FROM ({self.statement.sql}) s;')[0].splitlines()
        for warning in warnings:
            print(f'    {warning}', flush=True)
        if mode.system == CORE:
            self.answer = answer
        else:
            self.judge(mode, 'same' if answer == self.answer else f'DIFFERENT: {answer} instead of {self.answer}')

    def judge(self, mode, outcome):
        self.outcome[mode] = outcome
        if self.is_wrong(mode):
            print(f'{self.label}, {mode.system}{", parallel" if mode.parallel else ""}: {outcome}', flush=True)

    def is_wrong(self, mode):
        return self.outcome.get(mode, 'same') != 'same'

    def run(self, bench, mode):
        """The milliseconds of a run."""
        if mode.system == DUCKDB:
            return bench.duckdb.run(mode.settings, self.sql)
        session = bench.session
        if mode not in self.node:
            self.look(session, mode)
        session.run(self.settings(mode))
        times = [session.run(self.sql + ';')[1]]
        while times[0] < SHORT_MS and len(times) < SHORT_RUNS:
            times.append(session.run(self.sql + ';')[1])
        if self.node[mode]:
            self.ran[mode] = session.run('SELECT executor FROM mgpu_last_run();')[0]
        return statistics.median(times)

    def round(self, bench):
        for mode in bench.modes:
            # DuckDB's memory is not work_mem
            if self.outcome.get(mode, '').startswith(FAILED) or (mode.system == DUCKDB and self.work_mem != WORK_MEM):
                continue
            try:
                self.times.setdefault(mode, []).append(self.run(bench, mode))
            except SystemExit as error:
                self.judge(mode, f'{FAILED}: {str(error).splitlines()[0]}')
                bench.session.close()
                bench.session = Session()

    def result(self, mode):
        """Milliseconds, and how many times as long PostgreSQL's plan takes with as many processes; None where not known."""
        core = [times for other, times in self.times.items() if (other.system, other.parallel) == (CORE, mode.parallel) and times]
        if not self.times.get(mode):
            return None, None
        ms = statistics.median(self.times[mode])
        return ms, statistics.median(core[0]) / ms if core else None


# ------------------------------------------------------------------------- output

COLUMNS = ['statement', 'sql', 'work_mem', 'parallel', 'system', 'runs', 'ms', 'ratio', 'node', 'ran', 'answer']


def csv_rows(cases):
    rows = []
    for case in cases:
        for mode, times in case.times.items():
            ms, ratio = case.result(mode)
            rows.append([case.statement.name, case.statement.sql, case.work_mem, 'yes' if mode.parallel else 'no', mode.system, len(times),
                         f'{ms:.2f}' if ms else '', f'{ratio:.2f}' if ratio else '', case.node.get(mode, ''), case.ran.get(mode, ''),
                         case.outcome.get(mode, '')])
    return rows


def merge(earlier, rows):
    """What an earlier run has of other statements stays, in the order of STATEMENTS."""
    measured = {(row[0], row[2]) for row in rows}
    order = [statement.name for statement in STATEMENTS]
    return sorted([row for row in earlier if (row[0], row[2]) not in measured and row[0] in order] + rows,
                  key=lambda row: (row[2] != WORK_MEM, order.index(row[0])))


def print_table(cases, bench, options):
    """Of each mode the milliseconds, and how many times as fast as PostgreSQL's own plan it is."""
    for parallel in sorted({mode.parallel for mode in bench.modes}):
        chosen = [mode for mode in bench.modes if mode.parallel == parallel]
        print(f'\n{f"{options.workers} workers" if parallel else "one process":48}' + ''.join(f'{mode.system + ", ms":>13}{"":10}' for mode in chosen))
        for case in cases:
            line = f'{case.label:48}'
            for mode in chosen:
                ms, ratio = case.result(mode)
                mark = '!' if case.is_wrong(mode) else '*' if case.node.get(mode) else ' '
                line += f'{ms:13.{0 if ms >= 10 else 2}f}' if ms else f'{"-":>13}'
                line += f'{ratio:7.2f} x' if ratio and mode.system != CORE else ' ' * 9
                line += mark
            print(line.rstrip())
    print('\n* a node is in the plan   ! wrong or failed')


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tree', default='unknown')
    parser.add_argument('--name')
    parser.add_argument('--rows', type=int, default=10_000_000)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--workers', type=int, default=min(8, os.cpu_count()))
    parser.add_argument('--executors', type=lambda names: names.split(','))
    parser.add_argument('--seconds', type=float, default=float('inf'))
    parser.add_argument('--only', default='')
    parser.add_argument('--add', action='store_true')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--duckdb', action='store_true')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--out', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'))
    options = parser.parse_args()
    if options.quick:
        options.rows, options.rounds = 100_000, 1
    options.scale = options.rows / 1e7
    return options


class Bench:
    """The session, which is another one after an error, and what it measures."""

    def __init__(self, options):
        self.modes = modes(options)
        self.duckdb = DuckDB() if options.duckdb else None
        self.session = Session()


def main():
    options = parse()
    began = time.monotonic()
    start_server(options)
    # the service that tells of GPUs takes a moment to start
    expects_gpu = GPU in options.executors if options.executors else os.path.exists('/dev/nvidiactl')
    for _ in range(100 if expects_gpu else 1):
        gpu = one_value('SELECT name FROM mgpu_device_info() ORDER BY ordinal LIMIT 1')
        if gpu:
            break
        time.sleep(0.1)
    if gpu:
        service_is_up()
    options.executors = options.executors or ([CPU, GPU] if gpu else [CPU])
    make_tables(options)
    bench = Bench(options)
    facts = {**describe(options, gpu), 'rows': options.rows, 'workers': options.workers}
    if bench.duckdb:
        facts['DuckDB'] = f'{bench.duckdb.version}, {os.cpu_count()} threads'
    for name, value in facts.items():
        print(f'{name}: {value}')
    print(f'data made in {time.monotonic() - began:.0f} s', flush=True)

    path = result_path(options, gpu, '-plain-sql.csv')
    earlier = earlier_rows(path) if options.add else []
    cases = [Case(statement, work_mem) for work_mem in (WORK_MEM, LITTLE_WORK_MEM) for statement in STATEMENTS if work_mem == WORK_MEM or statement.low]
    cases = [case for case in cases if re.search(options.only, case.label)]
    for turn in range(options.rounds):
        for case in cases:
            if time.monotonic() - began < options.seconds:
                case.round(bench)
                print(f'{time.monotonic() - began:6.0f} s: round {turn + 1}, {case.label}', flush=True)
                # in case that someone ends this
                write_csv(path, facts, COLUMNS, merge(earlier, csv_rows(cases)))
    bench.session.close()
    print_table([case for case in cases if case.times], bench, options)
    print(f'wrote {path}')
    write_plot(path)
    if not options.keep:
        one_value('DROP SCHEMA bench CASCADE')
    return 1 if any(case.is_wrong(mode) for case in cases for mode in bench.modes if mode.system != DUCKDB) else 0


if __name__ == '__main__':
    sys.exit(main())
