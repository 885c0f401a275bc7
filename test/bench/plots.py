#!/usr/bin/env python3
"""Draws what the benches measured: what a statement takes beside PostgreSQL's own.

    test/bench/plots.py             the plots of README.md and docs/, from test/bench/results
    test/bench/plots.py CSV PNG     whatever a bench's CSV has

STATEMENTS says which lines of a CSV are statements of a user's, and how a user
would write them.  Other lines (ours beside ours, goals) are in the CSVs alone.
"""

import collections
import csv
import glob
import os
import re
import sys

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

COLOURS = {'PostgreSQL': '#9aa5b1', 'mgpu_pg, CPU': '#2f6fb3', 'mgpu_pg, GPU': '#3f9142'}

# For the reader: our SQL, the data, PostgreSQL's SQL.  In the CSV: group and name,
# without the executor's, and what it is compared with.
Statement = collections.namedtuple('Statement', 'sql data postgres group name baseline')
ORDER_BY = 'array_agg(x ORDER BY x)'


def sort_of(data, group, name='sort'):
    return Statement('mgpu_sort(a)', data, ORDER_BY, group, name, ORDER_BY)


STATEMENTS = {
    'int4': sort_of('10M int4', '10M stored', 'sort int4'),
    'int8': sort_of('10M int8', '10M stored', 'sort int8'),
    'float8': sort_of('10M float8', '10M stored', 'sort float8'),
    'text': sort_of('10M text, collation C', 'types: 10M text of 12 bytes, C'),
    'uuid': sort_of('10M uuid', 'types: 10M uuid'),
    'numeric': sort_of('10M numeric', 'types: 10M numeric'),
    'urls': sort_of('5M URLs, collation C', 'types: 5M URLs, 30 common bytes'),
    'icu': sort_of('5M words, ICU collation', 'types: 5M words, ICU'),
    'inet': sort_of('5M inet', 'types: 5M inet'),
    'argsort': Statement('mgpu_argsort(a)', '10M int4', 'array_agg(i ORDER BY x, i)', '10M stored', 'argsort int4',
                         'array_agg(position ORDER BY x, position)'),
    'sort_by': Statement('mgpu_sort_by(v, k)', '10M int8 by int4', 'array_agg(v ORDER BY k, i)', '10M stored',
                         'sort_by int8 by int4', 'array_agg(v ORDER BY k, position)'),
    'merge': Statement('mgpu_merge(a, b)', '5M and 5M int4', ORDER_BY, 'merge of two 5M int4', 'merge',
                       ORDER_BY + ' over both unnested'),
    'sort_agg': Statement('mgpu_sort_agg(v) … GROUP BY g', '10M rows, 100,000 groups', 'array_agg(v ORDER BY v)', '100k groups',
                          'mgpu_sort_agg', 'array_agg(ORDER BY)'),
    'percentile': Statement('mgpu_percentile_cont(v, 0.5) … GROUP BY g', '10M rows, 100,000 groups', 'percentile_cont(0.5)',
                            'percentile, 100k groups', 'mgpu_percentile_cont', 'percentile_cont'),
}


def read_csv(path):
    """A note that says where and when, and the table's lines."""
    with open(path, encoding='utf-8', newline='') as file:
        lines = file.readlines()
    heading = [line[2:].strip() for line in lines if line.startswith('# ')]
    facts = dict(line.split(': ', 1) for line in heading if ': ' in line)
    note = heading[0].split(', kernels tree')[0]
    if 'PostgreSQL' in facts:
        gpu = 'no GPU' if facts['GPU'] == 'none' else facts['GPU']
        note = f'{facts["processor"]}; {gpu}; PostgreSQL {facts["PostgreSQL"].split()[0]}; {facts["date"]}'
        note += f'; sizes × {facts["scale"]}' if facts['scale'] != '1.0' else ''
    return note, list(csv.DictReader(line for line in lines if not line.startswith('#')))


