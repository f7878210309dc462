"""How often verifiers confirm listed skills and reject those that are not listed."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.verification.shares import grouped_shares

RATES_SCHEMA: Final = pl.Schema(
    {
        "verifier": pl.String(),
        "measure": pl.String(),
        "role": pl.String(),
        "n_checks": pl.Int64(),
        "n_unreadable": pl.Int64(),
        "n_items": pl.Int64(),
        "rate": pl.Float64(),
        "rate_low": pl.Float64(),
        "rate_high": pl.Float64(),
        "n_effective": pl.Float64(),
    }
)
"""One row per verifier, role and value of whatever the rates are split by.

``measure`` is "relevancy" for listed skills, the share that the verifier calls
relevant, and "specificity" for negatives, the share that it calls not relevant.
``n_checks`` have a verdict and ``n_unreadable`` have none; those count nowhere.
Bounds are Wilson's with the effective number of checks, for checks of one item
share its question. A rate and bounds are NULL without a verdict."""

_REQUIRED: Final = ("verifier", "item_id", "role", "is_relevant")
_MEASURES: Final = {
    "listed": "relevancy",
    "easy_negative": "specificity",
    "hard_negative": "specificity",
}


def verification_rates(
    verdicts: pl.DataFrame,
    *,
    by: Sequence[str] = (),
    confidence_level: float = 0.95,
) -> pl.DataFrame:
    """Relevancy rate and specificity, with intervals that respect items.

    Args:
        verdicts: ``verifier``, ``item_id``, ``role``, ``is_relevant`` (NULL for
            none) and the columns of ``by``.
        by: Columns to split by, such as "benchmark_id", or whether the annotator
            answered the item right; NULL is a value of its own.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        The columns of ``by`` and `RATES_SCHEMA`, sorted by all that tells rows
        apart. An item counts as one cluster in each row.

    Raises:
        InvalidInputError: If a column is missing or a role is unknown.
    """
    _check(verdicts, by)
    group = [*by, "verifier", "role"]
    told = verdicts.with_columns(
        value=pl.col("is_relevant") == (pl.col("role") == "listed")
    )
    shares = grouped_shares(told, group, confidence_level=confidence_level)
    named = {
        "n_known": "n_checks",
        "n_unknown": "n_unreadable",
        "share": "rate",
        "share_low": "rate_low",
        "share_high": "rate_high",
    }
    return (
        shares.rename(named)
        .with_columns(measure=pl.col("role").replace_strict(_MEASURES))
        .select(*by, *(pl.col(n).cast(kind) for n, kind in RATES_SCHEMA.items()))
    )


def _check(verdicts: pl.DataFrame, by: Sequence[str]) -> None:
    missing = [name for name in (*_REQUIRED, *by) if name not in verdicts.columns]
    if missing:
        raise InvalidInputError(f"verdicts: columns are missing: {missing}")
    unknown = set(verdicts["role"].unique()) - _MEASURES.keys()
    if unknown:
        raise InvalidInputError(
            f"verdicts: role must be one of {', '.join(_MEASURES)}, got "
            f"{min(map(str, unknown))!r}"
        )
