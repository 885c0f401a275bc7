"""Tables and statements of test/bench/suites: what PostgreSQL makes of them, and what is asked.

Numbers are made of the row's number by hashint8, so that a table is the same each time.  A statement with LIMIT has one
order of its rows, so that its answer is one.
"""

import suites_shop
from suites_tables import Table, mixed, skewed

# ----------------------------------------------------------------- page views

VIEWS = Table('views', [
    ('id', 'bigint', 'i'),
    ('at', 'timestamp', f"timestamp '2026-07-01' + {mixed(1, 2592000)} * interval '1 second'"),
    ('visitor', 'bigint', f'{skewed(2, "({rows} / 6 + 1)")} * 1000003'),
    ('site', 'int', f'{skewed(4, 6000)}'),
    ('region', 'int', f'{skewed(6, 9000)}'),
    ('url', 'text', f"'http://site' || {skewed(4, 6000)} || '.example/' || CASE WHEN {mixed(8, 50)} = 0 THEN 'search?q=' ELSE 'page/' END || {skewed(9, 20000)}"),
    ('referrer', 'text', f"CASE WHEN {mixed(11, 10)} < 6 THEN '' ELSE 'http://from' || {skewed(12, 3000)} || '.example/' END"),
    ('title', 'text', f"'Title ' || {skewed(9, 20000)} || CASE WHEN {mixed(14, 40)} = 0 THEN ' - Search' ELSE '' END"),
    ('phrase', 'text', f"CASE WHEN {mixed(15, 8)} > 0 THEN '' ELSE 'phrase ' || {skewed(16, 80000)} END"),
    ('engine', 'smallint', f'CASE WHEN {mixed(15, 8)} > 0 THEN 0 ELSE 1 + {skewed(18, 30)} END'),
    ('phone', 'smallint', f'CASE WHEN {mixed(20, 12)} > 0 THEN 0 ELSE {skewed(21, 80)} END'),
    ('model', 'text', f"CASE WHEN {mixed(20, 12)} > 0 THEN '' ELSE 'model ' || {skewed(23, 160)} END"),
    ('width', 'smallint', f'320 + {mixed(25, 240)} * 8'),
    ('height', 'smallint', f'240 + {mixed(26, 150)} * 8'),
    ('campaign', 'smallint', f'CASE WHEN {mixed(27, 60)} > 0 THEN 0 ELSE 1 + {mixed(28, 16)} END'),
    ('address', 'int', f'{skewed(29, 2000000000)}'),
    ('reloaded', 'boolean', f'{mixed(31, 9)} = 0'),
    ('took', 'double precision', f'{skewed(32, 100000)} / 64.0'),
])

