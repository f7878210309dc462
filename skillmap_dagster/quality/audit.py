"""The audit that every asset's rows pass before they replace the old ones."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import dagster as dg
import polars as pl

from skillmap import sql
from skillmap.contracts import TABLES
from skillmap.contracts.audit import violations
from skillmap.contracts.expectations import suite
from skillmap.contracts.table import Table
from skillmap_dagster.quality import great_expectations_suites
from skillmap_dagster.resources.lake import Beside, Lake, Partition

_N_SHOWN = 5
_TABLE_NAME = re.compile(r"\b(raw|core|mart)\.(\w+)")


class Finding(NamedTuple):
    """The outcome of one check: passed or not, and what a person wants to know."""

    check: str
    passed: bool
    is_warning: bool
    metadata: dict[str, Any]

    @property
    def stops(self) -> bool:
        """Whether the rows must not be published."""
        return not self.passed and not self.is_warning


def failed(check: str, reason: str) -> Finding:
    """The finding of a check that could not even look at rows."""
    return Finding(check, passed=False, is_warning=False, metadata={"reason": reason})


def check_names(table: Table) -> list[str]:
    """Names of all checks of a table, in the order they run."""
    return ["contract", "expectations", *table.cross_checks, *table.cautions]


def audit(
    table: Table,
    partition: Partition,
    rows: pl.DataFrame,
    lake: Lake,
    *,
    beside: Sequence[Beside] = (),
) -> list[Finding]:
    """Every check of ``table`` on ``rows``, as if they were published already.

    Args:
        table: The contract.
        partition: The partition that the rows are to replace.
        rows: Rows that have the contract's columns and types.
        lake: What the other tables hold.
        beside: Tables and rows that are to be published with these.

    Returns:
        One finding a check, in the order of ``check_names``.
    """
    with lake.session(
        tables_read([sql.load(name) for name, _ in _rules(table)]),
        candidate=(table, partition, rows),
        beside=beside,
    ) as connection:
        ruled = [
            rule_finding(
                name, connection.sql(sql.load(name)).pl(), is_warning=is_warning
            )
            for name, is_warning in _rules(table)
        ]
    return [_contract(table, rows), _expectations(table, rows), *ruled]


def stopping_checks(
    table: Table,
    partition: Partition,
    rows: pl.DataFrame,
    lake: Lake,
    *,
    beside: Sequence[Beside] = (),
) -> list[str]:
    """Names of the checks that would stop ``rows``, without the expectations.

    Those say the same as the contract and take most of an audit's time; this is for
    rows that have an audit of their own to come.
    """
    names = [f"checks/{name}" for name in table.cross_checks]
    with lake.session(
        tables_read([sql.load(name) for name in names]),
        candidate=(table, partition, rows),
        beside=beside,
    ) as connection:
        found = [
            rule_finding(name, connection.sql(sql.load(name)).pl()) for name in names
        ]
    return [f.check for f in [_contract(table, rows), *found] if f.stops]


def _rules(table: Table) -> list[tuple[str, bool]]:
    """Queries that select offenders, and whether they only warn."""
    return [
        *((f"checks/{name}", False) for name in table.cross_checks),
        *((f"cautions/{name}", True) for name in table.cautions),
    ]


def tables_read(queries: Sequence[str]) -> list[Table]:
    """Tables that the queries name, in the order of ``TABLES``."""
    named = {key for query in queries for key in _TABLE_NAME.findall(query)}
    return [table for key, table in TABLES.items() if key in named]


def rule_finding(
    name: str, offenders: pl.DataFrame, *, is_warning: bool = False
) -> Finding:
    """The outcome of a rule whose query selected ``offenders``."""
    return Finding(
        check=name.rpartition("/")[2],
        passed=offenders.is_empty(),
        is_warning=is_warning,
        metadata={
            "offending_rows": offenders.height,
            "first": dg.MetadataValue.json(offenders.head(_N_SHOWN).to_dicts()),
        },
    )


def _contract(table: Table, rows: pl.DataFrame) -> Finding:
    broken = violations(table, rows)
    told: dict[str, Any] = {"rows": rows.height, "broken_rules": len(broken)}
    told |= {violation.rule: str(violation) for violation in broken}
    return Finding("contract", not broken, is_warning=False, metadata=told)


def _expectations(table: Table, rows: pl.DataFrame) -> Finding:
    results = great_expectations_suites.validate(rows, suite(table))
    failed = [result for result in results if not result.success]
    told: dict[str, Any] = {"expectations": len(results), "failed": len(failed)}
    told |= {result.name: dg.MetadataValue.json(result.observed) for result in failed}
    return Finding("expectations", not failed, is_warning=False, metadata=told)
