"""Runs a suite of statements by PostgreSQL's own plans, with the extension, and by DuckDB, in turn; compares times and answers.

Started by test/bench/suites, whose head says what it takes.  Data and statements are in suites_data.py.
"""

import argparse
import csv
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import suites_data
from bench import Session, describe, one_value, write_csv

try:
    import duckdb
except ImportError:
    duckdb = None

CORE, OURS, DUCKDB = 'PostgreSQL', 'mgpu_pg', 'DuckDB'
# of a statement, by psql and by DuckDB
FAILURES = (SystemExit, duckdb.Error) if duckdb else (SystemExit,)
NONE_SENT = ' OFFSET 1000000000'
# answers of more rows are compared by their columns' sums
MANY_ROWS = 200_000


def make_table(session, table, options):
    """Filled by PostgreSQL."""
    rows = options.rows
    columns = ', '.join(f'{name} {kind}' + (f' COLLATE "{options.collate}"' if kind == 'text' else '') for name, kind, _ in table.columns)
    values = ', '.join(value for *_, value in table.columns)
    made = f'CREATE TABLE suite.{table.name} ({columns}); INSERT INTO suite.{table.name} SELECT {values} FROM generate_series(1::bigint, {table.rows}) i;'
    session.run(made.replace('{rows}', str(rows)))
    if table.primary:
        session.run(f'ALTER TABLE suite.{table.name} ADD PRIMARY KEY ({table.primary});')
    for index in table.indexes:
        session.run(f'CREATE INDEX ON suite.{index};')


def copy_to_duckdb(connection, table):
    columns = ', '.join(f'{name} {kind}' for name, kind, _ in table.columns).replace('jsonb', 'varchar')
    connection.execute(f'CREATE TABLE {table.name} ({columns})')
    with tempfile.NamedTemporaryFile(suffix='.csv') as file:
        subprocess.run(['psql', '-Xqc', f'COPY suite.{table.name} TO STDOUT (FORMAT csv, NULL none)'], check=True, stdout=file)
        connection.execute(f"COPY {table.name} FROM '{file.name}' (FORMAT csv, HEADER false, NULL 'none')")


def make_by_duckdb(session, connection, suite, rows):
    """Made by DuckDB, and copied to PostgreSQL."""
    call, primary_keys, lengths, indexes, queries = suites_data.MADE[suite]
    connection.execute(f'LOAD {suite}; CALL {call.replace("{rows}", str(rows))}')
    with tempfile.TemporaryDirectory() as folder:
        for table, primary in primary_keys.items():
            columns = connection.execute(f"SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '{table}' ORDER BY ordinal_position").fetchall()
            session.run(f'CREATE TABLE suite.{table} ({", ".join(f"{name} {lengths.get(name, kind.lower())}" for name, kind in columns)});')
            path = f'{folder}/{table}.csv'
            connection.execute(f"COPY {table} TO '{path}' (FORMAT csv, HEADER false)")
            with open(path, encoding='utf-8') as data:
                subprocess.run(['psql', '-Xqc', f'COPY suite.{table} FROM STDIN (FORMAT csv)'], check=True, stdin=data)
            session.run(f'ALTER TABLE suite.{table} ADD PRIMARY KEY ({primary});')
    for index in indexes:
        session.run(f'CREATE INDEX ON suite.{index};')
    return [(f'query {number}', sql.strip().rstrip(';')) for number, sql in connection.execute(f'SELECT query_nr, query FROM {queries} ORDER BY query_nr').fetchall()]