CLICKS = [
    ('count', 'SELECT count(*) FROM views'),
    ('count of a campaign', 'SELECT count(*) FROM views WHERE campaign <> 0'),
    ('sum, count, avg', 'SELECT sum(campaign), count(*), avg(width) FROM views'),
    ('avg of large numbers', 'SELECT avg(visitor) FROM views'),
    ('distinct visitors', 'SELECT count(DISTINCT visitor) FROM views'),
    ('distinct phrases', 'SELECT count(DISTINCT phrase) FROM views'),
    ('first and last', 'SELECT min(at), max(at) FROM views'),
    ('campaigns', 'SELECT campaign, count(*) AS n FROM views WHERE campaign <> 0 GROUP BY campaign ORDER BY n DESC, campaign'),
    ('visitors by region', 'SELECT region, count(DISTINCT visitor) AS n FROM views GROUP BY region ORDER BY n DESC, region LIMIT 10'),
    ('region, five aggregates', 'SELECT region, sum(campaign), count(*) AS n, avg(width), count(DISTINCT visitor) FROM views GROUP BY region ORDER BY n DESC, region LIMIT 10'),
    ('visitors by model', "SELECT model, count(DISTINCT visitor) AS n FROM views WHERE model <> '' GROUP BY model ORDER BY n DESC, model LIMIT 10"),
    ('visitors by phone and model', "SELECT phone, model, count(DISTINCT visitor) AS n FROM views WHERE model <> '' GROUP BY phone, model ORDER BY n DESC, phone, model LIMIT 10"),
    ('phrases', "SELECT phrase, count(*) AS n FROM views WHERE phrase <> '' GROUP BY phrase ORDER BY n DESC, phrase LIMIT 10"),
    ('visitors by phrase', "SELECT phrase, count(DISTINCT visitor) AS n FROM views WHERE phrase <> '' GROUP BY phrase ORDER BY n DESC, phrase LIMIT 10"),
    ('phrases by engine', "SELECT engine, phrase, count(*) AS n FROM views WHERE phrase <> '' GROUP BY engine, phrase ORDER BY n DESC, engine, phrase LIMIT 10"),
    ('busiest visitors', 'SELECT visitor, count(*) AS n FROM views GROUP BY visitor ORDER BY n DESC, visitor LIMIT 10'),
    ('visitors and phrases', 'SELECT visitor, phrase, count(*) AS n FROM views GROUP BY visitor, phrase ORDER BY n DESC, visitor, phrase LIMIT 10'),
    ('visitors, minutes, phrases', 'SELECT visitor, extract(minute FROM at) AS m, phrase, count(*) AS n FROM views GROUP BY visitor, m, phrase ORDER BY n DESC, visitor, m, phrase LIMIT 10'),
    ('one visitor', 'SELECT count(*) FROM views WHERE visitor = 5000015'),
    ('urls like', "SELECT count(*) FROM views WHERE url LIKE '%search%'"),
    ('phrases of urls like', "SELECT phrase, min(url), count(*) AS n FROM views WHERE url LIKE '%search%' AND phrase <> '' GROUP BY phrase ORDER BY n DESC, phrase LIMIT 10"),
    ('newest rows of urls like', "SELECT * FROM views WHERE url LIKE '%search%' ORDER BY at, id LIMIT 10"),
    ('first phrases by time', "SELECT phrase FROM views WHERE phrase <> '' ORDER BY at, id LIMIT 10"),
    ('first phrases', "SELECT phrase FROM views WHERE phrase <> '' ORDER BY phrase, id LIMIT 10"),
    ('mean length of urls', "SELECT site, avg(length(url)) AS l, count(*) AS n FROM views WHERE url <> '' GROUP BY site HAVING count(*) > {rows} / 2000 ORDER BY l DESC, site LIMIT 25"),
    ('sums of widths', 'SELECT ' + ', '.join(f'sum(width + {n})' for n in range(40)) + ' FROM views'),
    ('engines and addresses', "SELECT engine, address, count(*) AS n, avg(width) FROM views WHERE phrase <> '' GROUP BY engine, address ORDER BY n DESC, engine, address LIMIT 10"),
    ('ids and addresses', 'SELECT id, address, count(*) AS n, avg(width) FROM views GROUP BY id, address ORDER BY n DESC, id LIMIT 10'),
    ('urls', 'SELECT url, count(*) AS n FROM views GROUP BY url ORDER BY n DESC, url LIMIT 10'),
    ('addresses and sums', 'SELECT address, address - 1 AS a, address - 2 AS b, count(*) AS n FROM views GROUP BY address, a, b ORDER BY n DESC, address LIMIT 10'),
    ('pages of a site', "SELECT url, count(*) AS n FROM views WHERE site = 3 AND at >= '2026-07-05' AND at < '2026-07-20' AND NOT reloaded AND url <> '' GROUP BY url ORDER BY n DESC, url LIMIT 10"),
    ('views by minute', "SELECT date_trunc('minute', at) AS m, count(*) AS n FROM views WHERE site < 50 AND at >= '2026-07-14' AND at < '2026-07-16' GROUP BY m ORDER BY m LIMIT 10 OFFSET 100"),
    ('windows', 'SELECT width, height, count(*) AS n FROM views WHERE site < 50 GROUP BY width, height ORDER BY n DESC, width, height LIMIT 10'),
    ('where from', "SELECT CASE WHEN engine = 0 AND campaign = 0 THEN referrer ELSE '' END AS source, count(*) AS n FROM views GROUP BY source ORDER BY n DESC, source LIMIT 10"),
    ('median time by region', 'SELECT region, percentile_cont(0.5) WITHIN GROUP (ORDER BY took) AS p FROM views GROUP BY region'),
]

