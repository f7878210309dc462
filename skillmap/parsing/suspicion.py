"""What in a set of results looks like a fault of the source rather than of the model.

Responses, predictions and scores are judged as stored; nothing is corrected here.
Thresholds separate faults met in published files from what honest files show.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from string import ascii_uppercase
from typing import NamedTuple

import polars as pl

FINDINGS_SCHEMA = pl.Schema(
    {
        "severity": pl.String(),
        "code": pl.String(),
        "benchmark": pl.String(),
        "model": pl.String(),
        "message": pl.String(),
        "count": pl.Int64(),
        "n": pl.Int64(),
        "examples": pl.List(pl.String()),
    }
)
"""One row per finding: `count` of `n` results, and the first items concerned.
`severity` is 'error' (do not import), 'warning' or 'info'."""

_ALL_EMPTY = 0.99
_MANY_EMPTY = 0.05
_MANY_WITHOUT_PREDICTION = 0.10
_DOMINANT = 0.5
_FEWEST_FOR_DOMINANCE = 20
_NEARLY_IDENTICAL = 0.95
_FEWEST_IN_COMMON = 20

# Two good models give the same letter for most items; the same sentence is no accident.
_FEWEST_CHARACTERS_COMPARED = 20

_N_EXAMPLES = 5
_SEVERITIES = ("error", "warning", "info")


class _Finding(NamedTuple):
    severity: str
    code: str
    benchmark: str | None
    model: str | None
    message: str
    n_concerned: int
    n: int
    examples: list[str]


def findings(
    results: pl.DataFrame, *, items: pl.DataFrame | None = None
) -> pl.DataFrame:
    """What looks suspicious, per benchmark and model.

    Args:
        results: One row per item, model and epoch (`RESULTS_SCHEMA`), of one source or
            of several that are matched to items already.
        items: Their items (`ITEMS_SCHEMA`), joined by native id, or by position where
            there is none. Without them, predictions are not checked against options.

    Returns:
        Findings (`FINDINGS_SCHEMA`), the gravest first. None for no results.
    """
    checked = _with_checks(results, items)
    found: list[_Finding] = []
    groups = checked.partition_by("benchmark", "model", maintain_order=True)
    for group in groups:
        for check in _CHECKS:
            found.extend(check(group))
    for benchmark in checked.partition_by("benchmark", maintain_order=True):
        found.extend(_nearly_identical_models(benchmark))
    rank = {severity: place for place, severity in enumerate(_SEVERITIES)}
    found.sort(
        key=lambda f: (rank[f.severity], f.code, f.benchmark or "", f.model or "")
    )
    return pl.DataFrame(found, schema=FINDINGS_SCHEMA, orient="row")


def prediction_in_response(results: pl.DataFrame) -> pl.Series:
    """Whether each prediction occurs in its response as a word of its own.

    Both are compared as sequences of words, a word being letters and digits of any
    script in a row, with case: the letter G is found in "(G)." and in "G: 5", and not
    in "Given", "g" or "G7". So "2.5" is found in "2.5" and also in "2, 5".

    A model may state an option instead of its letter. Where the options are known, a
    letter is also found in the words of the option that it stands for, without case.

    Args:
        results: Has ``prediction`` and ``response``, and may have ``choices``.

    Returns:
        One value per result; null where there is no response or no prediction, or a
        blank one. A prediction without letters and digits is looked for as it stands.
    """
    written = pl.col("prediction").str.strip_chars()
    words = _words(pl.col("prediction"))
    in_words = _words(pl.col("response")).str.contains(words, literal=True)
    as_written = pl.col("response").str.contains(written, literal=True)
    found = pl.when(words != " ").then(in_words).when(written != "").then(as_written)
    if "choices" in results.columns:
        found |= _option_in_response()
    return results.select(prediction_in_response=found).to_series()


def _option_in_response() -> pl.Expr:
    """Whether the option that a predicted letter stands for is in the response."""
    place = pl.col("prediction").replace_strict(
        list(ascii_uppercase), list(range(26)), default=None, return_dtype=pl.Int64
    )
    option = pl.col("choices").list.get(place, null_on_oob=True)
    words = _words(option.str.to_lowercase())
    response = _words(pl.col("response").str.to_lowercase())
    is_found = response.str.contains(words, literal=True) & (words != " ")
    return is_found.fill_null(value=False)


def _words(text: pl.Expr) -> pl.Expr:
    spaced = text.str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars(" ")
    padded = pl.concat_str(pl.lit(" "), spaced, pl.lit(" "))
    return pl.when(spaced == "").then(pl.lit(" ")).otherwise(padded)


def _with_checks(results: pl.DataFrame, items: pl.DataFrame | None) -> pl.DataFrame:
    named = results.with_columns(
        _item_name(),
        is_empty=(
            pl.col("response").str.strip_chars().eq("").fill_null(value=False)
            | pl.col("outcome").eq("empty").fill_null(value=False)
        ),
        n_choices=pl.lit(None, dtype=pl.Int64),
    )
    if items is None:
        return named.with_columns(prediction_in_response(named))
    options = items.select(
        "benchmark",
        _item_name(),
        "choices",
        n_choices=pl.col("choices").list.len().cast(pl.Int64),
    ).unique(["benchmark", "item"], keep="first", maintain_order=True)
    with_options = named.drop("n_choices").join(
        options,
        on=["benchmark", "item"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return with_options.with_columns(prediction_in_response(with_options))


def _item_name() -> pl.Expr:
    place = pl.concat_str(pl.lit("record "), pl.col("position"))
    return pl.coalesce("native_id", place).alias("item")


def _empty_responses(group: pl.DataFrame) -> Iterator[_Finding]:
    answered = group.filter(pl.col("response").is_not_null() | pl.col("is_empty"))
    empty = answered.filter("is_empty")
    if not answered.height or empty.height < _MANY_EMPTY * answered.height:
        return
    is_all = empty.height >= _ALL_EMPTY * answered.height
    yield _finding(
        "error" if is_all else "warning",
        "all_responses_empty" if is_all else "many_responses_empty",
        group,
        empty,
        answered.height,
        f"{empty.height:,} of {answered.height:,} responses are empty: the model was "
        "probably not reached. Run it again; an accuracy of 0 would be untrue",
    )


def _unsupported_predictions(group: pl.DataFrame) -> Iterator[_Finding]:
    judged = group.filter(pl.col("prediction_in_response").is_not_null())
    unsupported = judged.filter(~pl.col("prediction_in_response"))
    if unsupported.is_empty():
        return
    yield _finding(
        "warning",
        "prediction_not_in_response",
        group,
        unsupported,
        judged.height,
        f"{unsupported.height:,} of {judged.height:,} predictions occur nowhere in "
        "their response. Extract the answers again",
    )
    counts = (
        unsupported["prediction"]
        .value_counts(sort=True)
        .sort(["count", "prediction"], descending=[True, False])
    )
    value, count = counts.row(0)
    if count < max(_FEWEST_FOR_DOMINANCE, _DOMINANT * unsupported.height):
        return
    yield _finding(
        "warning",
        "constant_prediction",
        group,
        unsupported.filter(pl.col("prediction") == value),
        unsupported.height,
        f"{count:,} of the {unsupported.height:,} predictions that occur nowhere in "
        f"their response are {value!r}: the extractor's default, not an answer. "
        "Count them as unparsed",
    )


def _predictions_beyond_choices(group: pl.DataFrame) -> Iterator[_Finding]:
    letters = group.filter(
        pl.col("n_choices") > 0, pl.col("prediction").str.contains(r"^[A-Za-z]$")
    )
    index = pl.col("prediction").str.to_uppercase()
    place = index.replace_strict(
        list(ascii_uppercase), list(range(26)), return_dtype=pl.Int64
    )
    beyond = letters.filter(place >= pl.col("n_choices"))
    if beyond.is_empty():
        return
    values = sorted(beyond["prediction"].unique().to_list())
    yield _finding(
        "warning",
        "prediction_beyond_choices",
        group,
        beyond,
        letters.height,
        f"{beyond.height:,} of {letters.height:,} predicted letters are beyond the "
        f"item's options: {', '.join(values)}. Extract the answers again",
    )


def _missing_values(group: pl.DataFrame) -> Iterator[_Finding]:
    expected = group.filter("expects_prediction")
    without = expected.filter(pl.col("prediction").is_null())
    if not without.is_empty():
        is_much = without.height >= _MANY_WITHOUT_PREDICTION * expected.height
        yield _finding(
            "warning" if is_much else "info",
            "no_prediction",
            group,
            without,
            expected.height,
            f"{without.height:,} of {expected.height:,} results have no prediction",
        )
    unscored = group.filter(
        pl.col("score").is_null(),
        ~pl.col("outcome").is_in(["unparsed", "empty"]).fill_null(value=False),
    )
    if not unscored.is_empty():
        yield _finding(
            "warning" if unscored.height < group.height else "info",
            "no_score",
            group,
            unscored,
            group.height,
            f"{unscored.height:,} of {group.height:,} results have no score; they are "
            "left out of every accuracy",
        )


def _nearly_identical_models(results: pl.DataFrame) -> Iterator[_Finding]:
    """Pairs of models that wrote the same: one's cache may have answered for both."""
    long = results.filter(
        pl.col("response").str.strip_chars().str.len_chars()
        >= _FEWEST_CHARACTERS_COMPARED,
        pl.col("model").is_not_null(),
    ).with_columns(written=pl.col("response").hash())
    if long.is_empty():
        return
    written = long.pivot(
        "model",
        index=["item", "epoch"],
        values="written",
        aggregate_function="first",
        maintain_order=True,
    )
    models = sorted(long["model"].unique().to_list())
    for first, second in combinations(models, 2):
        pair = written.select("item", a=first, b=second).drop_nulls()
        same = pair.filter(pl.col("a") == pl.col("b"))
        if pair.height < _FEWEST_IN_COMMON:
            continue
        if same.height < _NEARLY_IDENTICAL * pair.height:
            continue
        yield _Finding(
            "warning",
            "identical_responses",
            results["benchmark"][0],
            first,
            f"{same.height:,} of {pair.height:,} responses equal those of {second!r}: "
            "a cache may have answered for both. Check where they come from",
            same.height,
            pair.height,
            same["item"].head(_N_EXAMPLES).to_list(),
        )


def _finding(
    severity: str,
    code: str,
    group: pl.DataFrame,
    concerned: pl.DataFrame,
    n: int,
    message: str,
) -> _Finding:
    return _Finding(
        severity,
        code,
        group["benchmark"][0],
        group["model"][0],
        message,
        concerned.height,
        n,
        concerned["item"].head(_N_EXAMPLES).to_list(),
    )


_CHECKS: tuple[Callable[[pl.DataFrame], Iterator[_Finding]], ...] = (
    _empty_responses,
    _unsupported_predictions,
    _predictions_beyond_choices,
    _missing_values,
)
