"""Which items and skills are checked: listed skills among negatives, easy and hard."""

from dataclasses import dataclass
from typing import Final, NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError
from skillmap.prompting.draws import drawn, generator

Vectors = NDArray[np.float32]

ROLES: Final = ("listed", "easy_negative", "hard_negative")

CHECKS_SCHEMA: Final = pl.Schema(
    {
        "benchmark_id": pl.String(),
        "item_id": pl.String(),
        "phrase": pl.String(),
        "role": pl.String(),
        "prompt_skill_id": pl.String(),
        "similarity": pl.Float64(),
    }
)
"""One row per item and skill that is asked about. ``prompt_skill_id`` is the skill's
id in the prompt, ``similarity`` the largest cosine to a listed skill of the item
(NULL for listed skills)."""

_REQUIRED: Final = ("benchmark_id", "item_id", "phrase")
_DECIMALS: Final = 5


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """How much is checked, and how far negatives are from the listed skills.

    The bounds suit MiniLM. Of pairs of the 17,347 skill phrases of MMLU and MATH, 92 %
    have a cosine below 0.3 and speak of different things; pairs from 0.5 to 0.75
    (about 1 %) are other skills of the same field, and from 0.8 on they are mostly
    two wordings of one skill. The published bounds, 0.7 to 0.825, suit a larger
    model whose cosines are higher; only a third of the phrases have a neighbour
    there, and none closer, in a sample of 1,500.

    Attributes:
        seed: Of every draw.
        n_items: Items of a benchmark, at most.
        n_listed: Listed skills an item, at most.
        n_easy: Easy negatives an item, at most.
        n_hard: Hard negatives an item, at most.
        easy_below: An easy negative's cosine to every listed skill is below this.
        hard_from: A hard negative's cosine to some listed skill is at least this.
        hard_below: And that to every listed skill is below this.
    """

    seed: int = 0
    n_items: int = 100
    n_listed: int = 4
    n_easy: int = 2
    n_hard: int = 2
    easy_below: float = 0.3
    hard_from: float = 0.5
    hard_below: float = 0.75

    def __post_init__(self) -> None:
        bounds = (self.easy_below, self.hard_from, self.hard_below)
        if not -1 <= bounds[0] <= bounds[1] < bounds[2] <= 1:
            raise InvalidInputError(
                "bounds must have -1 <= easy_below <= hard_from < hard_below <= 1, "
                f"got {bounds}"
            )
        if min(self.n_items, self.n_listed, self.n_easy, self.n_hard) < 0:
            raise InvalidInputError("numbers of items and skills must not be negative")


class Sample(NamedTuple):
    """What is checked.

    Attributes:
        checks: `CHECKS_SCHEMA`, by benchmark, item and id.
        shortfalls: ``benchmark_id``, ``role`` and ``n_missing``: negatives that were
            planned and for which the corpus has no skill within the bounds.
    """

    checks: pl.DataFrame
    shortfalls: pl.DataFrame


def sample_checks(
    item_skills: pl.DataFrame,
    corpus: pl.DataFrame,
    vectors: Vectors,
    *,
    plan: SamplePlan | None = None,
) -> Sample:
    """Items of each benchmark with some of their skills, and skills they do not list.

    Negatives are drawn without replacement from the skills whose cosine to EVERY
    listed skill of the item, not only to those drawn, is below the bound. What is
    drawn for one item does not depend on the others.

    Args:
        item_skills: ``benchmark_id``, ``item_id`` and ``phrase``: every skill that
            an annotator lists. Phrases as spelled in ``corpus``.
        corpus: ``phrase``: all skills that negatives may be drawn from, each once.
        vectors: Their unit vectors, in that order.
        plan: Numbers and bounds; `SamplePlan()` if left out.

    Returns:
        The checks, and what could not be drawn.

    Raises:
        InvalidInputError: If a column is missing, a listed phrase is not in the
            corpus, or the numbers of phrases and vectors differ.
    """
    plan = plan or SamplePlan()
    index = _index(item_skills, corpus, vectors)
    phrases: list[str] = corpus["phrase"].to_list()
    rows: list[tuple[str, str, str, str, str, float | None]] = []
    missing: dict[tuple[str, str], int] = {}
    for benchmark, item, listed in _sampled_items(item_skills, plan):
        asked = drawn(listed, plan.n_listed, seed=plan.seed, about=item)
        negatives = _negatives([index[p] for p in listed], vectors, plan, item)
        roles: list[tuple[str, str, float | None]] = [
            (phrase, "listed", None) for phrase in asked
        ]
        for role, places, cosines, n_planned in negatives:
            roles += [
                (phrases[place], role, cosine)
                for place, cosine in zip(places, cosines, strict=True)
            ]
            key = (benchmark, role)
            missing[key] = missing.get(key, 0) + n_planned - len(places)
        numbers = generator(plan.seed, item, "ids").permutation(len(roles)) + 1
        for number, (phrase, role, cosine) in zip(numbers, roles, strict=True):
            rows.append((benchmark, item, phrase, role, f"s{number}", cosine))
    checks = pl.DataFrame(rows, schema=CHECKS_SCHEMA, orient="row")
    by_number = pl.col("prompt_skill_id").str.slice(1).cast(pl.Int64)
    return Sample(
        checks.sort("benchmark_id", "item_id", by_number), _shortfalls(missing)
    )