# ---------------------------------------------------------------- many groups

KEYS = Table('keys', [
    ('a', 'text', f"'id' || lpad(({mixed(41, 100)} + 1)::text, 3, '0')"),
    ('b', 'text', f"'id' || lpad(({mixed(42, 100)} + 1)::text, 3, '0')"),
    ('c', 'text', f"'id' || lpad(({mixed(43, '({rows} / 100 + 1)')} + 1)::text, 10, '0')"),
    ('d', 'int', f'{mixed(44, 100)} + 1'),
    ('e', 'int', f'{mixed(45, 100)} + 1'),
    ('f', 'int', f'{mixed(46, "({rows} / 100 + 1)")} + 1'),
    ('x', 'int', f'{mixed(47, 5)} + 1'),
    ('y', 'int', f'{mixed(48, 15)} + 1'),
    ('z', 'double precision', f'{mixed(49, 6400000)} / 64000.0'),
])

GROUPS = [
    ('sum by a', 'SELECT a, sum(x) FROM keys GROUP BY a'),
    ('sum by a, b', 'SELECT a, b, sum(x) FROM keys GROUP BY a, b'),
    ('sum, avg by c', 'SELECT c, sum(x), avg(z) FROM keys GROUP BY c'),
    ('three avg by d', 'SELECT d, avg(x), avg(y), avg(z) FROM keys GROUP BY d'),
    ('three sum by f', 'SELECT f, sum(x), sum(y), sum(z) FROM keys GROUP BY f'),
    ('median, deviation by d, e', 'SELECT d, e, percentile_cont(0.5) WITHIN GROUP (ORDER BY z), stddev(z) FROM keys GROUP BY d, e'),
    ('max - min by c', 'SELECT c, max(x) - min(y) FROM keys GROUP BY c'),
    ('two largest by f', 'SELECT f, z FROM (SELECT f, z, row_number() OVER (PARTITION BY f ORDER BY z DESC) AS place FROM keys) p WHERE place <= 2'),
    ('correlation by b, d', 'SELECT b, d, corr(x, y) * corr(x, y) FROM keys GROUP BY b, d'),
    ('sum, count by all', 'SELECT a, b, c, d, e, f, sum(z), count(*) FROM keys GROUP BY a, b, c, d, e, f'),
]

# ------------------------------------------------------- readings of machines

# Each host is read every ten seconds, for two days, in which all hosts come in turn; its memory, every minute.
HOSTS_OF = '({rows} / 17280 + 1)'


def reading(seconds):
    """The columns of each reading: when, and of which host."""
    return [
        ('at', 'timestamptz', f"timestamptz '2026-07-01 00:00:00+00' + (i - 1) / {HOSTS_OF} * interval '{seconds} seconds'"),
        ('host', 'int', f'(i - 1) % {HOSTS_OF} + 1'),
    ]


HOSTS = Table('hosts', [
    ('id', 'int', 'i'),
    ('name', 'text', "'host-' || i"),
    ('region', 'text', f"'region-' || {mixed(61, 9)}"),
    ('datacenter', 'text', f"'region-' || {mixed(61, 9)} || '-' || chr((97 + {mixed(62, 3)})::int)"),
    ('rack', 'int', mixed(63, 100)),
    ('os', 'text', f"(ARRAY['Debian 12', 'Debian 13', 'Ubuntu 24.04'])[1 + {mixed(64, 3)}]"),
    ('arch', 'text', f"CASE WHEN {mixed(65, 3)} = 0 THEN 'arm64' ELSE 'x86-64' END"),
    ('team', 'text', f"'team ' || {mixed(66, 12)}"),
    ('service', 'text', f"'service-' || {mixed(67, 20)}"),
    ('environment', 'text', f"(ARRAY['production', 'staging', 'test'])[1 + {skewed(68, 3)}]"),
], HOSTS_OF, 'id')

