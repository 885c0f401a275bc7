"""Measures mgpu_pg's aggregates against PostgreSQL's in one run.

Started by test/bench/agg_bench.  As in bench.py, the statements of a group run
in turn, round after round, in one session, and medians are compared.  Each
group also measures what no aggregate can avoid: scanning the table, or building
the hash table or the sort that groups it (count).  Writes a CSV, and a plot of
the times over the number of groups.
"""

import argparse
import contextlib
import csv
import io
import os
import re
import statistics
import time

from bench import COLUMNS, Results, Session, describe, one_value, table_exists, write_csv, write_plot

# Random values; the same in groups of many sizes; and as 12 bytes of text.
TABLES = '''
CREATE UNLOGGED TABLE rows AS
SELECT (random() * 4294967295 - 2147483648)::int AS v, (random() * 99999)::int AS g100k, (random() * 999)::int AS g1k,
       (random() * 2147483647)::int AS any_group, i AS each
FROM generate_series(1, {n}) i;
CREATE UNLOGGED TABLE ints AS SELECT v FROM rows;
CREATE UNLOGGED TABLE texts AS
SELECT to_hex(((v::int8 & 2147483647) << 16) | (any_group & 65535) | 140737488355328) COLLATE "C" AS v, g1k FROM rows;
CREATE UNLOGGED TABLE arrays AS
SELECT g1k AS g, a FROM (SELECT g1k, each * 5 / {n} AS part, array_agg(v ORDER BY v) AS a FROM rows GROUP BY 1, 2) s;
VACUUM ANALYZE rows, ints, texts, arrays;
'''
# the planner would give tables of this size fewer than it is allowed
WORKERS = ''.join(f'ALTER TABLE {table} SET (parallel_workers = {{workers}});' for table in ('rows', 'ints', 'texts', 'arrays'))

ORDER_BY = 'array_agg(ORDER BY)'
SERIAL, PARALLEL = False, True


# ---------------------------------------------------------------- what to measure
#
# A group is a baseline of PostgreSQL's and what is compared with it: (name,
# statement, whether workers help, least ratio).  "floor" is measured beside them.
# "sorts" says that the executor makes a difference.  "extra" groups and lines are
# left out where time is short.

def grouped(what, by, table='rows'):
    """by: None for one group without GROUP BY, whose GROUP BY () would keep it from running in parallel."""
    return f'SELECT count(a) FROM (SELECT {what} AS a FROM {table}{" GROUP BY " + by if by else ""}) q'


# the same aggregates under PostgreSQL's node instead of the extension's
def under_agg(name, sql, workers=SERIAL):
    return (f'{name} under Agg', sql, workers, 1.0, 'SET mgpu.enable_group = off;')


def against_order_by(name, table, by, goal, parallel_goal):
    ours = grouped('mgpu_sort_agg(v)', by, table)
    return {
        'name': name,
        'floor': grouped('count(v)', by, table),
        'baseline': (ORDER_BY, grouped('array_agg(v ORDER BY v)', by, table)),
        'ours': [('mgpu_sort_agg', ours, SERIAL, goal), ('mgpu_sort_agg', ours, PARALLEL, parallel_goal)]
        + ([under_agg('mgpu_sort_agg', ours), under_agg('mgpu_sort_agg', ours, PARALLEL)] if by and table == 'rows' else []),
    }


def when_sorted(by):
    return {
        'name': '100k groups, sorted',
        'settings': 'SET enable_hashagg = off;',
        'floor': grouped('count(v)', by),
        'baseline': (ORDER_BY, grouped('array_agg(v ORDER BY v)', by)),
        'ours': [('mgpu_sort_agg', grouped('mgpu_sort_agg(v)', by), SERIAL, 2.0), under_agg('mgpu_sort_agg', grouped('mgpu_sort_agg(v)', by))],
    }


def against_array_agg(name, by, sorts):
    """Against array_agg that does not sort."""
    ours = grouped('mgpu_sort_agg(v)', by)
    return {
        'name': name,
        'sorts': sorts,
        'floor': grouped('count(v)', by),
        'baseline': ('array_agg', grouped('array_agg(v)', by)),
        'ours': [('mgpu_sort_agg', ours, SERIAL, 1.0), ('mgpu_sort_agg', ours, PARALLEL, 1.0), under_agg('mgpu_sort_agg', ours)],
    }


