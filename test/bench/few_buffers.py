"""Measures statements on a table that is larger than shared_buffers, beside PostgreSQL's own plans.

Started by test/bench/few_buffers.  Each system runs on a server that has just started, so that the first run finds
nothing in its buffers; the system has the table's pages in its cache.  Answers are compared.  Writes a CSV.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

from bench import Session, describe, one_value, result_path, write_csv
from sessions import service_is_up

# Written by several sessions: on many cores one would take minutes.
TABLE = '''
SET client_min_messages = warning; DROP TABLE IF EXISTS readings;
CREATE TABLE readings (g int, g2 int, v int, f float8, k text, n numeric(12, 2), d numeric(4, 2));
CREATE TABLE IF NOT EXISTS labels AS SELECT i AS id, 'label-' || i % 300 AS label FROM generate_series(0, 999) i;
'''
ROWS = '''
SELECT setseed({part} / 100.0); INSERT INTO readings SELECT i % 100000, i % 1000, v, v / 1e9, 'customer-' || i % 100000, v / 1000000.0, i % 11 / 100.0
    FROM (SELECT i, (random() * 1e9)::int AS v FROM generate_series(1, {rows}) i OFFSET 0) s;
'''

STATEMENTS = {
    'sum(v) WHERE f < 0.1': 'SELECT sum(v) FROM readings WHERE f < 0.1',
    'percentile_cont by g': 'SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM readings GROUP BY g',
    'five aggregates by g2': 'SELECT g2, count(v), sum(v), avg(v), min(v), max(v) FROM readings GROUP BY g2',
    'sums of numeric': 'SELECT d, sum(n * (1 - d)), avg(n) FROM readings GROUP BY d',
    'count(*) by k': 'SELECT k, count(*) FROM readings GROUP BY k',
    'sum(v) by a label': 'SELECT label, sum(v) FROM readings JOIN labels ON id = g2 GROUP BY label',
}

NODES = ('group', 'top', 'sort', 'scan')
SYSTEMS = {
    'PostgreSQL': ''.join(f'SET mgpu.enable_{node} = off;' for node in NODES),
    'cpu': 'SET mgpu.executor = cpu;',
    'gpu': 'SET mgpu.gpu_failure = error;',
}


def start_server(options):
    settings = {'shared_preload_libraries': 'mgpu_pg', 'autovacuum': 'off', 'shared_buffers': options.buffers, 'max_wal_size': '8GB',
                'max_parallel_workers': options.workers, 'max_parallel_workers_per_gather': options.workers}
    private = os.environ['MGPU_PRIVATE']
    subprocess.run(os.environ.get('MGPU_RUN_AS', '').split() +
                   ['pg_ctl', '-D', f'{private}/data', '-l', f'{private}/server.log', '-m', 'fast', '-t', '120', '-w',
                    '-o', ' '.join(f'-c {name}={value}' for name, value in settings.items()), 'restart'],
                   check=True, cwd=private, stdout=subprocess.DEVNULL)


def make_table(options):
    one_value('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS mgpu_pg')
    session = Session()
    session.run(TABLE)
    num_parts = min(8, os.cpu_count())
    parts = [subprocess.Popen(['psql', '-XAtqc', ROWS.format(part=part, rows=options.rows // num_parts)], stdout=subprocess.DEVNULL)
             for part in range(num_parts)]
    if any(part.wait() for part in parts):
        sys.exit('a part of the table could not be written')
    session.run('VACUUM ANALYZE readings, labels; CHECKPOINT;')
    session.close()


class Bench:
    """The lines of the CSV."""

    def __init__(self, options):
        self.options = options
        self.lines = []
        self.answers = {}
        self.first = {}
        self.num_wrong = 0

    def run(self, system, name, sql):
        """The first run and the others' median, of a server that has just started."""
        start_server(self.options)
        if system == 'gpu' and not service_is_up():
            return
        session = Session()
        session.run(SYSTEMS[system])
        times = [session.run(f'SELECT count(*), sum(hashtextextended(s::text, 0)) FROM ({sql}) s;') for _ in range(1 + self.options.rounds)]
        plan = session.run(f'EXPLAIN (ANALYZE, COSTS off) {sql};')[0]
        session.close()
        answers = {answer for answer, _ in times}
        self.answers.setdefault(name, answers)
        is_same = answers == self.answers[name]
        self.num_wrong += not is_same
        first, median = times[0][1], statistics.median(ms for _, ms in times[1:])
        self.first.setdefault(name, (first, median))
        ran = re.search(r'Executor: (\w+)', plan)
        line = [name, system, f'{first:.1f}', f'{median:.1f}', f'{self.first[name][0] / first:.2f}', f'{self.first[name][1] / median:.2f}',
                ran[1] if ran else '', 'same' if is_same else 'another']
        self.lines.append(line)
        print(f'{name:24} {system:12} first {first:8.1f} ms, then {median:8.1f} ms  {line[5]:>7} x  {line[6]:4} {line[7]}', flush=True)


def parse():
    parser = argparse.ArgumentParser(description='tables that are larger than shared_buffers')
    parser.add_argument('--tree', default='unknown')
    parser.add_argument('--name')
    parser.add_argument('--rows', type=int, default=10_000_000)
    parser.add_argument('--buffers', default='128MB')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--only', default='')
    parser.add_argument('--executors', type=lambda names: names.split(','))
    parser.add_argument('--out', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'))
    options = parser.parse_args()
    options.scale = 1
    return options


def main():
    options = parse()
    start_server(options)
    make_table(options)
    gpu = one_value('SELECT name FROM mgpu_device_info() ORDER BY ordinal LIMIT 1')
    bench = Bench(options)
    for name, sql in ((name, sql) for name, sql in STATEMENTS.items() if re.search(options.only, name)):
        for system in ['PostgreSQL'] + (options.executors or ['cpu'] + ['gpu'] * bool(gpu)):
            bench.run(system, name, sql)
    facts = describe(options, gpu) | {'rows': options.rows, 'table': one_value("SELECT pg_size_pretty(pg_table_size('readings'))"),
                                      'shared_buffers': options.buffers, 'workers': options.workers, 'threads': options.workers + 1}
    path = result_path(options, gpu, '-few-buffers.csv')
    write_csv(path, facts, ['statement', 'system', 'first_ms', 'ms', 'first_ratio', 'ratio', 'executor', 'answer'], bench.lines)
    print(path)
    sys.exit(1 if bench.num_wrong else 0)


if __name__ == '__main__':
    main()