# of 100, in parts of 64: numbers whose sums are the same in any order
CPU = Table('cpu', reading(10) + [
    ('used_user', 'double precision', f'{mixed(71, 6401)} / 64.0'),
    ('used_system', 'double precision', f'{mixed(72, 6401)} / 64.0'),
    ('idle', 'double precision', f'{mixed(73, 6401)} / 64.0'),
    ('used_nice', 'double precision', f'{skewed(74, 6401)} / 64.0'),
    ('waiting', 'double precision', f'{skewed(76, 6401)} / 64.0'),
    ('irq', 'double precision', f'{skewed(78, 6401)} / 64.0'),
    ('softirq', 'double precision', f'{skewed(80, 6401)} / 64.0'),
    ('stolen', 'double precision', f'{skewed(82, 6401)} / 64.0'),
    ('guest', 'double precision', f'{skewed(84, 6401)} / 64.0'),
    ('guest_nice', 'double precision', f'{skewed(86, 6401)} / 64.0'),
], indexes=('cpu (host, at DESC)', 'cpu (at DESC)'))

MEMORY = Table('memory', reading(60) + [
    ('total', 'bigint', f'17179869184 * (1 + (i - 1) % {HOSTS_OF} % 4)'),
    ('used', 'bigint', f'17179869184 / 1000 * (1 + (i - 1) % {HOSTS_OF} % 4) * {mixed(88, 1001)}'),
    ('cached', 'bigint', f'17179869184 / 1000 * {mixed(89, 1001)}'),
], '{rows} / 6', indexes=('memory (host, at DESC)', 'memory (at DESC)'))

READINGS = [name for name, *_ in CPU.columns[2:]]
ONE_HOST = "host = (SELECT id FROM hosts WHERE name = 'host-3')"
EIGHT_HOSTS = "host IN (SELECT id FROM hosts WHERE name IN ('host-1', 'host-2', 'host-3', 'host-5', 'host-8', 'host-13', 'host-21', 'host-34'))"


def during(start, end):
    return f"at >= '2026-07-{start}:00+00' AND at < '2026-07-{end}:00+00'"


def each(function, number):
    return ', '.join(f'{function}({name})' for name in READINGS[:number])


def by_time(unit, function, number, where):
    return f"SELECT date_trunc('{unit}', at) AS t, {each(function, number)} FROM cpu WHERE {where} GROUP BY t ORDER BY t"


def by_hour_and_host(number):
    return (f"SELECT date_trunc('hour', at) AS t, name, {each('avg', number)} FROM cpu JOIN hosts ON hosts.id = cpu.host"
            f" WHERE {during('01 06:00', '01 18:00')} GROUP BY t, name ORDER BY t, name")