def percentiles(by, parallel_goal):
    ours = grouped('mgpu_percentile_cont(v, 0.5)', by)
    return {
        'name': 'percentile, 100k groups',
        'baseline': ('percentile_cont', grouped('percentile_cont(0.5) WITHIN GROUP (ORDER BY v)', by)),
        'ours': [('mgpu_percentile_cont', ours, SERIAL, 4.0), ('mgpu_percentile_cont', ours, PARALLEL, parallel_goal),
                 under_agg('mgpu_percentile_cont', ours)],
    }


def five(by):
    theirs = ('ROW(array_agg(v ORDER BY v), percentile_disc(0.1) WITHIN GROUP (ORDER BY v), percentile_disc(0.5) WITHIN GROUP (ORDER BY v),'
              ' percentile_disc(0.9) WITHIN GROUP (ORDER BY v), percentile_cont(0.5) WITHIN GROUP (ORDER BY v))')
    ours = ('ROW(mgpu_sort_agg(v), mgpu_percentile_disc(v, 0.1), mgpu_percentile_disc(v, 0.5),'
            ' mgpu_percentile_disc(v, 0.9), mgpu_percentile_cont(v, 0.5))')
    return {
        'name': 'five aggregates, 100k groups',
        'extra': True,
        'baseline': ('five of PostgreSQL', grouped(theirs, by)),
        'ours': [('five of ours', grouped(ours, by), SERIAL, 4.0)],
    }


def by_key(by):
    return {
        'name': 'by key, 1k groups',
        'extra': True,
        'baseline': (ORDER_BY, grouped('array_agg(each ORDER BY v)', by)),
        'ours': [('mgpu_sort_agg_by', grouped('mgpu_sort_agg_by(each, v)', by), SERIAL, 3.0)],
    }


def merges():
    """Sorted arrays, merged in groups of five or six."""
    ours = 'SELECT count(m) FROM (SELECT mgpu_merge_agg(a) AS m FROM arrays GROUP BY g) q'
    return {
        'name': 'merge of arrays, 1k groups',
        'extra': True,
        'baseline': ('array_agg of elements', 'SELECT count(a) FROM (SELECT g, array_agg(x ORDER BY x) AS a FROM arrays, unnest(arrays.a) x GROUP BY g) q'),
        'ours': [('mgpu_merge_agg', ours, SERIAL, 4.0),
                 ('mgpu_merge_agg, runs exploited', ours, SERIAL, 4.0, 'SET mgpu.algorithm = locality;')],
    }


def groups_to_measure(options):
    many = options.workers >= 8
    whole, hashed, percentile = (12.0, 16.0, 12.0) if many else (4.0, 4.0, 4.0)
    return [
        against_order_by('whole table', 'ints', None, 3.5, whole),
        against_order_by('100k groups', 'rows', 'g100k', 4.0, hashed),
        against_order_by('1k groups', 'rows', 'g1k', 4.0, hashed),
        percentiles('g100k', percentile),
        against_order_by('text, whole table', 'texts', None, 3.0, 3.0),
        against_array_agg('one group', 'each * 0', True),
        when_sorted('g100k'),
        against_array_agg('each row a group', 'each', True),
        against_order_by('text, 1k groups', 'texts', 'g1k', 3.0, 3.0),
        by_key('g1k'),
        merges(),
        five('g100k'),
    ]


# ---------------------------------------------------------------------- measuring

class Statement:
    """One statement under its settings, and the times that it took."""

    def __init__(self, name, sql, settings):
        self.name, self.sql, self.settings = name, sql, settings
        self.goal = None
        self.ran = ''
        self.times = []

    def run(self, session, counts=True):
        session.run(self.settings)
        _, ms = session.run(self.sql + ';')
        if counts:
            self.times.append(ms)
        if self.goal and not self.ran:
            self.ran = session.run("SELECT executor || ' ' || coalesce(algorithm, '') || ', ' || segments || ' segments' FROM mgpu_last_run();")[0]
            plan = session.run(f'EXPLAIN {self.sql};')[0]
            self.ran += ''.join(f', {note}' for node, note in (('MgpuGroup', 'MgpuGroup'), ('Gather', 'parallel')) if node in plan)

    def median(self):
        return statistics.median(self.times)


