"""The great-expectations suite of a table, as plain data made from its contract.

Data, so that nothing here imports great-expectations: that takes seconds and happens
only where a suite is run.
"""

from typing import TypedDict

from skillmap.contracts.table import Column, Table


class Expectation(TypedDict):
    """One expectation: the class's name, and its arguments."""

    type: str
    arguments: dict[str, object]


def suite(table: Table) -> list[Expectation]:
    """Expectations that hold for every lawful content of ``table``.

    In the order: columns, missing values, bounds and lists of values, key, rules.
    """
    expectations = [
        _expectation(
            "ExpectTableColumnsToMatchOrderedList",
            column_list=[c.name for c in table.columns],
        )
    ]
    # One for all required columns: great-expectations takes some 10 ms for each
    # expectation, whatever the number of rows.
    required = [f"{c.name} is null" for c in table.columns if not c.nullable]
    expectations.append(_no_rows("required_values_are_known", " or ".join(required)))
    for column in table.columns:
        expectations += _of_column(column)
    expectations.append(_key(table))
    expectations += [
        _no_rows(name, f"not ({rule})") for name, rule in table.checks.items()
    ]
    return expectations


def _of_column(column: Column) -> list[Expectation]:
    expectations: list[Expectation] = []
    if column.allowed:
        expectations.append(
            _expectation(
                "ExpectColumnValuesToBeInSet",
                column=column.name,
                value_set=list(column.allowed),
            )
        )
    if column.minimum is not None or column.maximum is not None:
        expectations.append(
            _expectation(
                "ExpectColumnValuesToBeBetween",
                column=column.name,
                min_value=column.minimum,
                max_value=column.maximum,
            )
        )
    return expectations


def _key(table: Table) -> Expectation:
    if len(table.primary_key) == 1:
        return _expectation("ExpectColumnValuesToBeUnique", column=table.primary_key[0])
    return _expectation(
        "ExpectCompoundColumnsToBeUnique", column_list=list(table.primary_key)
    )


def _no_rows(name: str, condition: str) -> Expectation:
    return _expectation(
        "UnexpectedRowsExpectation",
        description=name,
        # The condition comes from a contract; great-expectations fills in the batch.
        unexpected_rows_query="select * from {batch} where " + condition,  # noqa: S608
    )


def _expectation(name: str, **arguments: object) -> Expectation:
    return {"type": name, "arguments": arguments}