DEVOPS = [
    ('a metric of a host, by minute', by_time('minute', 'max', 1, f"{ONE_HOST} AND {during('01 12:00', '01 13:00')}")),
    ('a metric of 8 hosts, by minute', by_time('minute', 'max', 1, f"{EIGHT_HOSTS} AND {during('01 12:00', '01 13:00')}")),
    ('5 metrics of a host, by minute', by_time('minute', 'max', 5, f"{ONE_HOST} AND {during('01 12:00', '01 13:00')}")),
    ('5 metrics of 8 hosts, by minute', by_time('minute', 'max', 5, f"{EIGHT_HOSTS} AND {during('01 12:00', '01 13:00')}")),
    ('all metrics of a host, by hour', by_time('hour', 'max', 10, f"{ONE_HOST} AND {during('01 09:00', '01 17:00')}")),
    ('all metrics of 8 hosts, by hour', by_time('hour', 'max', 10, f"{EIGHT_HOSTS} AND {during('01 09:00', '01 17:00')}")),
    ('a mean by hour and host', by_hour_and_host(1)),
    ('5 means by hour and host', by_hour_and_host(5)),
    ('10 means by hour and host', by_hour_and_host(10)),
    ('high readings of a host', f"SELECT * FROM cpu WHERE used_user > 90 AND {ONE_HOST} AND {during('01 06:00', '01 18:00')}"),
    ('high readings', f"SELECT * FROM cpu WHERE used_user > 90 AND {during('01 06:00', '01 18:00')}"),
    ('newest reading of each host', 'SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, at DESC'),
    ('newest reading, by row_number', "SELECT name, at, used_user FROM (SELECT host, at, used_user, row_number() OVER (PARTITION BY host ORDER BY at DESC) AS place FROM cpu) p"
     ' JOIN hosts ON hosts.id = p.host WHERE place = 1'),
    ('last five maxima by minute', "SELECT date_trunc('minute', at) AS t, max(used_user) FROM cpu WHERE at < '2026-07-02 06:00:00+00' GROUP BY t ORDER BY t DESC LIMIT 5"),
    ('percentile by region and hour', "SELECT region, date_trunc('hour', at) AS t, percentile_cont(0.95) WITHIN GROUP (ORDER BY used_user) AS p FROM cpu JOIN hosts ON hosts.id = cpu.host"
     ' GROUP BY region, t ORDER BY region, t'),
    ('hosts above 99 by region', 'SELECT region, count(DISTINCT host) AS hosts, count(*) AS readings FROM cpu JOIN hosts ON hosts.id = cpu.host'
     ' WHERE used_user > 99 AND used_system > 90 GROUP BY region ORDER BY region'),
    ('moving average of each host', 'SELECT host, at, avg(used_user) OVER (PARTITION BY host ORDER BY at ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS a FROM cpu'
     f" WHERE {during('01 12:00', '01 18:00')}"),
    ('share of the host, and rank', f"SELECT host, at, used_user / sum(used_user) OVER (PARTITION BY host) AS share, rank() OVER (PARTITION BY host ORDER BY used_user DESC) AS place FROM cpu"
     f" WHERE {during('01 12:00', '01 18:00')}"),
    ('distance from the mean of each host', 'SELECT host, at, used_user - avg(used_user) OVER (PARTITION BY host) AS d FROM cpu'),
    ('rank in the host, mean of the hour', "SELECT host, at, rank() OVER (PARTITION BY host ORDER BY used_user DESC) AS place, avg(used_user) OVER (PARTITION BY date_trunc('hour', at)) AS a FROM cpu"),
    ('quarters and shares of each host', 'SELECT host, at, ntile(4) OVER w AS part, percent_rank() OVER w AS share FROM cpu WINDOW w AS (PARTITION BY host ORDER BY used_user)'),
    ('readings above 99.9', 'SELECT * FROM cpu WHERE used_user > 99.9'),
    ('three columns above 90', 'SELECT at, host, used_user FROM cpu WHERE used_user > 90'),
    ("high readings with their host's region", 'SELECT at, used_user, region FROM cpu JOIN hosts ON hosts.id = cpu.host WHERE used_user > 95'),
    ('readings by the day as a text', "SELECT to_char(at, 'YYYY-MM-DD') AS day, count(*), max(used_user) FROM cpu GROUP BY day"),
    ('rollup of region, host and hour', "SELECT region, name, date_trunc('hour', at) AS t, count(*), max(at), max(used_user) FROM cpu JOIN hosts ON hosts.id = cpu.host GROUP BY ROLLUP (1, 2, 3)"),
    ('highest readings, all columns', 'SELECT * FROM cpu ORDER BY used_user DESC, at, host LIMIT 50'),
    ('services by five minutes', "SELECT date_bin(interval '5 minutes', at, timestamptz '2026-07-01 00:00:00+00') AS t, service, avg(used_user), max(waiting), count(*)"
     f" FROM cpu JOIN hosts ON hosts.id = cpu.host WHERE environment = 'production' AND {during('01 06:00', '01 18:00')} GROUP BY t, service ORDER BY t, service"),
    ('cpu beside memory by hour', "SELECT c.t, c.host, c.busy, m.filled FROM (SELECT date_trunc('hour', at) AS t, host, 100 - avg(idle) AS busy FROM cpu GROUP BY t, host) c"
     " JOIN (SELECT date_trunc('hour', at) AS t, host, sum(used) * 100.0 / sum(total) AS filled FROM memory GROUP BY t, host) m ON m.t = c.t AND m.host = c.host"
     ' WHERE c.busy > 50 AND m.filled > 50'),
]

