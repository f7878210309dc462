"""Each rule over several tables selects the rows that break it, and no others."""

import polars as pl
import pytest

from skillmap.contracts import TABLES
from skillmap.contracts.table import Column
from tests.builders import make_items, make_scores, make_warehouse, rows_of

_PLAIN: dict[str, object] = {
    "varchar": "x",
    "bigint": 0,
    "double": 0.0,
    "boolean": False,
    "varchar[]": [],
}


def some_value(column: Column) -> object:
    if column.allowed:
        return column.allowed[0]
    return column.minimum if column.minimum is not None else _PLAIN[column.type]


def rows(table_name: str, *told: dict[str, object]) -> pl.DataFrame:
    """Rows of a table: what is told of each, and anything lawful elsewhere."""
    (table,) = [t for t in TABLES.values() if t.name == table_name]
    made = [{c.name: some_value(c) for c in table.columns} | given for given in told]
    return table.conform(
        pl.DataFrame(
            {name: [row[name] for row in made] for name in table.polars_schema},
            strict=False,
        )
    )


# By rule: a table that can break it, the column that points to another table, and
# rows of the tables that it points to.
_POINTERS = [
    ("every_grouped_item_is_known", "item_groups", "item_id"),
    ("every_mention_has_an_item", "skill_mentions", "item_id"),
    ("every_rationale_has_an_item", "rationales", "item_id"),
    ("every_response_has_an_item", "responses", "item_id"),
]
_KEYS = {"skill_mentions": "mention_id", "rationales": "rationale_id"}


@pytest.mark.parametrize(("rule", "table", "column"), _POINTERS)
def test_rows_about_an_item_that_is_not_known_are_selected(
    rule: str, table: str, column: str
) -> None:
    key = _KEYS.get(table, column)
    pointing = rows(
        table,
        {key: "first", column: "quiz:0"},
        {key: "second", column: "quiz:9"},
    )

    with make_warehouse(items=make_items(2), **{table: pointing}) as connection:
        offenders = rows_of(connection, f"checks/{rule}")

    assert offenders["item_id"].to_list() == ["quiz:9"]


def test_scores_without_their_response_are_selected() -> None:
    scores = make_scores(
        item_id=["quiz:0", "quiz:0", "quiz:1"], epoch=[0, 1, 0], eval_run_id="run"
    )
    responses = rows(
        "responses",
        {"eval_run_id": "run", "item_id": "quiz:0", "epoch": 0},
        {"eval_run_id": "other", "item_id": "quiz:1", "epoch": 0},
    )

    with make_warehouse(scores=scores, responses=responses) as connection:
        offenders = rows_of(connection, "checks/every_score_has_a_response")

    assert offenders.rows() == [("run", "quiz:0", 1), ("run", "quiz:1", 0)]


def test_skills_and_items_that_are_not_known_are_selected() -> None:
    item_skills = rows(
        "item_skills",
        {"item_id": "quiz:0", "skill_id": "skill:adding"},
        {"item_id": "quiz:0", "skill_id": "skill:unheard"},
        {"item_id": "quiz:9", "skill_id": "skill:adding"},
    )
    # Two phrases of one skill are no reason to tell a row twice.
    skill_names = rows(
        "skill_names",
        {"phrase": "adding", "skill_id": "skill:adding"},
        {"phrase": "sums", "skill_id": "skill:adding"},
    )

    with make_warehouse(
        items=make_items(1), item_skills=item_skills, skill_names=skill_names
    ) as connection:
        offenders = rows_of(connection, "checks/every_item_skill_is_known")

    assert offenders.rows() == [
        ("quiz:0", "skill:unheard"),
        ("quiz:9", "skill:adding"),
    ]


def test_items_of_a_slice_must_have_its_skill_or_a_skill_of_its_broad_skill() -> None:
    skill_names = rows(
        "skill_names",
        {"phrase": "a", "skill_id": "skill:adding", "broad_skill_id": "skills:sums"},
        {"phrase": "b", "skill_id": "skill:reading", "broad_skill_id": "skills:texts"},
    )
    item_skills = rows("item_skills", {"item_id": "i", "skill_id": "skill:adding"})
    slices = rows(
        "slices",
        {"slice_id": "skill:adding"},
        {"slice_id": "skill:reading"},
        {"slice_id": "skills:sums"},
        {"slice_id": "skills:texts"},
    )
    names = ("skill:adding", "skill:reading", "skills:sums", "skills:texts", "gone")
    slice_items = rows("slice_items", *({"slice_id": s, "item_id": "i"} for s in names))

    with make_warehouse(
        skill_names=skill_names,
        item_skills=item_skills,
        slices=slices,
        slice_items=slice_items,
    ) as connection:
        offenders = rows_of(connection, "checks/every_slice_item_is_known")

    assert offenders["slice_id"].to_list() == ["gone", "skill:reading", "skills:texts"]


@pytest.mark.parametrize(
    ("caution", "column", "marked"),
    [
        ("results_are_of_the_current_release", "is_drifted", True),
        ("predictions_stand_in_responses", "is_prediction_in_response", False),
    ],
)
def test_a_caution_selects_what_is_known_to_be_doubtful(
    caution: str, column: str, *, marked: bool
) -> None:
    scores = make_scores(3, **{column: [marked, not marked, None]})

    with make_warehouse(scores=scores) as connection:
        doubtful = rows_of(connection, f"cautions/{caution}")

    assert doubtful.rows() == [("quiz:ada:f1", "quiz:0")]


def test_models_that_respond_alike_to_the_letter_are_paired() -> None:
    def said(model: str, text: str, n: int) -> list[dict[str, object]]:
        run = {"model_id": model, "benchmark_id": "quiz", "eval_run_id": model}
        return [
            {**run, "item_id": f"quiz:{i}", "response": f"{text} {i}"} for i in range(n)
        ]

    told = [
        *said("ada", "It is", 20),
        *said("bob", "It was", 20),
        *said("copy of ada", "It is", 20),
        # Few items may be answered alike by chance.
        *said("dan", "So is", 19),
        *said("eve", "So is", 19),
    ]

    with make_warehouse(responses=rows("responses", *told)) as connection:
        pairs = rows_of(connection, "cautions/no_two_models_respond_alike")

    assert pairs.rows() == [("quiz", "ada", "copy of ada")]