def find_times(statement, rows):
    """Milliseconds by series, the first ones in rows; empty where the statement was not measured."""
    times = {}
    for row in rows:
        group = re.sub('^(cpu|gpu): ', '', row['group'])
        name = re.sub(r'(, (cpu|gpu)| \((cpu|gpu)\))$', '', row['ours'])
        if row['ratio'] and (group, name, row['baseline']) == statement[3:]:
            times.setdefault('PostgreSQL', float(row['baseline_value']))
            times.setdefault(f'mgpu_pg, {row["executor"][:3].upper()}', float(row['value']))
    return times


def finish(figure, path, note, top=1.0):
    figure.text(0.99, 0.01, note, ha='right', va='bottom', fontsize=8, color='#555555')
    figure.tight_layout(rect=(0, 0.03, 1, top))
    figure.savefig(path, dpi=100)
    plt.close(figure)
    print(f'wrote {path}')


def draw_statements(path, note, rows, names=STATEMENTS):
    """Bars of those of the named statements that rows have."""
    found = [(STATEMENTS[name], find_times(STATEMENTS[name], rows)) for name in names]
    found = [(statement, times) for statement, times in found if times]
    if not found:
        return
    series = [name for name in COLOURS if any(name in times for _, times in found)]
    height = 0.8 / len(series)
    longest = max(max(times.values()) for _, times in found)
    figure, axes = plt.subplots(figsize=(9, 0.7 + len(found) * (0.27 * len(series) + 0.2)))
    for at, (statement, times) in enumerate(found):
        for place, name in enumerate(name for name in series if name in times):
            y = at + (place - (len(times) - 1) / 2) * height
            ms = times[name]
            text = f'{ms / 1000:.1f} s' if ms >= 1000 else f'{ms:.0f} ms'
            axes.barh(y, ms, height * 0.92, color=COLOURS[name])
            axes.text(ms + longest * 0.01, y, text + (f'  {statement.postgres}' if name == 'PostgreSQL' else ''), va='center', fontsize=9)
    axes.set_yticks(range(len(found)), [f'{statement.sql}\n{statement.data}' for statement, _ in found], fontsize=10)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlim(right=longest * 1.5)
    axes.xaxis.set_visible(False)
    axes.spines[['top', 'right', 'bottom']].set_visible(False)
    axes.tick_params(left=False)
    figure.legend(handles=[plt.Rectangle((0, 0), 1, 1, color=COLOURS[name], label=name) for name in series],
                  loc='upper center', ncols=len(series), frameon=False, fontsize=10)
    finish(figure, path, note, top=0.95)


def style_curves(axes, xlabel):
    axes.set(xscale='log', xlabel=xlabel)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f'{x / 1e6:g}M' if x >= 1e6 else f'{x:,.0f}'))
    axes.spines[['top', 'right']].set_visible(False)
    axes.grid(axis='y', alpha=0.3)


CURVES = {'array_agg(v ORDER BY v)': ('PostgreSQL', '-'), 'percentile_cont': ('PostgreSQL', '--'),
          'mgpu_sort_agg(v)': ('mgpu_pg, CPU', '-'), 'mgpu_percentile_cont': ('mgpu_pg, CPU', '--')}


def draw_groups(path, note, rows):
    """Seconds of a GROUP BY against its number of groups.  False where rows have no such points."""
    points = {name: sorted((int(row['group'].split()[0]), float(row['value']) / 1000) for row in rows
                           if row['ours'] == name and re.fullmatch(r'\d+ groups', row['group'])) for name in CURVES}
    if not all(points.values()):
        return False
    figure, axes = plt.subplots(figsize=(9, 4))
    for name, (series, style) in CURVES.items():
        axes.plot(*zip(*points[name]), color=COLOURS[series], linestyle=style, marker='o', markersize=4, linewidth=2, label=name)
    style_curves(axes, 'number of groups')
    axes.set_ylabel('seconds')
    axes.legend(frameon=False, loc='upper left')
    finish(figure, path, note)
    return True