# --------------------------------------------------------------------- events

EVENT_TIME = "(timestamptz '2026-07-01 00:00:00+00' + i * 2592000 / {rows} * interval '1 second')"
EVENTS = Table('events', [
    ('id', 'bigint', 'i'),
    ('at', 'timestamptz', EVENT_TIME),
    ('ended', 'timestamptz', f"{EVENT_TIME} + {mixed(101, 3600)} * interval '1 second'"),
    ('customer', 'int', f'{skewed(102, 20000)}'),
    ('status', 'int', f'{mixed(104, 5)}'),
    ('amount', 'double precision', f'{mixed(105, 640001)} / 64.0'),
    ('price', 'numeric(10, 2)', f'{mixed(106, 100000)} / 100.0'),
    ('kind', 'text', f"'kind ' || {skewed(107, 40)}"),
    ('path', 'text', f"'/area' || {mixed(109, 12)} || '/page' || {mixed(110, 500)}"),
    ('message', 'text', f"'message ' || {mixed(111, 3000)} || CASE WHEN {mixed(112, 13)} = 0 THEN ' with an error' ELSE ' as it should be' END"),
    ('data', 'jsonb', f"jsonb_build_object('kind', 'k' || {mixed(113, 12)}, 'price', round({mixed(114, 100000)} / 100.0, 2), 'paid', {mixed(115, 2)} = 0,"
     f" 'user', jsonb_build_object('id', {mixed(116, 5000)}, 'plan', 'plan ' || {mixed(117, 4)}))"),
], primary='id', indexes=('events (at)',))


def of_july(start, end):
    return f"at >= '2026-07-{start} 00:00:00+00' AND at < '2026-07-{end} 00:00:00+00'"


OF_EVENTS = [
    ('a day by hour', f"SELECT date_trunc('hour', at) AS t, count(*), avg(amount) FROM events WHERE {of_july('10', '11')} GROUP BY t"),
    ('three days by kind', f"SELECT kind, count(*), sum(price), max(amount) FROM events WHERE {of_july('10', '13')} GROUP BY kind"),
    ('percentile of ten days', f"SELECT kind, percentile_cont(0.95) WITHIN GROUP (ORDER BY amount) AS p FROM events WHERE {of_july('05', '15')} GROUP BY kind"),
    ('a week of a status by customer', f"SELECT customer, count(*), sum(price) FROM events WHERE status = 3 AND {of_july('08', '15')} GROUP BY customer"),
    ('highest of three days, all columns', f"SELECT * FROM events WHERE {of_july('10', '13')} ORDER BY amount DESC, id LIMIT 20"),
    ('means of five days', f"SELECT avg(amount), max(amount) FROM events WHERE {of_july('10', '15')}"),
    ('means of all', 'SELECT avg(amount), stddev(amount), max(amount) FROM events'),
    ('sum of a product', 'SELECT sum(amount * 0.25) FROM events WHERE status <> 1'),
    ('highest and lowest by customer', 'SELECT customer, max(amount), min(amount) FROM events GROUP BY customer'),
    ('rollup of kind and status', 'SELECT kind, status, max(amount), count(*) FROM events GROUP BY ROLLUP (1, 2)'),
    ("the document's kind", "SELECT data->>'kind' AS k, count(*) FROM events GROUP BY k"),
    ("the document's price", "SELECT status, sum((data->>'price')::numeric(10, 2)), max((data->>'price')::float8) FROM events GROUP BY status"),
    ("the user's plan", "SELECT data->'user'->>'plan' AS plan, count(*), max((data->'user'->>'id')::int) FROM events GROUP BY plan"),
    ('documents of three kinds', "SELECT status, count(*) FROM events WHERE data->>'kind' IN ('k1', 'k5', 'k7') GROUP BY status"),
    ('first part of the path', "SELECT split_part(path, '/', 2) AS area, count(*), sum(price) FROM events GROUP BY area"),
    ('messages with a word', "SELECT status, count(*) FROM events WHERE position('error' IN message) > 0 GROUP BY status"),
    ('mean duration', 'SELECT status, avg(extract(epoch FROM ended - at)) FROM events GROUP BY status'),
    ('paths in any case', "SELECT status, count(*) FROM events WHERE path ILIKE '/AREA3/%7' GROUP BY status"),
    ('kind and status as a text', "SELECT upper(kind) || ', ' || CAST(status AS text) AS k, count(*), sum(price) FROM events GROUP BY k"),
    ('paths that are similar', "SELECT status, count(*) FROM events WHERE path SIMILAR TO '/area(3|5)/page1[0-9]*' GROUP BY status"),
    ('paths without their begin', "SELECT replace(path, '/area', '') AS rest, count(*) FROM events GROUP BY rest"),
    ('long ones', "SELECT kind, count(*) FROM events WHERE ended - at > interval '50 minutes' GROUP BY kind"),
]

