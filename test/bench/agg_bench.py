"""Measures mgpu_pg's aggregates against PostgreSQL's in one run.

Started by test/bench/agg_bench.  As in bench.py, the statements of a group run
in turn, round after round, in one session, and medians are compared.  Each
group also measures what no aggregate can avoid: scanning the table, or building
the hash table or the sort that groups it (count).  Writes a CSV, and a plot of
the times over the number of groups.
"""

import argparse
import os

from bench import Results, Session, describe, measure, one_value, write_csv

# Random values; the same in groups of many sizes; and as 12 bytes of text.
TABLES = '''
CREATE UNLOGGED TABLE rows AS
SELECT (random() * 4294967295 - 2147483648)::int AS v, (random() * 99999)::int AS g100k, (random() * 999)::int AS g1k,
       (random() * 2147483647)::int AS any_group, i AS each
FROM generate_series(1, {n}) i;
CREATE UNLOGGED TABLE ints AS SELECT v FROM rows;
CREATE UNLOGGED TABLE texts AS SELECT substr(md5(v::text), 1, 12) COLLATE "C" AS v, g1k FROM rows;
VACUUM ANALYZE rows, ints, texts;
'''

SERIAL = 'SET max_parallel_workers_per_gather = 0;'
PARALLEL = 'SET max_parallel_workers_per_gather = 2;'


def grouped(what, by, table='rows'):
    return f'SELECT count(a) FROM (SELECT {what} AS a FROM {table} GROUP BY {by}) q'


def against_order_by(name, table, by, goal, settings=SERIAL):
    """mgpu_sort_agg against array_agg(… ORDER BY …), which never runs in parallel."""
    return {
        'name': name,
        'settings': settings,
        'statements': {
            'count': grouped('count(v)', by, table),
            'array_agg(ORDER BY)': grouped('array_agg(v ORDER BY v)', by, table),
            'mgpu_sort_agg': grouped('mgpu_sort_agg(v)', by, table),
        },
        'lines': [('mgpu_sort_agg', 'array_agg(ORDER BY)', goal)],
    }


def against_array_agg(name, by):
    """mgpu_sort_agg against array_agg, which does not sort."""
    return {
        'name': name,
        'settings': SERIAL,
        'statements': {
            'count': grouped('count(v)', by),
            'array_agg': grouped('array_agg(v)', by),
            'mgpu_sort_agg': grouped('mgpu_sort_agg(v)', by),
        },
        'lines': [('mgpu_sort_agg', 'array_agg', 1.0)],
    }


def percentiles(name, by, settings, goal):
    return {
        'name': name,
        'settings': settings,
        'statements': {
            'count': grouped('count(v)', by),
            'percentile_cont': grouped('percentile_cont(0.5) WITHIN GROUP (ORDER BY v)', by),
            'mgpu_percentile_cont': grouped('mgpu_percentile_cont(v, 0.5)', by),
            'five aggregates': grouped('ROW(array_agg(v ORDER BY v), percentile_disc(0.1) WITHIN GROUP (ORDER BY v), percentile_disc(0.5) WITHIN GROUP (ORDER BY v),'
                                       ' percentile_disc(0.9) WITHIN GROUP (ORDER BY v), percentile_cont(0.5) WITHIN GROUP (ORDER BY v))', by),
            'five of ours': grouped('ROW(mgpu_sort_agg(v), mgpu_percentile_disc(v, 0.1), mgpu_percentile_disc(v, 0.5),'
                                    ' mgpu_percentile_disc(v, 0.9), mgpu_percentile_cont(v, 0.5))', by),
        },
        'lines': [('mgpu_percentile_cont', 'percentile_cont', goal), ('five of ours', 'five aggregates', goal)],
    }


def by_key(name, by, settings, goal):
    return {
        'name': name,
        'settings': settings,
        'statements': {
            'array_agg(ORDER BY)': grouped('array_agg(each ORDER BY v)', by),
            'mgpu_sort_agg_by': grouped('mgpu_sort_agg_by(each, v)', by),
        },
        'lines': [('mgpu_sort_agg_by', 'array_agg(ORDER BY)', goal)],
    }


def merges(by):
    """Sorted arrays of 100, merged in groups of many."""
    arrays = f'FROM (SELECT {by}, each / 2000000 AS part, array_agg(v ORDER BY v) AS a FROM rows GROUP BY 1, 2)'
    return {
        'name': f'merge of arrays by {by}',
        'settings': SERIAL,
        'setup': f'CREATE UNLOGGED TABLE arrays AS SELECT {by} AS g, a {arrays} s; VACUUM ANALYZE arrays;',
        'statements': {
            'array_agg of elements': 'SELECT count(a) FROM (SELECT g, array_agg(x ORDER BY x) AS a FROM arrays, unnest(arrays.a) x GROUP BY g) q',
            'mgpu_merge_agg': 'SELECT count(m) FROM (SELECT mgpu_merge_agg(a) AS m FROM arrays GROUP BY g) q',
        },
        'lines': [('mgpu_merge_agg', 'array_agg of elements', 4.0)],
    }