def draw_kernels(path, note, rows):
    """Keys in random order that the automatic choice and CUB's radix sort put in order in a second."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for axes, keys, title in zip(panels, ('u32', 'u64'), ('4-byte keys', '8-byte keys')):
        for sort, label, series in (('mgpu auto', 'mgpu_pg', 'mgpu_pg, GPU'), ('CUB radix', 'CUB radix sort', 'PostgreSQL')):
            points = sorted((int(row['items']), float(row['gkeys_per_s'])) for row in rows
                            if (row['input'], row['keys'], row['indexed'], row['sort'].split(':')[0]) == ('random', keys, '0', sort))
            axes.plot(*zip(*points), color=COLOURS[series], marker='o', markersize=4, linewidth=2, label=label)
        style_curves(axes, 'keys, in random order')
        axes.set_title(title)
    panels[0].set_ylabel('billion keys a second')
    panels[0].legend(frameon=False)
    finish(figure, path, note)


def draw_row_costs(path, note, rows):
    """What a row of a table costs by each way of reading it."""
    figure, axes = plt.subplots(figsize=(9, 2.6))
    ways = [row['way'] for row in rows]
    costs = [float(row['ns_a_row']) for row in rows]
    colours = [COLOURS['mgpu_pg, GPU' if 'GPU' in way or 'session' in way else 'mgpu_pg, CPU' if 'CPU' in way else 'PostgreSQL'] for way in ways]
    axes.barh(ways, costs, color=colours)
    axes.invert_yaxis()
    axes.bar_label(axes.containers[0], fmt='%.1f ns', padding=4)
    axes.spines[['top', 'right']].set_visible(False)
    axes.set_xlim(0, max(costs) * 1.12)
    axes.set_xlabel('nanoseconds a row of SELECT count(*)')
    finish(figure, path, note)


SESSIONS = {'in-process gpu': ('GPU, a context in each session', 'PostgreSQL', '-'), 'service gpu': ('GPU, the service', 'mgpu_pg, GPU', '-'),
            'service auto': ('the service, mgpu.executor = auto', 'mgpu_pg, GPU', '--'), 'cpu': ('CPU', 'mgpu_pg, CPU', '-')}


def draw_sessions(path, note, rows):
    """Seconds until the last of some sessions has its answers, against their number."""
    figure, axes = plt.subplots(figsize=(9, 4))
    for mode, (label, series, style) in SESSIONS.items():
        points = sorted((int(row['sessions']), float(row['value']) / 1000) for row in rows
                        if (row['part'], row['mode'], row['what']) == ('together', mode, 'time') and row['value'])
        if points:
            axes.plot(*zip(*points), color=COLOURS[series], linestyle=style, marker='o', markersize=4, linewidth=2, label=label)
    axes.set(xscale='log', yscale='log', xlabel='sessions that start together, each of which sorts 1M int4 five times', ylabel='seconds')
    axes.set_xticks(sorted({int(row['sessions']) for row in rows if row['part'] == 'together'}))
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f'{x:,.0f}'))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f'{y:g}'))
    axes.spines[['top', 'right']].set_visible(False)
    axes.grid(axis='y', alpha=0.3)
    axes.legend(frameon=False, loc='upper left')
    finish(figure, path, note)


PLAIN_SQL = {'cpu': ('mgpu_pg, CPU', COLOURS['mgpu_pg, CPU']), 'gpu': ('mgpu_pg, GPU', COLOURS['mgpu_pg, GPU']), 'DuckDB': ('DuckDB', '#d9b44a')}


def draw_plain_sql(path, note, rows):
    """How many times as fast each statement is as by PostgreSQL's own plan with as many processes."""
    rows = [row for row in rows if row['ratio']]
    statements = list(dict.fromkeys((row['statement'], row['work_mem']) for row in rows))
    systems = [system for system in PLAIN_SQL if any(row['system'] == system for row in rows)]
    workers = [parallel for parallel in ('no', 'yes') if any(row['parallel'] == parallel for row in rows)]
    ratios = [float(row['ratio']) for row in rows]
    height = 0.84 / len(systems)
    figure, panels = plt.subplots(1, len(workers), figsize=(2.5 + 4.5 * len(workers), 1.4 + len(statements) * (0.14 + 0.17 * len(systems))),
                                  sharey=True, squeeze=False)
    for axes, parallel in zip(panels[0], workers):
        for row in rows:
            if row['system'] in systems and row['parallel'] == parallel:
                ratio = float(row['ratio'])
                y = statements.index((row['statement'], row['work_mem'])) + (systems.index(row['system']) - (len(systems) - 1) / 2) * height
                # pale where the plan is PostgreSQL's own
                own = row['system'] != 'DuckDB' and not row['node']
                axes.barh(y, ratio - 1, height * 0.9, left=1, color=PLAIN_SQL[row['system']][1], alpha=0.35 if own else 1)
                axes.text(max(ratio, 1) * 1.04, y, f'{ratio:.1f} ×' if ratio < 100 else f'{ratio:.0f} ×', va='center', fontsize=8)
        axes.set(xscale='log', title='parallel workers' if parallel == 'yes' else 'one process')
        axes.set_xlim(min(0.5, min(ratios) / 1.1), max(2, max(ratios)) * 2)
        least, most = axes.get_xlim()
        ticks = [ten * step for ten in (0.01, 0.1, 1, 10, 100, 1000) for step in ((1, 2, 5) if most < 50 * least else (1,))]
        axes.set_xticks([x for x in ticks if least <= x <= most])
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f'{x:g} ×'))
        axes.axvline(1, color='#333333', linewidth=1)
        axes.spines[['top', 'right', 'left']].set_visible(False)
        axes.tick_params(left=False)
        axes.grid(axis='x', alpha=0.3)
        axes.set_axisbelow(True)
    panels[0][0].set_yticks(range(len(statements)), [name + (f', work_mem {work_mem}' if work_mem.endswith('MB') else '')
                                                     for name, work_mem in statements], fontsize=9)
    panels[0][0].set_ylim(len(statements) - 0.4, -0.6)
    handles = [plt.Rectangle((0, 0), 1, 1, color=PLAIN_SQL[system][1], label=PLAIN_SQL[system][0]) for system in systems]
    if any(row['system'] in ('cpu', 'gpu') and not row['node'] for row in rows):
        handles.append(plt.Rectangle((0, 0), 1, 1, color='#555555', alpha=0.35, label="pale: PostgreSQL's own plan is kept"))
    figure.legend(handles=handles, loc='upper center', ncols=len(handles), frameon=False, fontsize=10,
                  title="How many times as fast as PostgreSQL's own plan")
    finish(figure, path, note, top=1 - 0.6 / figure.get_figheight())