class Group:
    """Statements that run in turn: floor, baseline, ours."""

    def __init__(self, definition, options):
        self.name = definition['name']
        settings = f"RESET ALL; SET search_path = bench, public; SET jit = off; SET work_mem = '{options.work_mem}';" + definition.get('settings', '')
        serial = settings + 'SET max_parallel_workers_per_gather = 0;'
        parallel = settings + f'SET max_parallel_workers = {options.workers}; SET max_parallel_workers_per_gather = {options.workers};'
        self.baseline = Statement(*definition['baseline'], serial)
        self.others = [Statement('count', definition['floor'], serial)] if 'floor' in definition else []
        self.ours = []
        for name, sql, in_parallel, goal, *more in definition['ours']:
            for executor in options.executors if definition.get('sorts', True) else options.executors[:1]:
                label = name + (f', {options.workers} workers' if in_parallel else '') + (f' ({executor})' if len(options.executors) > 1 else '')
                ours = Statement(label, sql, (parallel if in_parallel else serial) + f'SET mgpu.executor = {executor};' + ''.join(more))
                ours.goal = goal
                self.ours.append(ours)
        self.seconds = 0

    def statements(self):
        return self.others + [self.baseline] + self.ours

    def run(self, session, counts=True):
        started = time.monotonic()
        for statement in self.statements():
            statement.run(session, counts)
        self.seconds = max(self.seconds, time.monotonic() - started)

    def report(self, results):
        for ours in self.ours:
            results.add(self.name, ours.name, self.baseline.name, ours.ran, 'ms', ours.median(), self.baseline.median(), ours.goal)
        for statement in self.statements():
            results.rows.append([self.name, statement.name, '', '', 'ms', f'{statement.median():.2f}', '', '', '', ''])


def measure_groups(session, options, save):
    """All groups, one after the other, each in alternating rounds after one that warms up."""
    results = Results()
    for definition in groups_to_measure(options):
        if not any(re.search(pattern, definition['name']) for pattern in options.only):
            continue
        group = Group(definition, options)
        group.run(session, counts=False)
        for _ in range(options.rounds):
            group.run(session)
        group.report(results)
        save(results)


def measure_in_time(session, options, save):
    """
    What matters most first, a round of every group before the second of any, and
    no round that the time left may not be enough for.
    """
    deadline = options.started + options.seconds
    groups = [Group(definition, options) for definition in groups_to_measure(options)
              if not definition.get('extra') and any(re.search(pattern, definition['name']) for pattern in options.only)]
    longest = 0
    for turn in range(options.rounds):
        for group in groups:
            left = deadline - time.monotonic()
            if left < (group.seconds if turn > 0 else longest) * 1.1:
                print(f'{group.name}: no time for round {turn + 1}', flush=True)
                continue
            group.run(session)
            longest = max(longest, group.seconds)
            # in case that someone ends this
            with contextlib.redirect_stdout(io.StringIO()):
                report_all(groups, options, save)
    report_all(groups, options, save)


def report_all(groups, options, save):
    measured = [group for group in groups if group.baseline.times]
    rounds = [len(group.baseline.times) for group in measured]
    results = Results()
    for group in measured:
        group.report(results)
    save(results, f'{min(rounds)} to {max(rounds)}, as many as {options.seconds:g} s allow')


# ------------------------------------------------------- times over numbers of groups

CURVES = {
    'count(v)': 'count(v)',
    'array_agg(v ORDER BY v)': 'array_agg(v ORDER BY v)',
    'percentile_cont': 'percentile_cont(0.5) WITHIN GROUP (ORDER BY v)',
    'mgpu_sort_agg(v)': 'mgpu_sort_agg(v)',
    'mgpu_percentile_cont': 'mgpu_percentile_cont(v, 0.5)',
}


