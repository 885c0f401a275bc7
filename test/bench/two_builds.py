"""SQL statements of the bench with two builds of the library, side by side in one run.

Started by test/bench/bench --before LIBRARY.  The data are made once, with the
build that is installed; then the database is copied, and in the copy the
extension's functions are pointed at LIBRARY, an earlier mgpu_pg.so that is put
beside the installed one for so long.  Each statement runs in a session of either
database in turn, round after round, and medians are compared.  An earlier build
lacks functions that came later: what is measured here is older than both.

Installing one build after the other would need no copy, but then minutes lie
between what is compared.
"""

import os
import shutil
import statistics
import subprocess

import bench

COPY = 'mgpu_before'
LIBRARY = 'mgpu_pg_before'


def sort_group(scale, executor, algorithm):
    """Keys of both widths, and positions, by one algorithm."""
    tables = {element: f'{algorithm}_{element}_{executor}' for element in ('int4', 'int8')}
    statements = {}
    for element, table in tables.items():
        statements[f'sort {element}'] = f'SELECT cardinality(mgpu_sort(a)) FROM {table}'
        statements[f'argsort {element}'] = f'SELECT cardinality(mgpu_argsort(a)) FROM {table}'
    return {
        'name': f'{executor}: 10M, algorithm {algorithm}',
        'settings': f'SET mgpu.executor = {executor}; SET mgpu.algorithm = {algorithm};',
        'setup': ''.join(bench.stored(table, element, 10 * scale) for element, table in tables.items()),
        'statements': statements,
    }


def segments_group(scale, executor, mean):
    group = bench.segsort_group(scale, executor)
    rename = {f'segments_{executor}': f'segments_{executor}_{mean}', 'random() < 0.01': f'random() < {1 / mean}'}

    def renamed(sql):
        for old, new in rename.items():
            sql = sql.replace(old, new)
        return sql
    return {
        'name': f'{executor}: 10M int4, segments of {mean}',
        'settings': group['settings'],
        'setup': renamed(group['setup']),
        'statements': {'segsort': renamed(group['statements']['segsort'])},
    }


def groups_of(scale, gpu):
    groups = (bench.gpu_groups(scale) if gpu else []) + bench.type_groups(scale, gpu)
    for executor in ['gpu'] * bool(gpu) + ['cpu']:
        groups += [sort_group(scale, executor, algorithm) for algorithm in ['auto'] + ['merge'] * (executor == 'gpu')]
        groups += bench.family_groups(scale, executor)
        groups += [segments_group(scale, executor, mean) for mean in (10, 1000)]
    return groups


class EitherBuild:
    """Sessions in both databases that get the same statements."""

    def __init__(self, settings):
        self.sessions = {'before': bench.Session(COPY), 'after': bench.Session()}
        for session in self.sessions.values():
            session.run('SET client_min_messages = warning; SET search_path = bench, public; SET jit = off;'
                        'SET max_parallel_workers_per_gather = 0; SET work_mem = \'1GB\';' + settings)

    def turn(self, sql, odd):
        """(ms, kernel_ms) by build of one run of either, after one that warms up; the order alternates."""
        times = {}
        for build in sorted(self.sessions, reverse=odd):
            session = self.sessions[build]
            session.run(sql + ';')
            _, ms = session.run(sql + ';')
            times[build] = ms, float(session.run('SELECT kernel_ms FROM mgpu_last_run();')[0])
        return times

    def close(self):
        for session in self.sessions.values():
            session.close()


def run_group(group, rounds, rows):
    either = EitherBuild(group.get('settings', ''))
    for name, sql in group['statements'].items():
        if 'mgpu_' not in sql:
            continue
        turns = [either.turn(sql, turn % 2 == 1) for turn in range(rounds)]
        ms, kernel_ms = ({build: statistics.median(times[build][part] for times in turns) for build in either.sessions}
                         for part in (0, 1))
        executor = bench.executor_of(either.sessions['after'], sql)
        row = [group['name'], name, executor]
        for medians in (ms, kernel_ms):
            ratio = medians['before'] / medians['after'] if medians['after'] > 0 else 1
            row += [f'{medians["before"]:.3f}', f'{medians["after"]:.3f}', f'{ratio:.2f}']
        rows.append(row)
        print(f'{row[0]:34} {name:14} {ms["before"]:9.2f} {ms["after"]:9.2f} ms {row[5]:>6} x   executor '
              f'{kernel_ms["before"]:9.3f} {kernel_ms["after"]:9.3f} ms {row[8]:>6} x  [{executor}]', flush=True)
    either.close()


def library_path():
    """Where the earlier library lies for so long."""
    config = os.environ.get('PG_CONFIG', 'pg_config')
    folder = subprocess.run([config, '--pkglibdir'], check=True, capture_output=True, text=True).stdout.strip()
    return os.path.join(folder, f'{LIBRARY}.so')


def copy_database(library, installed):
    """Copies the database, and the library to where the copy's functions then come from."""
    shutil.copyfile(library, installed)
    os.chmod(installed, 0o755)
    name = bench.one_value('SELECT current_database()')
    # by way of the log it takes as long as making the data
    strategy = bench.one_value("SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN 'STRATEGY file_copy' END")
    subprocess.run(['psql', '-Xqd', 'template1', '-v', 'ON_ERROR_STOP=1', '-c', 'SET client_min_messages = warning',
                    '-c', f'DROP DATABASE IF EXISTS {COPY}',
                    '-c', f'CREATE DATABASE {COPY} TEMPLATE "{name}" {strategy}'], check=True)
    subprocess.run(['psql', '-Xqd', COPY, '-v', 'ON_ERROR_STOP=1', '-c',
                    f"UPDATE pg_proc SET probin = '$libdir/{LIBRARY}' WHERE probin LIKE '%mgpu_pg'"], check=True)


def main():
    parser = bench.option_parser()
    parser.add_argument('--before', required=True)
    options = parser.parse_args()

    gpu, facts = bench.begin(options)
    facts['before'] = options.before
    groups = [group for group in groups_of(options.scale, gpu) if bench.is_chosen(group, options)]
    print('-- making the data', flush=True)
    for group in groups:
        session = bench.Session()
        session.run('SET client_min_messages = warning; SET search_path = bench, public; SELECT setseed(0.5);')
        session.run(group['setup'])
        session.close()

    rows = []
    installed = library_path()
    try:
        copy_database(options.before, installed)
        for group in groups:
            run_group(group, options.rounds, rows)
    finally:
        bench.one_value('SET client_min_messages = warning; DROP SCHEMA bench CASCADE')
        subprocess.run(['psql', '-Xqc', f'DROP DATABASE IF EXISTS {COPY} WITH (FORCE)'], check=True)
        if os.path.exists(installed):
            os.unlink(installed)
    path = bench.result_path(options, gpu, '-before-after.csv')
    bench.write_csv(path, facts,
                    ['group', 'statement', 'executor', 'before_ms', 'after_ms', 'ratio',
                     'before_kernel_ms', 'after_kernel_ms', 'kernel_ratio'], rows)
    print(f'wrote {path}')


if __name__ == '__main__':
    main()