def groups_to_measure():
    return [
        against_order_by('whole table', 'ints', '()', 3.5),
        against_order_by('whole table, 2 workers', 'ints', '()', 4.0, PARALLEL),
        against_order_by('1k groups', 'rows', 'g1k', 4.0),
        against_order_by('1k groups, 2 workers', 'rows', 'g1k', 4.0, PARALLEL),
        against_order_by('100k groups', 'rows', 'g100k', 4.0),
        against_order_by('100k groups, 2 workers', 'rows', 'g100k', 4.0, PARALLEL),
        against_order_by('100k groups, sorted', 'rows', 'g100k', 2.0, SERIAL + 'SET enable_hashagg = off;'),
        against_array_agg('one group', 'each * 0'),
        against_array_agg('each row a group', 'each'),
        percentiles('percentiles, 100k groups', 'g100k', SERIAL, 4.0),
        percentiles('percentiles, 100k groups, 2 workers', 'g100k', PARALLEL, 4.0),
        by_key('by key, 1k groups', 'g1k', SERIAL, 3.0),
        against_order_by('text, whole table', 'texts', '()', 3.0),
        against_order_by('text, whole table, 2 workers', 'texts', '()', 3.0, PARALLEL),
        against_order_by('text, 1k groups', 'texts', 'g1k', 3.0),
        against_order_by('text, 1k groups, 2 workers', 'texts', 'g1k', 3.0, PARALLEL),
        merges('g1k'),
    ]


def run_group(group, options, results):
    session = Session()
    session.run('SET client_min_messages = warning; SET search_path = bench, public;' + group.get('setup', ''))
    session.run(f"SET jit = off; SET work_mem = '{options.work_mem}';" + group['settings'])
    medians = measure(session, group['statements'], options.rounds)
    for ours, baseline, goal in group['lines']:
        session.run(group['statements'][ours] + ';')
        ran = session.run("SELECT executor || ' ' || coalesce(algorithm, '') || ', ' || segments || ' segments' FROM mgpu_last_run();")[0]
        results.add(group['name'], ours, baseline, ran, 'ms', medians[ours], medians[baseline], goal)
    for name, ms in medians.items():
        results.rows.append([group['name'], name, '', '', 'ms', f'{ms:.2f}', '', '', '', ''])
    session.close()


# ------------------------------------------------------- times over numbers of groups

CURVES = {
    'count(v)': 'count(v)',
    'array_agg(v ORDER BY v)': 'array_agg(v ORDER BY v)',
    'percentile_cont': 'percentile_cont(0.5) WITHIN GROUP (ORDER BY v)',
    'mgpu_sort_agg(v)': 'mgpu_sort_agg(v)',
    'mgpu_percentile_cont': 'mgpu_percentile_cont(v, 0.5)',
}


def run_curves(options, results):
    points = []
    n = options.rows
    while n >= 1:
        points.insert(0, int(n))
        n /= 10
    curves = {name: [] for name in CURVES}
    session = Session()
    session.run(f"SET search_path = bench, public; SET jit = off; SET work_mem = '{options.work_mem}';" + SERIAL)
    for num_groups in points:
        medians = measure(session, {name: grouped(what, f'any_group % {num_groups}') for name, what in CURVES.items()},
                          max(1, options.rounds // 3))
        for name, ms in medians.items():
            curves[name].append(ms)
            results.rows.append([f'{num_groups} groups', name, '', '', 'ms', f'{ms:.2f}', '', '', '', ''])
        print(f'{num_groups:9} groups  ' + '  '.join(f'{name} {ms:.0f}' for name, ms in medians.items()), flush=True)
    session.close()
    return points, curves


def write_plot(path, facts, points, curves):
    try:
        import matplotlib
    except ImportError:
        print('no matplotlib here: no plot')
        return
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(8, 5))
    for name, times in curves.items():
        ours = name.startswith('mgpu')
        axes.plot(points, times, marker='o', linewidth=2 if ours else 1, linestyle='-' if ours else '--', label=name)
    axes.set_xscale('log')
    axes.set_yscale('log')
    axes.set_xlabel(f'groups among {facts["rows"]:,} rows of int4')
    axes.set_ylabel('ms')
    axes.legend()
    axes.grid(alpha=0.3)
    axes.set_title(f'mgpu_pg, PostgreSQL {facts["PostgreSQL"].split()[0]}, {facts["processor"]}, no parallel workers', fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f'wrote {path}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tree', default='unknown')
    parser.add_argument('--name', default='aggregates')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--scale', type=float, default=1.0)
    parser.add_argument('--only', default='')
    parser.add_argument('--work-mem', default='1GB')
    parser.add_argument('--no-curve', action='store_true')
    parser.add_argument('--out', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'))
    options = parser.parse_args()
    options.rows = int(1e7 * options.scale)

    one_value('SET client_min_messages = warning; DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench;'
              'CREATE EXTENSION IF NOT EXISTS mgpu_pg')
    facts = describe(options, one_value('SELECT name FROM mgpu_device_info() ORDER BY ordinal LIMIT 1'))
    facts.update({'rows': options.rows, 'work_mem': options.work_mem})
    for name, value in facts.items():
        print(f'{name}: {value}')
    session = Session()
    session.run('SET search_path = bench, public; SELECT setseed(0.5);' + TABLES.format(n=options.rows))
    session.close()

    results = Results()
    for group in groups_to_measure():
        if options.only in group['name']:
            run_group(group, options, results)
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, options.name)
    if not options.no_curve:
        write_plot(path + '.png', facts, *run_curves(options, results))
    write_csv(path + '.csv', facts, results)
    print(f'wrote {path}.csv')
    one_value('DROP SCHEMA bench CASCADE')
    lines = [row for row in results.rows if row[9]]
    print(f'{sum(row[9] == "met" for row in lines)} of {len(lines)} goals met')


if __name__ == '__main__':
    main()