# ---------------------------------------------------------------------- TPC-H

# Columns of other names are numbers, or texts
LENGTHS = {'r_name': 'char(25)', 'n_name': 'char(25)', 's_name': 'char(25)', 's_phone': 'char(15)', 'p_mfgr': 'char(25)', 'p_brand': 'char(10)', 'p_container': 'char(10)',
           'c_phone': 'char(15)', 'c_mktsegment': 'char(10)', 'o_orderstatus': 'char(1)', 'o_orderpriority': 'char(15)', 'o_clerk': 'char(15)', 'l_returnflag': 'char(1)',
           'l_linestatus': 'char(1)', 'l_shipinstruct': 'char(25)', 'l_shipmode': 'char(10)'}
PRIMARY = {'region': 'r_regionkey', 'nation': 'n_nationkey', 'supplier': 's_suppkey', 'part': 'p_partkey', 'partsupp': 'ps_partkey, ps_suppkey', 'customer': 'c_custkey', 'orders': 'o_orderkey',
           'lineitem': 'l_orderkey, l_linenumber'}
# of TPC-DS, whose tables have few columns that are never NULL
DS_PRIMARY = {'call_center': 'cc_call_center_sk', 'catalog_page': 'cp_catalog_page_sk', 'catalog_returns': 'cr_item_sk, cr_order_number', 'catalog_sales': 'cs_item_sk, cs_order_number',
              'customer': 'c_customer_sk', 'customer_address': 'ca_address_sk', 'customer_demographics': 'cd_demo_sk', 'date_dim': 'd_date_sk', 'household_demographics': 'hd_demo_sk',
              'income_band': 'ib_income_band_sk', 'inventory': 'inv_date_sk, inv_item_sk, inv_warehouse_sk', 'item': 'i_item_sk', 'promotion': 'p_promo_sk', 'reason': 'r_reason_sk',
              'ship_mode': 'sm_ship_mode_sk', 'store': 's_store_sk', 'store_returns': 'sr_item_sk, sr_ticket_number', 'store_sales': 'ss_item_sk, ss_ticket_number', 'time_dim': 't_time_sk',
              'warehouse': 'w_warehouse_sk', 'web_page': 'wp_web_page_sk', 'web_returns': 'wr_item_sk, wr_order_number', 'web_sales': 'ws_item_sk, ws_order_number', 'web_site': 'web_site_sk'}
INDEXES = ['lineitem (l_partkey, l_suppkey)', 'lineitem (l_shipdate)', 'orders (o_custkey)', 'orders (o_orderdate)', 'partsupp (ps_suppkey)']
LINEITEMS_OF_SCALE_1 = 6001215
STORE_SALES_OF_SCALE_1 = 2880404

# what DuckDB makes: how, primary keys, types of columns that are others than DuckDB's, indexes, and its statements
MADE = {'tpch': (f'dbgen(sf={{rows}} / {LINEITEMS_OF_SCALE_1}.0)', PRIMARY, LENGTHS, INDEXES, 'tpch_queries()'),
        'tpcds': (f'dsdgen(sf={{rows}} / {STORE_SALES_OF_SCALE_1}.0)', DS_PRIMARY, {}, [], 'tpcds_queries()')}

# ------------------------------------------------------------------ customers

