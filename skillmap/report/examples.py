"""Items of the most different slice on which its two models disagree."""

from dataclasses import dataclass

import polars as pl

from skillmap.report.facts import Facts, one_line
from skillmap.report.formatting import (
    counted,
    cut,
    estimate_text,
    fraction_text,
    n_text,
)
from skillmap.report.tables import Row

_QUESTION_LIMIT = 600
_CHOICE_LIMIT = 140
_N_CHOICES = 12


@dataclass(frozen=True, kw_only=True)
class Example:
    """One item: texts are cut, and say so with an ellipsis."""

    item_id: str
    benchmark_id: str
    category: str
    question: str
    choices: tuple[str, ...]
    n_more_choices: int
    answer: str
    winner: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class ExampleSection:
    """The fifth section; no examples where no two models differ."""

    intro: str
    examples: tuple[Example, ...]
    query: str


def example_section(facts: Facts) -> ExampleSection:
    """A few items that one model got right and the other did not, both ways."""
    rows = facts.disagreements
    return ExampleSection(
        intro=_intro(rows) if rows.height else "",
        examples=tuple(_example(row) for row in rows.iter_rows(named=True)),
        query=one_line("disagreements"),
    )


def _intro(rows: pl.DataFrame) -> str:
    first = rows.row(0, named=True)
    counts = dict(rows.select("is_won_by_better", "n_alike").unique().iter_rows())
    numbers = estimate_text(
        first["difference"],
        first["difference_low"],
        first["difference_high"],
        is_signed=True,
    )
    better, worse = cut(first["better_model"], 60), cut(first["worse_model"], 60)
    return (
        f"“{cut(first['slice_name'], 120)}”: {better} minus {worse}, {numbers}, "
        f"{n_text(first['n_common_items'])} common items. {better} does better on "
        f"{counted(counts.get(True, 0), 'item')} of them, {worse} on "
        f"{counts.get(False, 0):,}. The first of each by name of the item:"
    )


def _example(row: Row) -> Example:
    choices: list[str] = row["choices"] or []
    return Example(
        item_id=row["item_id"],
        benchmark_id=row["benchmark_id"],
        category=row["category"] or "",
        question=cut(row["question"] or "", _QUESTION_LIMIT),
        choices=tuple(cut(choice, _CHOICE_LIMIT) for choice in choices[:_N_CHOICES]),
        n_more_choices=max(0, len(choices) - _N_CHOICES),
        answer=cut(row["answer"] or "", _CHOICE_LIMIT),
        winner=row["model_a"],
        verdict=(
            f"{cut(row['model_a'], 60)} scores {fraction_text(row['score_a'])}, "
            f"{cut(row['model_b'], 60)} {fraction_text(row['score_b'])}"
        ),
    )
