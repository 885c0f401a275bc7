"""Measures many sessions that share one GPU.

Started by test/bench/sessions.  The same statements run in each mode: every session
with a CUDA context of its own ("in-process"), all through the service, or on the CPU.
The server is restarted before each mode.  Every answer's number of elements is checked.
Writes a CSV, and a plot of the time over the number of sessions.
"""

import argparse
import collections
import glob
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

from bench import Session, describe, one_value, result_path, write_csv, write_plot

# Whether the library is preloaded, and mgpu.executor.
Mode = collections.namedtuple('Mode', 'name preload executor')
IN_PROCESS = Mode('in-process gpu', False, 'gpu')
SERVICE = Mode('service gpu', True, 'gpu')
AUTO = Mode('service auto', True, 'auto')
CPU = Mode('cpu', False, 'cpu')

# More sessions with contexts of their own take minutes to start.
IN_PROCESS_SESSIONS = 64

# No further run of a point that has taken so long, and the end of one that takes longer.
ENOUGH_SECONDS = 10
TOO_LONG_SECONDS = 120

SORTS = 5
MOST, LEAST, NUM_SIZES = 5_000_000, 1000, 24
COLUMNS = ['part', 'mode', 'sessions', 'what', 'unit', 'value', 'note']


def service_is_up():
    for _ in range(200):
        if one_value('SELECT count(*) FROM mgpu_stat_service WHERE up') != '0':
            return True
        time.sleep(0.1)
    print('the service did not start within 20 s')
    return False


class Bench:
    """The server in one mode after another, and the lines of the CSV."""

    def __init__(self, options):
        self.options = options
        self.rows = []
        self.gpu = True

    def start(self, mode):
        """Whether the mode can run here."""
        settings = {'shared_preload_libraries': 'mgpu_pg' if mode.preload else '', 'max_connections': 300, 'autovacuum': 'off',
                    'jit': 'off', 'shared_buffers': '512MB' if self.options.quick else '4GB', 'max_wal_size': '8GB'}
        private = os.environ['MGPU_PRIVATE']
        os.environ['PGOPTIONS'] = ''
        subprocess.run(os.environ.get('MGPU_RUN_AS', '').split() +
                       ['pg_ctl', '-D', f'{private}/data', '-l', f'{private}/server.log', '-m', 'fast', '-t', '120', '-w',
                        '-o', ' '.join(f'-c {name}={value}' for name, value in settings.items()), 'restart'],
                       check=True, cwd=private, stdout=subprocess.DEVNULL)
        os.environ['PGOPTIONS'] = f'-c mgpu.executor={mode.executor} -c search_path=bench,public'
        return not mode.preload or service_is_up()

    def add(self, part, mode, sessions, what, unit, value, note=''):
        self.rows.append([part, mode.name, sessions, what, unit, f'{value:.3f}' if isinstance(value, float) else value, note])

    def wants(self, part):
        return re.search(self.options.only, part) is not None


# --------------------------------------------------------------------------- data

def sizes(options):
    """Evenly spread over the logarithms."""
    return [int(LEAST * (MOST / LEAST) ** ((i + 0.5) / NUM_SIZES) * min(1, options.scale)) for i in range(NUM_SIZES)]


def make_data(options):
    """Arrays of n random int4 with the heads of segments of 100, all parts of the largest."""
    print('making the data', flush=True)
    largest = int(10e6 * options.scale)
    wanted = [2, 100, 10_000, int(1e6 * options.scale), largest] + sizes(options)
    session = Session()
    session.run('SET client_min_messages = warning; SELECT setseed(0.5);')
    session.run(f'''
        DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench; CREATE EXTENSION IF NOT EXISTS mgpu_pg; SET search_path = bench, public;
        CREATE TABLE ran (executor text, reason text);
        CREATE TABLE arrays (n int, a int[], heads int[]);
        ALTER TABLE arrays ALTER a SET STORAGE EXTERNAL, ALTER heads SET STORAGE EXTERNAL;
        INSERT INTO arrays
        WITH whole AS MATERIALIZED (SELECT array_agg((random() * 4294967295 - 2147483648)::int) AS a FROM generate_series(1, {largest}))
        SELECT n, a[1:n], ARRAY(SELECT generate_series(1, n, 100)) FROM whole, (SELECT DISTINCT unnest('{{{','.join(map(str, wanted))}}}'::int[])) s (n);
        CREATE INDEX ON arrays (n); ANALYZE arrays;
        CREATE UNLOGGED TABLE numbers AS
        SELECT (random() * 1e9)::int4 AS v, floor(random() * 100000)::int4 AS g, floor(random() * 1000)::int4 AS g2, random() AS f
        FROM generate_series(1, {largest}) OFFSET 0;
        VACUUM ANALYZE numbers; CHECKPOINT;''')
    if options.large:
        # array_agg ends at 2^26 elements, and an array at 2^27, so it is 1 GB of int8
        session.run(f'''
            CREATE UNLOGGED TABLE large (a int8[]); ALTER TABLE large ALTER a SET STORAGE EXTERNAL;
            INSERT INTO large
            WITH part AS MATERIALIZED (SELECT array_agg(((random() - 0.5) * 1.8e19)::int8) AS a FROM generate_series(1, {int(33.5e6 * options.scale)}))
            SELECT a || a || a || a FROM part;''')
    session.close()


