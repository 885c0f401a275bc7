"""Measures statements on a table that is spread over several servers, and on the same table on one.

Started by test/bench/scale_out.  Both statements of a line run in turn, round after round,
in one session, and medians are compared.  Their answers are compared, too.
"""

import argparse
import os
import statistics
import subprocess

from bench import Session, describe, one_value, write_csv

DEVICES = 1000
COLUMNS = ['group', 'statement', 'one_server_ms', 'shards_ms', 'ratio']

# The rows of one shard of {shards}, or with step 1 all.  Values have two decimal places.
ROWS = '''
SELECT i % {shards} * ({devices} / {shards}) + i / {shards} % ({devices} / {shards}) AS device,
       hashint4(i) % 1000000 / 100.0::float8 AS value
FROM generate_series({first}, {rows} - 1, {step}) i
'''


def socket_of(shard):
    return f'{os.environ["MGPU_PRIVATE"]}/scratch/shard{shard}'


def make_shards(options):
    """Every shard fills its own table."""
    loads = []
    for shard in range(options.shards):
        sql = ('CREATE EXTENSION mgpu_pg; CREATE UNLOGGED TABLE readings AS '
               + ROWS.format(devices=DEVICES, shards=options.shards, rows=options.rows, first=shard, step=options.shards)
               + '; VACUUM ANALYZE readings;')
        # VACUUM runs in no transaction
        command = ['psql', '-XAtq', '-h', socket_of(shard), '-v', 'ON_ERROR_STOP=1']
        loads.append(subprocess.Popen(command, stdin=subprocess.PIPE, text=True))
        loads[-1].stdin.write(sql)
        loads[-1].stdin.close()
    for load in loads:
        if load.wait() != 0:
            raise SystemExit('a shard was not filled')


def make_coordinator(session, options):
    session.run('CREATE EXTENSION mgpu_pg; CREATE EXTENSION postgres_fdw; CREATE UNLOGGED TABLE local AS '
                + ROWS.format(devices=DEVICES, shards=options.shards, rows=options.rows, first=0, step=1)
                + '; VACUUM ANALYZE local; CREATE TABLE readings (device int, value float8) PARTITION BY RANGE (device);')
    per_shard = DEVICES // options.shards
    for shard in range(options.shards):
        session.run(f"""
            CREATE SERVER shard{shard} FOREIGN DATA WRAPPER postgres_fdw OPTIONS
                (host '{socket_of(shard)}', port '5432', extensions 'mgpu_pg', async_capable 'true', fetch_size '10000');
            CREATE USER MAPPING FOR postgres SERVER shard{shard};
            CREATE FOREIGN TABLE readings_{shard} PARTITION OF readings
                FOR VALUES FROM ({shard * per_shard}) TO ({(shard + 1) * per_shard}) SERVER shard{shard} OPTIONS (table_name 'readings');
            ANALYZE readings_{shard};""")
    arms = ' UNION ALL '.join(f'SELECT mgpu_sort_agg(value) AS a FROM readings_{shard}' for shard in range(options.shards))
    session.run(f'CREATE VIEW sorted_readings AS {arms};')


# ------------------------------------------------------------------ what to measure

def each_device(what, size='1'):
    """Rows, elements and an element of the answer, so that both servers' can be compared."""
    return f'SELECT count(*), sum({size}), min(a) FROM (SELECT device, {what} AS a FROM {{table}} GROUP BY device) q'


def whole(what, table='{table}'):
    return f'SELECT cardinality(a), a[1], a[cardinality(a) / 3] FROM (SELECT {what} AS a FROM {table}) q'


# group, statement, on one server, on shards where it differs
STATEMENTS = [
    ('median of each device', 'mgpu_percentile_cont', each_device('mgpu_percentile_cont(value, 0.5)'), None),
    ('median of each device', 'percentile_cont', each_device('percentile_cont(0.5) WITHIN GROUP (ORDER BY value)'), None),
    ('three largest of each device', 'mgpu_sort_agg', each_device('(mgpu_sort_agg(value, true))[1:3]', 'cardinality(a)'), None),
    ('three largest of each device', 'array_agg(ORDER BY)',
     each_device('(array_agg(value ORDER BY value DESC))[1:3]', 'cardinality(a)'), None),
    ('sorted values of each device', 'mgpu_sort_agg', each_device('mgpu_sort_agg(value)', 'cardinality(a)'), None),
    ('sorted values of each device', 'array_agg(ORDER BY)',
     each_device('array_agg(value ORDER BY value)', 'cardinality(a)'), None),
    ('whole table sorted', 'mgpu_sort_agg, mgpu_merge_agg', whole('mgpu_sort_agg(value)'),
     whole('mgpu_merge_agg(a)', 'sorted_readings')),
    ('whole table sorted', 'mgpu_sort_agg of fetched rows', whole('mgpu_sort_agg(value)'), None),
    ('whole table sorted', 'array_agg(ORDER BY)', whole('array_agg(value ORDER BY value)'), None),
]


def measure(session, statement, options):
    group, name, one, spread = statement
    queries = {'one': one.format(table='local'), 'shards': (spread or one).format(table='readings')}
    times = {'one': [], 'shards': []}
    for _ in range(options.rounds):
        answers = set()
        for where, query in queries.items():
            answer, ms = session.run(query + ';')
            answers.add(answer)
            times[where].append(ms)
        if len(answers) != 1:
            raise SystemExit(f'{group}, {name}: the answers differ')
    one_ms, shards_ms = (statistics.median(times[where]) for where in ('one', 'shards'))
    print(f'{group:30} {name:32} one {one_ms:9.0f} ms   {options.shards} shards {shards_ms:9.0f} ms   '
          f'{one_ms / shards_ms:5.2f} x   all: {times}', flush=True)
    print(session.run(f'EXPLAIN (COSTS OFF) {queries["shards"]};')[0], flush=True)
    return [group, name, f'{one_ms:.0f}', f'{shards_ms:.0f}', f'{one_ms / shards_ms:.2f}']


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tree', default='unknown')
    parser.add_argument('--scale', type=float, default=1.0)
    parser.add_argument('--shards', type=int, required=True)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--name', default='scale-out')
    parser.add_argument('--out', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'))
    options = parser.parse_args()
    options.rows = int(4e7 * options.scale)
    return options


def main():
    options = parse()
    load = f'{os.getloadavg()[1]:.1f}'
    session = Session()
    session.run("SET client_min_messages = warning; SET jit = off; SET work_mem = '1GB'; SET enable_partitionwise_aggregate = on;")
    make_shards(options)
    make_coordinator(session, options)
    facts = describe(options, one_value('SELECT name FROM mgpu_device_info() ORDER BY ordinal LIMIT 1'))
    facts.update({'rows': options.rows, 'devices': DEVICES, 'shards': f'{options.shards}, on the same machine', 'work_mem': '1GB',
                  'load before': load})
    for name, value in facts.items():
        print(f'{name}: {value}', flush=True)
    rows = [measure(session, statement, options) for statement in STATEMENTS]
    session.close()
    path = os.path.join(options.out, options.name + '.csv')
    write_csv(path, facts, COLUMNS, rows)
    print(f'wrote {path}')


if __name__ == '__main__':
    main()