NAMES = "(ARRAY['Adler', 'baker', 'Chen', 'De Luca', 'Évrard', 'García', 'Ítalo', 'Kovač', 'Müller', 'O''Neil', 'Šimek', 'van Dyk'])"
CUSTOMERS = Table('customers', [
    ('id', 'int', 'i'),
    ('name', 'text', f"{NAMES}[{mixed(61, 12)} + 1] || ' ' || substr(md5(i::text), 1, 6)"),
    ('mail', 'text', "'c' || i || '@example.com'"),
    ('city', 'text', f"{NAMES}[{mixed(62, 12)} + 1] || 'stadt ' || {mixed(63, 40)}"),
    ('credit', 'numeric(10,2)', f'{mixed(64, 100000)} / 7.0'),
], rows='({rows} / 20 + 1)', primary='id')
ORDERS = Table('orders', [
    ('id', 'int', 'i'),
    ('customer', 'int', f'{mixed(65, "({rows} / 20 + 1)")} + 1'),
    ('item', 'text', f"{NAMES}[{mixed(66, 12)} + 1] || ' ' || {mixed(67, 5000)}"),
    ('note', 'text', f"initcap(substr(md5(i::text), 1, 8)) || ' ' || substr(md5((i * 3)::text), 1, 10)"),
    ('total', 'numeric(12,2)', f'{mixed(68, 1000000)} / 3.0'),
    ('day', 'date', f"date '2026-01-01' + {mixed(69, 365)}::int"),
])

ORDERED = [
    ('sum by item', 'SELECT item, count(*), sum(total) FROM orders GROUP BY item'),
    ('sum by item, in order', 'SELECT item, count(*), sum(total) FROM orders GROUP BY item ORDER BY item'),
    ('notes in order', 'SELECT note, id FROM orders ORDER BY note'),
    ('items in order', 'SELECT item, id FROM orders ORDER BY item, id'),
    ('first 10 notes', 'SELECT note, id FROM orders ORDER BY note, id LIMIT 10'),
    ('first note of each day', 'SELECT DISTINCT ON (day) day, note, id FROM orders ORDER BY day, note, id'),
    ('number by item', 'SELECT id, row_number() OVER (PARTITION BY item ORDER BY total, id) FROM orders'),
    ('number by note of a day', 'SELECT id, row_number() OVER (PARTITION BY day ORDER BY note, id) FROM orders'),
    ('least and greatest item', 'SELECT day, min(item), max(item), count(*) FROM orders GROUP BY day'),
    ('median by item', 'SELECT item, percentile_cont(0.5) WITHIN GROUP (ORDER BY total::float8) FROM orders GROUP BY item'),
    ('items of a day', "SELECT day, string_agg(item, ',' ORDER BY item, id) FROM orders GROUP BY day"),
    ('median note', 'SELECT day, percentile_disc(0.5) WITHIN GROUP (ORDER BY note) FROM orders GROUP BY day'),
    ('by customer', 'SELECT c.id, c.name, c.mail, sum(o.total), count(*) FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id, c.name, c.mail'),
    ('by customer of a month', "SELECT c.id, c.name, c.credit, sum(o.total) FROM customers c JOIN orders o ON o.customer = c.id WHERE o.day < date '2026-02-01' GROUP BY c.id, c.name, c.credit"),
    ('best customers', 'SELECT c.id, c.name, c.city, sum(o.total) AS total FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id, c.name, c.city ORDER BY total DESC, c.id LIMIT 20'),
    ('customers without orders', 'SELECT c.id, c.name, count(o.id) FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.total < 1000 GROUP BY c.id, c.name'),
    ('by city, in order', 'SELECT c.city, count(*), sum(o.total) FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.city ORDER BY c.city'),
]

SUITES = {'clicks': ([VIEWS], CLICKS), 'groups': ([KEYS], GROUPS), 'devops': ([HOSTS, CPU, MEMORY], DEVOPS), 'customers': ([CUSTOMERS, ORDERS], ORDERED), 'events': ([EVENTS], OF_EVENTS),
          'shop': (suites_shop.TABLES, suites_shop.STATEMENTS)}