def sort_of(n, what='mgpu_sort(a)'):
    """A statement that fails where the answer has another number of elements."""
    return f'SELECT 1 / (cardinality({what}) = {n})::int FROM arrays WHERE n = {n}'


def warm_up():
    one_value('SELECT sum(cardinality(a) + a[1] % 2 + a[n] % 2) FROM arrays')


# ------------------------------------------------------------------------ clients

class DeviceMemory:
    """How much memory of GPUs is in use, by one nvidia-smi that stays; nothing where it is not there.

    It keeps the driver up, so it runs beside no measurement of first calls.
    """

    def __enter__(self):
        self.seen = []
        self.process = None
        if shutil.which('nvidia-smi'):
            # with a buffer of lines, or all would be lost when it is ended
            self.process = subprocess.Popen(['stdbuf', '-oL', 'nvidia-smi', '--query-gpu=index,memory.used', '--format=csv,noheader,nounits',
                                             '-lms', '100'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            threading.Thread(target=self.read, daemon=True).start()
            for _ in range(50):
                if not self.seen:
                    time.sleep(0.1)
        return self

    def read(self):
        for line in self.process.stdout:
            numbers = re.fullmatch(r'(\d+), (\d+)\s*', line)
            if numbers:
                self.seen.append((time.monotonic(), numbers[1], int(numbers[2])))

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.process.wait()

    def most_since(self, began):
        """MB, all GPUs together; None if nothing was seen."""
        most = collections.Counter()
        for when, gpu, megabytes in list(self.seen):
            if when >= began:
                most[gpu] = max(most[gpu], megabytes)
        return sum(most.values()) if most else None


def await_end_of_sessions():
    """Contexts go after their clients."""
    others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    for turn in range(1200):
        if one_value(f'SELECT count(*) {others}') == '0':
            return
        if turn == 300:
            one_value(f'SELECT count(pg_terminate_backend(pid)) {others}')
        time.sleep(0.1)
    raise SystemExit('sessions did not end')


def pgbench(clients, arguments, seconds):
    """Seconds from before the first connection to after the last answer, and warnings; None if it took too long."""
    command = ['pgbench', '-n', '-c', str(clients), '-j', str(min(clients, os.cpu_count()))] + arguments
    began = time.monotonic()
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        await_end_of_sessions()
        return None, []
    took = time.monotonic() - began
    if ended.returncode != 0:
        raise SystemExit(f'pgbench failed:\n{ended.stderr[-2000:]}')
    await_end_of_sessions()
    return took, re.findall(r'^WARNING: .*', ended.stderr, re.M)


# --------------------------------------------------- sessions that start together

def ran_on():
    return one_value("SELECT string_agg(times || ' ' || what, '; ' ORDER BY times DESC) FROM (SELECT count(*) AS times,"
                     " executor || coalesce(' (' || reason || ')', '') AS what FROM ran GROUP BY 2) s")


def run_together(bench, mode, sessions, device):
    """Every session connects and sorts the same array of 1M some times."""
    script = os.path.join(bench.scratch, 'together.sql')
    with open(script, 'w', encoding='ascii') as out:
        out.write(f'{sort_of(int(1e6 * bench.options.scale))};\nINSERT INTO ran SELECT executor, reason FROM mgpu_last_run();\n')
    times, warnings = [], []
    one_value('TRUNCATE ran')
    began = time.monotonic()
    while len(times) < bench.options.rounds and sum(times) < ENOUGH_SECONDS:
        seconds, warned = pgbench(sessions, ['-t', str(SORTS), '-f', script], TOO_LONG_SECONDS)
        if seconds is None:
            print(f'{mode.name:16} {sessions:4} sessions: more than {TOO_LONG_SECONDS} s', flush=True)
            bench.add('together', mode, sessions, 'time', 'ms', '', f'more than {TOO_LONG_SECONDS} s')
            return
        times.append(seconds)
        warnings += warned
    memory = device.most_since(began)
    ran = ran_on()
    ms = statistics.median(times) * 1000
    print(f'{mode.name:16} {sessions:4} sessions {ms:9.0f} ms, median of {len(times)}; {len(warnings)} warnings; '
          f'device memory {memory or "?"} MB; ran on {ran}', flush=True)
    for warning in sorted(set(warnings))[:3]:
        print(f'    {warning}')
    bench.add('together', mode, sessions, 'time', 'ms', ms, f'median of {len(times)}')
    bench.add('together', mode, sessions, 'warnings', '', len(warnings), '; '.join(sorted(set(warnings))[:3]))
    bench.add('together', mode, sessions, 'device memory', 'MB', memory or '', 'the most that nvidia-smi saw')
    bench.add('together', mode, sessions, 'executors', '', '', ran)


def measure_together(bench, mode):
    with DeviceMemory() as device:
        for sessions in bench.options.sessions:
            if mode is IN_PROCESS and sessions > IN_PROCESS_SESSIONS:
                print(f'{mode.name:16} {sessions:4} sessions: left out, as it takes minutes')
            else:
                run_together(bench, mode, sessions, device)


# ----------------------------------------------------------------- single calls

def measure_first(bench, mode, n):
    """The first sort of a session, beside warm ones.  bench.py says why it waits."""
    first = []
    for _ in range(bench.options.rounds):
        time.sleep(1)
        session = Session()
        session.run(f'SELECT cardinality(a) FROM arrays WHERE n = {n};')
        first.append(session.run(f'{sort_of(n)};')[1])
        session.close()
    return statistics.median(first)


def measure_calls(bench, mode):
    """Two elements are the smallest job: an array of one is returned as it is."""
    largest = int(10e6 * bench.options.scale)
    first = measure_first(bench, mode, largest)
    print(f'{mode.name:16} first sort of a session, {largest} int4: {first:.2f} ms', flush=True)
    bench.add('calls', mode, 1, f'first sort, {largest}', 'ms', first, f'median of {bench.options.rounds} sessions')
    session = Session()
    for n in (largest, int(1e6 * bench.options.scale), 10_000, 100, 2):
        times = {'sort': [], 'reading': []}
        for turn in range(bench.options.calls * (10 if n <= 10_000 else 1) + 1):
            for what, sql in (('sort', sort_of(n)), ('reading', sort_of(n, 'a'))):
                ms = session.run(sql + ';')[1]
                if turn > 0:
                    times[what].append(ms)
                if what == 'sort' and turn == 0:
                    ran = session.run("SELECT concat_ws(' ', executor, algorithm, reason) FROM mgpu_last_run();")[0]
        for what, values in times.items():
            bench.add('calls', mode, 1, f'{what}, {n}', 'ms', statistics.median(values), ran if what == 'sort' else '')
        print(f'{mode.name:16} {n:9} int4, warm: sort {statistics.median(times["sort"]):8.3f} ms, reading '
              f'{statistics.median(times["reading"]):8.3f} ms  [{ran}]', flush=True)
    session.close()


# --------------------------------------------------------- clients of mixed sizes

def write_scripts(bench):
    """[file@weight] for pgbench, and n of each."""
    arguments, items = [], []
    for n in sizes(bench.options):
        for name, what, weight in (('sort', 'mgpu_sort(a)', 4), ('segsort', 'mgpu_segsort(a, heads)', 1),
                                   ('pairs', '(mgpu_sort_pairs(a, a)).vals', 1)):
            path = os.path.join(bench.scratch, f'{name}{n}.sql')
            with open(path, 'w', encoding='ascii') as out:
                out.write(sort_of(n, what) + ';\n')
            arguments += ['-f', f'{path}@{weight}']
            items.append(n)
    return arguments, items


Call = collections.namedtuple('Call', 'client items begin end')


def read_logs(prefix, items):
    """pgbench's lines: client, number, microseconds, script, when it ended in seconds and microseconds."""
    calls = []
    for path in glob.glob(prefix + '.*'):
        with open(path, encoding='ascii') as log:
            for line in log:
                client, _, took, script, seconds, micros = map(int, line.split()[:6])
                end = seconds + micros / 1e6
                calls.append(Call(client, items[script], end - took / 1e6, end))
        os.remove(path)
    return calls


def percentile(calls, fraction):
    times = sorted((call.end - call.begin) * 1000 for call in calls)
    return times[min(len(times) - 1, int(len(times) * fraction))]


def least_and_most(calls, clients):
    counts = collections.Counter(call.client for call in calls)
    return min(counts[client] for client in range(clients)), max(counts.values())


def report_mixed(bench, mode, clients, calls, queue_ms):
    seconds = max(call.end for call in calls) - min(call.begin for call in calls)
    rate, items = len(calls) / seconds, sum(call.items for call in calls) / seconds
    least, most = least_and_most(calls, clients)
    print(f'{mode.name:16} {clients:4} clients: {rate:8.1f} statements/s {items / 1e6:8.1f} M items/s  p50 {percentile(calls, 0.5):8.2f} '
          f'p99 {percentile(calls, 0.99):8.2f} ms  {least} to {most} statements a client'
          + (f'  in the queue {queue_ms:.2f} ms on average' if queue_ms is not None else ''), flush=True)
    bench.add('mixed', mode, clients, 'statements', '1/s', rate)
    bench.add('mixed', mode, clients, 'items', 'M/s', items / 1e6)
    if queue_ms is not None:
        bench.add('mixed', mode, clients, 'queue, mean', 'ms', queue_ms, 'of calls on the GPU')
    for low, high in ((LEAST, MOST), (1000, 10_000), (10_000, 100_000), (100_000, 1_000_000), (1_000_000, MOST)):
        chosen = [call for call in calls if low * bench.options.scale <= call.items < high * bench.options.scale]
        if not chosen:
            continue
        least, most = least_and_most(chosen, clients)
        what = f'{low} to {high}'
        if (low, high) != (LEAST, MOST):
            print(f'    {what:22} p50 {percentile(chosen, 0.5):8.2f} p99 {percentile(chosen, 0.99):8.2f} longest '
                  f'{percentile(chosen, 1):8.2f} ms  {least} to {most} statements a client')
        for name, fraction in (('p50', 0.5), ('p99', 0.99), ('longest', 1)):
            bench.add('mixed', mode, clients, f'{name}, {what}', 'ms', percentile(chosen, fraction))
        bench.add('mixed', mode, clients, f'least of a client, {what}', 'statements', least)
        bench.add('mixed', mode, clients, f'most of a client, {what}', 'statements', most)


def measure_mixed(bench, mode, clients):
    arguments, items = write_scripts(bench)
    prefix = os.path.join(bench.scratch, 'log')
    if mode.preload:
        one_value('SELECT mgpu_stat_reset()')
    seconds, warnings = pgbench(clients, arguments + ['-T', str(bench.options.seconds), '-l', f'--log-prefix={prefix}'],
                                bench.options.seconds + TOO_LONG_SECONDS)
    calls = read_logs(prefix, items)
    if seconds is None or not calls:
        print(f'{mode.name:16} {clients:4} clients: did not end')
        bench.add('mixed', mode, clients, 'statements', '1/s', '', 'did not end')
        return
    queue_ms = None
    if mode.preload:
        queue_ms = float(one_value("SELECT coalesce(sum(queue_ms) / nullif(sum(calls), 0), 0) FROM mgpu_stat WHERE executor = 'gpu'"))
    report_mixed(bench, mode, clients, calls, queue_ms)
    if mode.preload:
        shares = one_value("SELECT string_agg(format('%s %s', calls, executor || coalesce(' (' || reason || ')', '')), '; ' ORDER BY calls DESC) FROM mgpu_stat")
        print(f'    ran on {shares}')
        bench.add('mixed', mode, clients, 'executors', '', '', shares)
    print(f'    {len(warnings)} warnings: {"; ".join(sorted(set(warnings))[:3])}' if warnings else '    no warnings')
    bench.add('mixed', mode, clients, 'warnings', '', len(warnings), '; '.join(sorted(set(warnings))[:3]))


# ----------------------------------------------------------- one GPU beside all of them

class Usage:
    """What the GPUs and the processors did since this was made."""

    FIGURES = 'jobs', 'upload_bytes', 'download_bytes', 'kernel_ms'

    def __init__(self):
        self.before = self.now()

    def now(self):
        of_devices = one_value(f"SELECT string_agg(concat_ws(' ', {', '.join(self.FIGURES)}), ';' ORDER BY device) FROM mgpu_stat_service")
        with open('/proc/stat', encoding='ascii') as stat:
            ticks = [int(number) for number in stat.readline().split()[1:9]]
        return [[float(number) for number in line.split()] for line in of_devices.split(';')], sum(ticks), ticks[3] + ticks[4]

    def report(self, seconds):
        """[name, unit, value] of each figure; those of GPUs stand one behind the other."""
        devices, ticks, idle = self.now()
        devices_before, ticks_before, idle_before = self.before
        done = [[b - a for a, b in zip(*both)] for both in zip(devices_before, devices)]
        return [['jobs', '', ' '.join(f'{device[0]:.0f}' for device in done)],
                ['upload', 'GB/s', ' '.join(f'{device[1] / seconds / 1e9:.1f}' for device in done)],
                ['download', 'GB/s', ' '.join(f'{device[2] / seconds / 1e9:.1f}' for device in done)],
                ['kernels', '% of the time', ' '.join(f'{device[3] / seconds / 10:.0f}' for device in done)],
                ['processors', '% busy', f'{100 - 100 * (idle - idle_before) / max(1, ticks - ticks_before):.0f}']]


def device_statements(options):
    """Name and statement."""
    where = 'FROM numbers WHERE f < 0.1'
    answer = one_value(f'SET mgpu.executor = cpu; SELECT sum(v) {where}')
    return [(f'sort of {int(1e6 * options.scale)} int4', sort_of(int(1e6 * options.scale))),
            ('sum(v) WHERE f < 0.1', f'SELECT 1 / ((SELECT sum(v) {where}) = {answer})::int'),
            ('percentile_cont by g', 'SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM numbers GROUP BY g OFFSET 1000000000')]


def run_on_devices(bench, mode, clients, name, note, arguments):
    """Clients run one statement again and again."""
    prefix = os.path.join(bench.scratch, 'log')
    one_value('SELECT mgpu_stat_reset()')
    usage = Usage()
    _, warnings = pgbench(clients, arguments + ['-T', str(bench.options.seconds), '-l', f'--log-prefix={prefix}'],
                          bench.options.seconds + TOO_LONG_SECONDS)
    calls = read_logs(prefix, [1])
    if not calls:
        raise SystemExit(f'{name}: no client had an answer')
    seconds = max(call.end for call in calls) - min(call.begin for call in calls)
    figures = [['statements', '1/s', f'{len(calls) / seconds:.1f}'], ['p50', 'ms', f'{percentile(calls, 0.5):.1f}'],
               ['p99', 'ms', f'{percentile(calls, 0.99):.1f}']] + usage.report(seconds)
    ran = one_value("SELECT string_agg(calls || ' ' || executor || coalesce(' (' || reason || ')', ''), '; ' ORDER BY calls DESC) FROM mgpu_stat")
    print(f'{name:24} {clients:3} clients, {note}: ' + ', '.join(' '.join(figure) for figure in figures)
          + f'; {len(warnings)} warnings; ran on {ran}', flush=True)
    for figure, unit, value in figures:
        bench.add('devices', mode, clients, f'{name}, {figure}', unit, value, note)
    bench.add('devices', mode, clients, f'{name}, executors', '', ran, note)


def measure_devices(bench, mode):
    """In turn, so that drift of the machine meets both."""
    count = int(one_value('SELECT count(*) FROM mgpu_stat_service'))
    if count < 2:
        print('one GPU: no comparison of one with two')
        return
    clients, own_options = bench.options.most_clients, os.environ['PGOPTIONS']
    script = os.path.join(bench.scratch, 'devices.sql')
    for name, sql in device_statements(bench.options):
        with open(script, 'w', encoding='ascii') as out:
            out.write(sql + ';\n')
        pgbench(clients, ['-t', '1', '-f', script], TOO_LONG_SECONDS)
        for _ in range(bench.options.rounds):
            for note, more in (('one GPU', ' -c mgpu.device=0'), (f'{count} GPUs', '')):
                os.environ['PGOPTIONS'] = f'{own_options} -c max_parallel_workers_per_gather=0 -c work_mem=256MB{more}'
                run_on_devices(bench, mode, clients, name, note, ['-f', script])
        os.environ['PGOPTIONS'] = own_options


# -------------------------------------------------------------------- one large array

def measure_large(bench, mode):
    session = Session()
    parts = ('marshal', 'upload', 'kernel', 'download')
    reading, times = [], {name: [] for name in ('statement',) + parts}
    for turn in range(bench.options.rounds + 1):
        answer, read_ms = session.run('SELECT cardinality(a) FROM large;')
        said, ms = session.run('SELECT cardinality(mgpu_sort(a)) FROM large;')
        *warnings, sorted_answer = said.splitlines()
        for warning in warnings:
            print(f'    {warning}')
        if answer != sorted_answer:
            raise SystemExit(f'{answer} elements, and {said} in the answer')
        ran = session.run(f'SELECT {", ".join(part + "_ms" for part in parts)}, executor FROM mgpu_last_run();')[0].split('|')
        if turn > 0:
            reading.append(read_ms)
            for name, value in zip(times, [ms] + ran):
                times[name].append(float(value))
    session.close()
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f'{mode.name:16} {answer} int8: ' + ', '.join(f'{name} {ms:.0f} ms' for name, ms in medians.items())
          + f'; reading {statistics.median(reading):.0f} ms  [{ran[-1]}]', flush=True)
    for name, ms in medians.items():
        bench.add('large', mode, 1, f'{name}, {answer} int8', 'ms', ms, ran[-1])
    bench.add('large', mode, 1, f'reading, {answer} int8', 'ms', statistics.median(reading))


# --------------------------------------------------------------------------- main

# Clients of mixed sizes in each mode.
CLIENTS = {IN_PROCESS: (1, 8), SERVICE: (1, 64), AUTO: (64,), CPU: (64,)}


def measure_mode(bench, mode):
    print(f'-- {mode.name}', flush=True)
    if not bench.start(mode):
        return
    warm_up()
    if bench.wants('calls') and mode is not AUTO:
        measure_calls(bench, mode)
    if bench.wants('together'):
        measure_together(bench, mode)
    if bench.wants('mixed'):
        for clients in CLIENTS[mode]:
            measure_mixed(bench, mode, min(clients, bench.options.most_clients))
    if bench.wants('devices') and mode is SERVICE:
        measure_devices(bench, mode)
    if bench.wants('large') and bench.options.large and mode in (SERVICE, CPU):
        measure_large(bench, mode)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tree', default='unknown')
    parser.add_argument('--name')
    parser.add_argument('--seconds', type=int, default=20)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--scale', type=float, default=1.0)
    parser.add_argument('--sessions', default='1,8,16,64,200')
    parser.add_argument('--only', default='')
    parser.add_argument('--large', action='store_true')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--out', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'))
    options = parser.parse_args()
    options.calls, options.most_clients = 11, 64
    if options.quick:
        options.seconds, options.rounds, options.scale, options.sessions = 2, 1, options.scale * 0.05, '1,4,16'
        options.calls, options.most_clients = 3, 8
    options.sessions = [int(sessions) for sessions in options.sessions.split(',')]
    return options


def main():
    options = parse()
    bench = Bench(options)
    bench.start(CPU)
    make_data(options)
    gpu = one_value('SELECT name FROM mgpu_device_info() ORDER BY ordinal LIMIT 1')
    facts = describe(options, gpu)
    facts['seconds'] = options.seconds
    for name, value in facts.items():
        print(f'{name}: {value}', flush=True)
    path = result_path(options, gpu, '-sessions.csv')
    with tempfile.TemporaryDirectory() as bench.scratch:
        for mode in (IN_PROCESS, SERVICE, AUTO, CPU) if gpu else (CPU,):
            measure_mode(bench, mode)
            # in case that someone ends this
            write_csv(path, facts, COLUMNS, bench.rows)
    print(f'wrote {path}')
    if bench.wants('together'):
        write_plot(path)


if __name__ == '__main__':
    main()
