"""What the suites' tables are made of."""

import collections

# Of each column the name, the type in PostgreSQL and in DuckDB, and SQL of its values: of i, the row's number, and {rows}.
# The number of rows is SQL of {rows}.  DuckDB has neither the primary key nor the indexes.
Table = collections.namedtuple('Table', 'name columns rows primary indexes', defaults=('{rows}', '', ()))


def mixed(salt, below):
    """A number below this of each row."""
    return f'((hashint8extended(i, {salt}) & 9007199254740991) % {below})'


def skewed(salt, below):
    """The same, and small ones are common."""
    return f'({mixed(salt, 1000000)} * {mixed(salt + 1, 1000000)} / 1000000 * {below} / 1000000)'