def draw(csv_path, png_path):
    note, rows = read_csv(csv_path)
    if 'ns_a_row' in rows[0]:
        draw_row_costs(png_path, note, rows)
    elif 'system' in rows[0]:
        draw_plain_sql(png_path, note, rows)
    elif 'sessions' in rows[0]:
        draw_sessions(png_path, note, rows)
    elif 'gkeys_per_s' in rows[0]:
        draw_kernels(png_path, note, rows)
    elif not draw_groups(png_path, note, rows):
        draw_statements(png_path, note, rows)


def draw_docs():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results')

    def table(name, *more):
        """Lines of several CSVs of one machine."""
        note, rows = read_csv(f'{folder}/{name}.csv')
        return note, rows + [row for other in more for row in read_csv(f'{folder}/{other}.csv')[1]]

    draw_statements(f'{folder}/h200-statements.png', *table('h200-types-text', 'h200-types', 'h200-aggregates'),
                    ('uuid', 'text', 'numeric', 'sort_agg', 'percentile'))
    draw_statements(f'{folder}/cpu-arrays.png', *table('cpu-epyc-large', 'cpu-epyc-families'),
                    ('int4', 'int8', 'float8', 'argsort', 'sort_by', 'merge'))
    draw_statements(f'{folder}/cpu-types.png', *table('cpu-types-10m'))
    draw(f'{folder}/cpu-aggregates.csv', f'{folder}/cpu-groups.png')
    draw(f'{folder}/h200-kernel_bench.csv', f'{folder}/h200-kernels.png')
    draw(f'{folder}/h100-row-costs.csv', f'{folder}/where-a-nanosecond-goes.png')
    for path in glob.glob(f'{folder}/*-sessions.csv') + glob.glob(f'{folder}/*-plain-sql.csv'):
        draw(path, path.removesuffix('.csv') + '.png')


if __name__ == '__main__':
    if len(sys.argv) == 3:
        draw(*sys.argv[1:])
    else:
        draw_docs()