def make_data(session, options):
    """The statements, and DuckDB's connection where there is one."""
    connection = duckdb.connect() if duckdb else None
    if connection:
        # date_bin by its name there
        connection.execute("SET TimeZone = 'UTC'; CREATE MACRO date_bin(width, at, origin) AS time_bucket(width, at::timestamptz, origin::timestamptz)")
    session.run('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS mgpu_pg; DROP SCHEMA IF EXISTS suite CASCADE; CREATE SCHEMA suite;')
    if options.suite in suites_data.MADE:
        if not duckdb:
            sys.exit('TPC-H and TPC-DS need python3 with the module duckdb: pip install duckdb==0.8.1')
        statements = make_by_duckdb(session, connection, options.suite, options.rows)
        # DuckDB sorts NULL and divides integers otherwise
        connection = connection if options.suite == 'tpch' else None
    else:
        tables, statements = suites_data.SUITES[options.suite]
        # DuckDB compares texts by their bytes
        connection = connection if options.collate == 'C' else None
        for table in tables:
            make_table(session, table, options)
            if connection:
                copy_to_duckdb(connection, table)
    names = session.run("SELECT string_agg(format('suite.%I', relname), ', ') FROM pg_class WHERE relnamespace = 'suite'::regnamespace AND relkind = 'r';")[0]
    session.run(f'VACUUM ANALYZE {names};')
    # into shared buffers
    for name in names.split(', '):
        session.run(f'SET max_parallel_workers_per_gather = 0; SET mgpu.enable_group = off; SELECT count(t) FROM {name} t;')
    return [(name, sql.replace('{rows}', str(options.rows))) for name, sql in statements if re.search(options.only, name)], connection


def settings(options, system):
    on = 'on' if system == OURS else 'off'
    return (f"RESET ALL; SET search_path = suite, public; SET TimeZone = 'UTC'; SET jit = off; SET work_mem = '{options.work_mem}'; SET max_parallel_workers_per_gather = {options.workers};"
            f"SET statement_timeout = '{options.seconds}s'; SET mgpu.executor = {options.executor};"
            + ''.join(f'SET mgpu.enable_{node} = {on};' for node in ('group', 'top', 'sort', 'scan', 'threads', 'columns', 'not_in', 'correlated', 'hashed_loops')))


# -------------------------------------------------------------------- answers


def plain(value):
    """A value as both systems have it: a number, or text."""
    if value is None or value == '':
        return ''
    if isinstance(value, bool):
        return 't' if value else 'f'
    try:
        return float(value)
    except (TypeError, ValueError):
        # DuckDB's times have no zone, which is UTC
        return re.sub(r'( \d\d:\d\d:[\d.]+)\+00(:00)?$', r'\1', str(value).rstrip())


def sort_key(row):
    """Roughly first, so that rows whose averages differ in their last digits come in one order."""
    return [(0, float(f'{value:.5g}'), '') if isinstance(value, float) else (1, 0.0, value) for value in row], [value for value in row if isinstance(value, float)]


def answer_of(rows):
    rows = [[plain(value) for value in row] for row in rows]
    if len(rows) > MANY_ROWS:
        return [[float(len(rows))] + [math.fsum(v for v in column if isinstance(v, float)) + len({v for v in column if isinstance(v, str)}) for column in zip(*rows)]]
    return sorted(rows, key=sort_key)


def differs(one, other):
    """Where two answers differ, or nothing.  Averages have other digits in each system, so numbers may differ in their ninth."""
    if len(one) != len(other):
        return f'{len(one)} rows instead of {len(other)}'
    for left, right in zip(one, other):
        for a, b in zip(left, right):
            same = math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else a == b
            if not same:
                return f'{left} instead of {right}'
    return ''


# ------------------------------------------------------------------ measuring


