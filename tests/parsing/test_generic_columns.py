"""Names of columns."""

import pytest

from skillmap.parsing.generic_columns import ALIASES, assign_fields, field_of


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ("item_id", "item_id"),
        ("Sample ID", "item_id"),
        ("doc-id", "item_id"),
        ("isCorrect", "score"),
        ("ACC", "score"),
        ("model_output", "response"),
        ("Skills", "skill"),
        ("latency", None),
        ("", None),
    ],
)
def test_case_spaces_and_underscores_make_no_difference(
    column: str, field: str | None
) -> None:
    assert field_of(column) == field


def test_no_name_means_two_fields() -> None:
    names = [
        name.replace("_", "")
        for field, aliases in ALIASES.items()
        for name in (field, *aliases)
    ]

    assert len(names) == len(set(names))


def test_a_fields_own_name_is_preferred_and_the_other_reported() -> None:
    columns, passed_over = assign_fields(["id", "Item ID", "doc_id", "cost"])

    assert columns == {"item_id": "Item ID"}
    assert passed_over == [
        ("doc_id", "item_id", "Item ID"),
        ("id", "item_id", "Item ID"),
    ]


def test_among_aliases_the_first_of_the_table_is_taken() -> None:
    assert assign_fields(["idx", "uid", "doc_id"]).column_of == {"item_id": "doc_id"}