def _sampled_items(
    item_skills: pl.DataFrame, plan: SamplePlan
) -> list[tuple[str, str, list[str]]]:
    listed = (
        item_skills.select(_REQUIRED)
        .drop_nulls()
        .group_by("benchmark_id", "item_id")
        .agg(pl.col("phrase").unique().sort())
    )
    kept: list[tuple[str, str, list[str]]] = []
    for (benchmark,), rows in sorted(listed.group_by("benchmark_id"), key=_first):
        name = cast("str", benchmark)
        skills = dict(rows.select("item_id", "phrase").rows())
        chosen = drawn(list(skills), plan.n_items, seed=plan.seed, about=name)
        kept += [(name, item, skills[item]) for item in chosen]
    return kept


def _first(group: tuple[tuple[object, ...], pl.DataFrame]) -> str:
    return str(group[0][0])


def _negatives(
    listed: list[int], vectors: Vectors, plan: SamplePlan, item: str
) -> list[tuple[str, list[int], list[float], int]]:
    cosines = (vectors @ vectors[listed].T).max(axis=1).round(_DECIMALS)
    is_other = np.ones(len(vectors), dtype=bool)
    is_other[listed] = False
    is_hard = (cosines >= plan.hard_from) & (cosines < plan.hard_below)
    pools = (
        ("easy_negative", cosines < plan.easy_below, plan.n_easy),
        ("hard_negative", is_hard, plan.n_hard),
    )
    found: list[tuple[str, list[int], list[float], int]] = []
    for role, is_in, n_planned in pools:
        pool = np.flatnonzero(is_in & is_other)
        n_drawn = min(n_planned, pool.size)
        places = generator(plan.seed, item, role).choice(pool, n_drawn, replace=False)
        found.append((role, places.tolist(), cosines[places].tolist(), n_planned))
    return found


def _shortfalls(missing: dict[tuple[str, str], int]) -> pl.DataFrame:
    rows = [(*key, n) for key, n in sorted(missing.items()) if n]
    schema = {"benchmark_id": pl.String, "role": pl.String, "n_missing": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _index(
    item_skills: pl.DataFrame, corpus: pl.DataFrame, vectors: Vectors
) -> dict[str, int]:
    missing = [name for name in _REQUIRED if name not in item_skills.columns]
    if missing or "phrase" not in corpus.columns:
        raise InvalidInputError(
            f"item_skills must have the columns {', '.join(_REQUIRED)} and corpus "
            f"must have phrase: missing {missing or ['phrase']}"
        )
    if len(vectors) != corpus.height:
        raise InvalidInputError(
            f"corpus and vectors must have one entry a phrase each, got "
            f"{corpus.height} and {len(vectors)}"
        )
    index = {phrase: k for k, phrase in enumerate(corpus["phrase"])}
    if len(index) != corpus.height:
        raise InvalidInputError(
            f"corpus: each phrase must stand once: {corpus.height - len(index)} repeats"
        )
    unknown = item_skills.filter(~pl.col("phrase").is_in(list(index)))["phrase"]
    if unknown.len():
        raise InvalidInputError(
            f"item_skills: {unknown.len()} phrases are not in the corpus, first "
            f"{unknown[0]!r}"
        )
    return index