class Bench:
    def __init__(self, options):
        self.options = options
        self.session = Session()
        self.load()
        self.statements, self.connection = make_data(self.session, options)
        self.systems = [CORE, OURS] + ([DUCKDB] if self.connection else [])
        if self.connection:
            self.connection.execute(f'SET threads = {options.workers + 1}')

    def load(self):
        self.session.run("LOAD 'mgpu_pg';")

    def answer(self, system, sql):
        if system == DUCKDB:
            return answer_of(self.connection.execute(sql).fetchall())
        with tempfile.TemporaryFile('w+', encoding='utf-8', newline='') as file:
            script = f"LOAD 'mgpu_pg'; {settings(self.options, system)} COPY ({sql}) TO STDOUT (FORMAT csv);"
            done = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'], input=script, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                raise SystemExit(done.stderr.strip())
            file.seek(0)
            return answer_of(csv.reader(file))

    def plan(self, sql):
        self.session.run(settings(self.options, OURS))
        found = self.session.run(f'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {sql};')[0]
        nodes = sorted(set(re.findall(r'\((Mgpu\w+)\)', found)))
        ran = sorted(set(re.findall(r'Executor: (\w+)', found))) + sorted({f'{n} threads' for n in re.findall(r'Threads: (\d+)', found)})
        return '+'.join(nodes), ', '.join(ran + [f'{n} joins' for n in re.findall(r'Joins: (\d+)', found)])

    def run(self, system, sql):
        """Milliseconds"""
        if system == DUCKDB:
            began = time.monotonic()
            self.connection.execute(f'CREATE OR REPLACE TEMP TABLE answer AS {sql}')
            return (time.monotonic() - began) * 1000
        self.session.run(settings(self.options, system))
        return self.session.run(sql + ('' if re.search(r'\bLIMIT\b', sql, re.I) else NONE_SENT) + ';')[1]

    def one(self, name, sql):
        """Lines of CSV, and whether an answer is wrong."""
        times, said, wanted = {}, {}, None
        for system in self.systems:
            try:
                got = self.answer(system, sql)
                wanted = got if system == CORE else wanted
                wrong = differs(got, wanted) if wanted is not None else ''
                said[system] = f'DIFFERENT: {wrong}' if wrong else '' if system == CORE else 'same'
                times[system] = []
            except FAILURES as error:
                self.failed(said, system, error)
        for _ in range(self.options.rounds):
            for system in list(times):
                try:
                    times[system].append(self.run(system, sql))
                except FAILURES as error:
                    self.failed(said, system, error)
                    del times[system]
                    self.session.close()
                    self.session = Session()
                    self.load()
        node, ran = self.plan(sql) if OURS in times else ('', '')
        medians = {system: statistics.median(found) for system, found in times.items()}
        print(f'{name:32}' + ''.join(f'{medians.get(system, math.nan):12.1f}' for system in self.systems) + f'  {node} {ran}', flush=True)
        for system, outcome in said.items():
            if outcome not in ('', 'same'):
                print(f'    {system}: {outcome[:300]}', flush=True)
        core = medians.get(CORE)
        rows = [[name, ' '.join(sql.split()), system, len(times.get(system, [])), f'{medians[system]:.2f}' if system in medians else '',
                 f'{core / medians[system]:.2f}' if core and system in medians else '', *((node, ran) if system == OURS else ('', '')), said[system][:200]] for system in self.systems]
        # what PostgreSQL itself cannot do in this time is no fault of others
        timed_out = 'statement timeout' in said.get(CORE, '')
        return rows, any(outcome not in ('', 'same') for outcome in said.values()) and not timed_out

    @staticmethod
    def failed(said, system, error):
        said[system] = f'FAILED: {str(error).splitlines()[0] if str(error) else type(error).__name__}'


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('suite')
    parser.add_argument('rows', type=int)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--work-mem', default='256MB')
    parser.add_argument('--buffers', help='of the server, which the caller has started')
    parser.add_argument('--executor', default='auto')
    parser.add_argument('--seconds', type=int, default=120)
    parser.add_argument('--only', default='')
    parser.add_argument('--collate', default='C')
    parser.add_argument('--name')
    parser.add_argument('--out', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'))
    parser.add_argument('--tree', default='unknown')
    options = parser.parse_args()
    options.scale = 1.0
    return options


def main():
    options = parse()
    bench = Bench(options)
    gpu = one_value('SELECT name FROM mgpu_stat_service WHERE up LIMIT 1')
    print(f'{"milliseconds":32}' + ''.join(f'{system:>12}' for system in bench.systems))
    lines, num_wrong = [], 0
    for name, sql in bench.statements:
        rows, wrong = bench.one(name, sql)
        lines += rows
        num_wrong += wrong
    facts = describe(options, gpu)
    del facts['scale']
    facts.update(rows=options.rows, workers=options.workers, work_mem=options.work_mem, shared_buffers=one_value('SHOW shared_buffers'), executor=options.executor,
                 DuckDB=f'{duckdb.__version__}, {options.workers + 1} threads' if bench.connection else 'none')
    label = options.name or (re.sub(r'\W+', '-', gpu.replace('NVIDIA ', '')).lower() if gpu else 'cpu')
    path = os.path.join(options.out, f'{label}-{options.suite}.csv')
    write_csv(path, facts, ['statement', 'sql', 'system', 'runs', 'ms', 'ratio', 'node', 'ran', 'answer'], lines)
    print(f'{path}\n{len(bench.statements) - num_wrong} passed, {num_wrong} failed')
    sys.exit(num_wrong > 0)


if __name__ == '__main__':
    main()
