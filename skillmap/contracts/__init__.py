"""What each table holds: one declarative object a table, and all made from it."""

from collections.abc import Mapping

from skillmap.contracts import annotation, core, mart, probing, raw, routing
from skillmap.contracts.table import Table

# Every table by (schema, name), in the order they are made.
TABLES: Mapping[tuple[str, str], Table] = {
    table.key: table
    for module in (raw, core, annotation, mart, probing, routing)
    for table in vars(module).values()
    if isinstance(table, Table)
}