def curve_points(options):
    if options.points:
        return [int(point) for point in options.points.split(',')]
    points = [options.rows]
    while points[0] >= 10:
        points.insert(0, points[0] // 10)
    return points


def measure_curves(session, options, save):
    settings = f"RESET ALL; SET search_path = bench, public; SET jit = off; SET work_mem = '{options.work_mem}'; SET max_parallel_workers_per_gather = 0;"
    results = Results()
    for num_groups in curve_points(options):
        statements = [Statement(name, grouped(what, f'any_group % {num_groups}'), settings) for name, what in CURVES.items()]
        for _ in range(max(1, options.rounds // 3)):
            for statement in statements:
                statement.run(session)
        for statement in statements:
            results.rows.append([f'{num_groups} groups', statement.name, '', '', 'ms', f'{statement.median():.2f}', '', '', '', ''])
        print(f'{num_groups:9} groups  ' + '  '.join(f'{statement.name} {statement.median():.0f}' for statement in statements), flush=True)
        save(results)


# ------------------------------------------------------------------------- output

def earlier_rows(path):
    """The lines of an earlier run's CSV."""
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8', newline='') as file:
        return [row for row in csv.reader(line for line in file if not line.startswith('#'))][1:]


def make_tables(options):
    if options.keep and table_exists('arrays') and int(one_value('SELECT count(*) FROM bench.ints')) == options.rows:
        return
    one_value('SET client_min_messages = warning; DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench')
    session = Session()
    session.run('SET search_path = bench, public; SELECT setseed(0.5);' + TABLES.format(n=options.rows))
    session.run(WORKERS.format(workers=options.workers))
    session.close()


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tree', default='unknown')
    parser.add_argument('--name', default='aggregates')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--scale', type=float, default=1.0)
    parser.add_argument('--workers', type=int, default=min(8, os.cpu_count()))
    parser.add_argument('--executors')
    parser.add_argument('--seconds', type=float)
    parser.add_argument('--only', action='append')
    parser.add_argument('--work-mem', default='1GB')
    parser.add_argument('--no-lines', action='store_true')
    parser.add_argument('--no-curve', action='store_true')
    parser.add_argument('--points')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--add', action='store_true')
    parser.add_argument('--out', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'))
    options = parser.parse_args()
    options.started = time.monotonic()
    options.rows = int(1e7 * options.scale)
    options.only = options.only or ['']
    return options


def main():
    options = parse()
    one_value('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS mgpu_pg')
    gpu = one_value('SELECT name FROM mgpu_device_info() ORDER BY ordinal LIMIT 1')
    options.executors = options.executors.split(',') if options.executors else ['cpu', 'gpu'] if gpu else ['cpu']
    facts = describe(options, gpu)
    facts.update({'rows': options.rows, 'workers': options.workers, 'work_mem': options.work_mem})
    for name, value in facts.items():
        print(f'{name}: {value}')
    make_tables(options)
    print(f'data made in {time.monotonic() - options.started:.0f} s', flush=True)

    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, options.name)
    earlier = earlier_rows(path + '.csv') if options.add else []

    def save(results, rounds=options.rounds):
        """What was measured of other groups, by this run or with --add an earlier one, stays."""
        measured = {row[0] for row in results.rows}
        earlier[:] = [row for row in earlier if row[0] not in measured] + results.rows
        write_csv(path + '.csv', {**facts, 'rounds': rounds}, COLUMNS, earlier)

    session = Session()
    # whatever a session's first use of a device costs is not an aggregate's
    session.run(f'SET mgpu.executor = {options.executors[-1]}; SELECT cardinality(mgpu_sort(array_agg(i))) FROM generate_series(1, 100000) i;')
    if options.seconds:
        measure_in_time(session, options, save)
    elif not options.no_lines:
        measure_groups(session, options, save)
    if not options.no_curve and not options.seconds:
        measure_curves(session, options, save)
    session.close()
    rows = earlier_rows(path + '.csv')
    print(f'wrote {path}.csv')
    write_plot(path + '.csv')
    if not options.keep:
        one_value('DROP SCHEMA bench CASCADE')
    lines = [row for row in rows if row[9]]
    print(f'{sum(row[9] == "met" for row in lines)} of {len(lines)} goals met')


if __name__ == '__main__':
    main()
