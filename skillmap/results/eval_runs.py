"""The results of one model on one benchmark, from all the sources that have some."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from skillmap.contracts import core
from skillmap.extraction import EXTRACTOR_VERSION
from skillmap.extraction.outcomes import extract
from skillmap.ids import eval_run_id, item_id
from skillmap.items.matching import BenchmarkOrder, BenchmarkSource, record_keys
from skillmap.items.releases import is_contradiction, with_stated_content
from skillmap.parsing.suspicion import prediction_in_response
from skillmap.results.outcomes import with_outcome
from skillmap.results.replies import with_call_columns

SOURCE_EXTRACTOR = "source"
_DUPLICATE = "the source has another result for this item, model and epoch before it"
_STATED = ("question_hash", "choices_key", "answer_key")


class ModelSource(NamedTuple):
    """A source with results of a model, and the names it has for that model."""

    source: BenchmarkSource
    model_names: tuple[str | None, ...]


class Cell(NamedTuple):
    """Results of one model on one benchmark.

    Attributes:
        eval_runs: Columns of ``core.eval_runs``.
        responses: Columns of ``core.responses``.
        scores: Columns of ``core.scores``.
    """

    eval_runs: pl.DataFrame
    responses: pl.DataFrame
    scores: pl.DataFrame


def matched_results(
    source: BenchmarkSource, order: BenchmarkOrder, *, benchmark_id: str
) -> pl.DataFrame:
    """The source's results with their item, or with the reason why not.

    Returns:
        The rows of ``source.parsed.results`` with ``item_id`` and ``reason`` added;
        one of the two is null. The first result for an item, model and epoch is
        good, a later one is not.
    """
    keys = record_keys(source, order, benchmark_id=benchmark_id)
    matched = (
        source.parsed.results.drop("native_id", "native_id_type")
        .join(keys, on="position", how="left", maintain_order="left")
        .with_columns(item_id=item_id(pl.lit(benchmark_id), pl.col("native_id")))
    )
    is_repeated = (
        pl.col("item_id").is_not_null()
        & ~pl.struct(
            "item_id", pl.col("model").replace(source.model_names), "epoch"
        ).is_first_distinct()
    )
    return matched.with_columns(
        item_id=pl.when(~is_repeated).then("item_id"),
        reason=pl.when(is_repeated).then(pl.lit(_DUPLICATE)).otherwise("reason"),
    )


def cell(
    benchmark_id: str,
    model_id: str,
    sources: Sequence[ModelSource],
    *,
    order: BenchmarkOrder,
    items: pl.DataFrame,
    release_of_source: Mapping[str, str],
) -> Cell:
    """Everything known of one model on one benchmark.

    Args:
        benchmark_id: The benchmark.
        model_id: The model.
        sources: Sources with results of the model, at least one.
        order: The benchmark's declared order.
        items: Rows of ``core.items`` of the benchmark.
        release_of_source: The release that each source states, where it does.

    Returns:
        The cell's eval runs, responses and scores; no rows where no result could be
        matched to an item. A response whose source states another question, options
        or answer than ``items`` is marked as drifted.
    """
    by_source = {
        entry.source.source_id: _responses(entry, order, items, benchmark_id)
        for entry in sorted(sources, key=lambda entry: entry.source.source_id)
    }
    runs: list[dict[str, object]] = []
    responses: list[pl.DataFrame] = []
    for source_ids in _parts_of_runs(by_source):
        run_id = eval_run_id(benchmark_id, model_id, source_ids[0])
        rows = pl.concat([by_source[s] for s in source_ids])
        responses.append(rows.with_columns(eval_run_id=pl.lit(run_id)))
        entries = [e for e in sources if e.source.source_id in source_ids]
        names = {name or model_id for e in entries for name in e.model_names}
        releases = {release_of_source.get(s) for s in source_ids}
        runs.append(
            {
                "eval_run_id": run_id,
                "benchmark_id": benchmark_id,
                "model_id": model_id,
                "source_ids": source_ids,
                "source_model_names": sorted(names),
                "format": entries[0].source.parsed.format,
                "release_id": releases.pop() if len(releases) == 1 else None,
                "n_responses": rows.height,
                "n_items": rows["item_id"].n_unique(),
                "n_drifted": rows["is_drifted"].sum(),
            }
        )
    if not runs:
        return Cell(core.EVAL_RUNS.empty(), core.RESPONSES.empty(), core.SCORES.empty())
    return _cell(
        _with_primary(pl.DataFrame(runs, schema_overrides={"release_id": pl.String()})),
        pl.concat(responses).with_columns(
            benchmark_id=pl.lit(benchmark_id), model_id=pl.lit(model_id)
        ),
    )


def _responses(
    entry: ModelSource, order: BenchmarkOrder, items: pl.DataFrame, benchmark_id: str
) -> pl.DataFrame:
    source = entry.source
    known = matched_results(source, order, benchmark_id=benchmark_id).filter(
        pl.col("item_id").is_not_null(),
        pl.col("model").is_in(entry.model_names, nulls_equal=True),
    )
    stated = with_call_columns(_with_drift(known, source, items))
    return with_outcome(stated).with_columns(
        source_id=pl.lit(source.source_id), format=pl.lit(source.parsed.format)
    )


def _parts_of_runs(by_source: Mapping[str, pl.DataFrame]) -> list[list[str]]:
    """Sources by eval run: those of one format that share no item are one run."""
    runs: list[list[str]] = []
    answered: list[set[str]] = []
    formats: list[str] = []
    for source_id, rows in by_source.items():
        if rows.is_empty():
            continue
        items = set(rows["item_id"])
        file_format = rows["format"][0]
        for number, known in enumerate(answered):
            if formats[number] == file_format and known.isdisjoint(items):
                runs[number].append(source_id)
                known.update(items)
                break
        else:
            runs.append([source_id])
            answered.append(items)
            formats.append(file_format)
    return runs


def _with_drift(
    results: pl.DataFrame, source: BenchmarkSource, items: pl.DataFrame
) -> pl.DataFrame:
    stated = with_stated_content(source.parsed.items).select(
        "position", "choices", "answer", *_STATED
    )
    current = with_stated_content(items).select(
        "item_id",
        *(
            pl.col(name).alias(f"{name}_current")
            for name in (*_STATED, "choices", "answer")
        ),
    )
    joined = (
        results.drop("question_hash")
        .join(stated, on="position", how="left", maintain_order="left")
        .join(current, on="item_id", how="left", maintain_order="left")
    )
    can_tell = pl.all_horizontal(
        pl.col("question_hash", "question_hash_current").is_not_null()
    )
    # A response is read by the options and the answer that its source states: those
    # are what the model was asked.
    has_choices = pl.col("choices").list.len() > 0
    return joined.with_columns(
        is_drifted=pl.when(can_tell).then(is_contradiction("_current")),
        choices=pl.when(has_choices).then("choices").otherwise("choices_current"),
        answer=pl.coalesce("answer", "answer_current"),
    )


def _reextracted(responses: pl.DataFrame) -> pl.DataFrame:
    """What our own extractor reads from the responses that were kept."""
    kept = responses.filter(
        pl.col("response").is_not_null(), pl.col("answer").is_not_null()
    )
    asked = kept.select("response", "choices", "answer", "finish_reason")
    read = extract(asked).select("prediction", "outcome")
    score = pl.when(pl.col("outcome") == "correct").then(1.0)
    return kept.drop("prediction", "outcome", "score").with_columns(
        *read.get_columns(),
        read.select(
            score=score.when(pl.col("outcome") == "wrong").then(0.0)
        ).to_series(),
        extractor=pl.lit(EXTRACTOR_VERSION),
        is_prediction_in_response=pl.lit(None, pl.Boolean),
    )


def _with_primary(runs: pl.DataFrame) -> pl.DataFrame:
    best = runs.sort("n_items", "eval_run_id", descending=[True, False])
    return runs.with_columns(
        is_primary=pl.col("eval_run_id") == best["eval_run_id"].first()
    )


def _cell(runs: pl.DataFrame, responses: pl.DataFrame) -> Cell:
    rows = responses.join(runs.select("eval_run_id", "is_primary"), on="eval_run_id")
    ordered = rows.rename({"position": "record_position"}).sort(
        "eval_run_id", "item_id", "epoch"
    )
    scored = ordered.with_columns(
        extractor=pl.lit(SOURCE_EXTRACTOR),
        is_prediction_in_response=prediction_in_response(ordered),
    )
    names = core.SCORES.polars_schema.names()
    readings = [scored.select(names), _reextracted(ordered).select(names)]
    return Cell(
        eval_runs=runs.select(core.EVAL_RUNS.polars_schema.names()),
        responses=ordered.select(core.RESPONSES.polars_schema.names()),
        scores=pl.concat(readings).sort("eval_run_id", "item_id", "epoch", "extractor"),
    )
