"""The first screen: how much there is, what stands out, what to be wary of."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from skillmap.report.contrasts import contrast_summary, drawn_interval
from skillmap.report.extraction import largest_change, swap_text
from skillmap.report.facts import Facts
from skillmap.report.formatting import (
    count_text,
    counted,
    cut,
    cut_within,
    estimate_text,
    fraction_text,
    n_text,
    probability_text,
)
from skillmap.report.pairs import better_first
from skillmap.report.routing import (
    candidates_text,
    clearest_gain,
    gain_text,
    routing_parts,
)
from skillmap.report.tables import Row

_N_NAMES = 3
_N_LEADERS = 12
_N_ROUTES = 3
# A share of unparsed answers above which a cell says more about its extractor than
# about its model.
_MANY_UNPARSED = 0.02


@dataclass(frozen=True, kw_only=True)
class HeadlineFact:
    """A number, what it counts, and a line that puts it in place."""

    number: str
    noun: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sentence, in two weights, with names cut and the uncut text for hovering.

    Attributes:
        lead: What it is about.
        text: The rest.
        title: The names, uncut.
        section: Identifier of the section that has more of it; empty for none.
    """

    lead: str
    text: str
    title: str = ""
    section: str = ""


@dataclass(frozen=True, kw_only=True)
class Overview:
    """The first section."""

    headlines: tuple[HeadlineFact, ...]
    findings: tuple[Finding, ...]
    cautions: tuple[Finding, ...]


def overview(facts: Facts) -> Overview:
    """Headline numbers, the clearest findings and the plainest faults."""
    return Overview(
        headlines=tuple(_headlines(facts)),
        findings=tuple(_findings(facts)),
        cautions=tuple(_cautions(facts)),
    )


def _headlines(facts: Facts) -> Iterator[HeadlineFact]:
    totals = facts.totals
    n_with = facts.benchmarks.filter(pl.col("n_models") > 0).height
    yield _headline(totals, "benchmark", f"{n_with:,} with results")
    n_cells = totals["n_benchmarks"] * totals["n_models"]
    yield _headline(
        totals,
        "model",
        f"{facts.accuracy.height:,} of {n_cells:,} model and benchmark pairs filled",
    )
    yield _headline(totals, "item", f"{totals['n_items_with_results']:,} with results")
    spare = counted(totals["n_spare_eval_runs"], "eval run")
    yield _headline(totals, "result", f"{spare} set aside as repeats")
    yield _headline(
        totals,
        "slice",
        f"{totals['n_slice_items']:,} of {totals['n_items']:,} items in a slice",
    )


def _headline(totals: dict[str, int], noun: str, detail: str) -> HeadlineFact:
    n = totals[f"n_{noun}s"]
    return HeadlineFact(
        number=count_text(n), noun=noun if n == 1 else f"{noun}s", detail=detail
    )


def _findings(facts: Facts) -> Iterator[Finding]:
    known = facts.accuracy.filter(pl.col("accuracy").is_not_null())
    ranked = known.sort(
        "benchmark_id", "accuracy", "model_id", descending=[False, True, False]
    )
    benchmarks = ranked.partition_by("benchmark_id", maintain_order=True)
    for rows in benchmarks[:_N_LEADERS]:
        yield _leader(rows)
    if len(benchmarks) > _N_LEADERS:
        n_more = counted(len(benchmarks) - _N_LEADERS, "more benchmark")
        yield Finding(lead="Not shown here:", text=f"{n_more}, in the table below.")
    below = facts.slice_accuracy.filter(pl.col("difference_to_expected_high") < 0)
    if below.height:
        worst = below.sort("difference_to_expected_high", "model_id", "slice_id").row(
            0, named=True
        )
        yield _shortfall(worst)
    if facts.contrast_totals.height:
        yield from _contrasts(facts)
    else:
        yield from _widest(facts.slice_pairs)
    for rows in routing_parts(facts.routing)[:_N_ROUTES]:
        yield _routing(rows)
    yield from _readings(facts)


def _contrasts(facts: Facts) -> Iterator[Finding]:
    """What outlasts the correction, and the surest of it."""
    yield Finding(
        lead="Better at what:",
        text=contrast_summary(facts.contrast_totals),
        section="contrasts",
    )
    found = facts.contrasts.filter("is_confirmed").sort(
        pl.col("difference").abs().round(9),
        "n_items",
        "model_a",
        "model_b",
        "slice_id",
        descending=[True, True, False, False, False],
    )
    if found.is_empty():
        return
    row = drawn_interval(found.head(1)).row(0, named=True)
    first, second, bounds = "a", "b", (row["drawn_low"], row["drawn_high"])
    if row["difference"] < 0:
        first, second, bounds = "b", "a", (-bounds[1], -bounds[0])
    numbers = estimate_text(abs(row["difference"]), *bounds, is_signed=True)
    yield Finding(
        lead="Largest confirmed difference:",
        text=(
            f"{cut(row[f'model_{first}'], 50)} over {cut(row[f'model_{second}'], 50)} "
            f"on “{cut_within(row['slice_name'], 90)}”, {numbers}, "
            f"{n_text(row['n_items'])}, q {probability_text(row['q_value'])}."
        ),
        title=f"{row['model_a']}, {row['model_b']}: {row['slice_name']}",
        section="contrasts",
    )


def _routing(rows: pl.DataFrame) -> Finding:
    """Whether choosing by item is worth it."""
    best = clearest_gain(rows)
    text = (
        "no policy that chooses by item is surely ahead of the best single model."
        if best is None
        else f"{cut(best['policy'], 40)} gains {gain_text(best)}, over the best single "
        "model."
    )
    title = ", ".join(rows["candidate_models"][0])[:2000]
    lead = f"Routing among {candidates_text(rows)}:"
    return Finding(lead=lead, text=text, title=title, section="routing")


def _readings(facts: Facts) -> Iterator[Finding]:
    """Whether results hang on how the answers were read."""
    text = swap_text(facts)
    largest = largest_change(facts)
    if largest is not None:
        ours, source = (
            estimate_text(
                *(largest[f"accuracy_{reading}{end}"] for end in ("", "_low", "_high")),
                is_signed=False,
            )
            for reading in ("reextracted", "source")
        )
        text += (
            f" Most changes {cut(largest['model_id'], 50)} on "
            f"{cut(largest['benchmark_id'], 40)}: {ours} by our reading, {source} by "
            f"the source's, {n_text(largest['n_items'])}."
        )
    if text:
        yield Finding(
            lead="Reading of answers:", text=text.strip(), section="extraction"
        )


def _leader(rows: pl.DataFrame) -> Finding:
    benchmark, best = rows["benchmark_id"][0], rows.row(0, named=True)
    lead = f"{cut(benchmark, 40)}:"
    text = (
        f"{cut(best['model_id'], 50)} is highest of "
        f"{counted(rows.height, 'model')}, {_accuracy(best)}"
    )
    if rows.height > 1:
        second = rows.row(1, named=True)
        overlap = second["accuracy_high"] >= best["accuracy_low"]
        text += f"; next {cut(second['model_id'], 50)}, {_accuracy(second)}"
        text += "; their intervals overlap" if overlap else ""
    return Finding(lead=lead, text=text + ".", title=f"{benchmark}: {best['model_id']}")


def _accuracy(row: Row) -> str:
    numbers = estimate_text(
        row["accuracy"], row["accuracy_low"], row["accuracy_high"], is_signed=False
    )
    return f"{numbers}, {n_text(row['n_items'])}"


def _shortfall(row: Row) -> Finding:
    return Finding(
        lead="Clearest shortfall:",
        text=(
            f"{cut(row['model_id'], 50)} on “{cut_within(row['slice_name'], 90)}”, "
            f"{_accuracy(row)}, where its results on the same mix of benchmarks "
            f"give {fraction_text(row['expected_accuracy'])}."
        ),
        title=f"{row['model_id']}: {row['slice_name']}",
    )


def _widest(pairs: pl.DataFrame) -> Iterator[Finding]:
    """The clearest difference of two models, where none was corrected."""
    clear = pairs.filter(pl.col("distance_from_zero") > 0)
    if clear.is_empty():
        return
    widest = clear.sort(
        "distance_from_zero",
        "model_a",
        "model_b",
        "slice_id",
        descending=[True, False, False, False],
    )
    row = better_first(widest.head(1)).row(0, named=True)
    numbers = estimate_text(
        row["difference"], row["difference_low"], row["difference_high"], is_signed=True
    )
    yield Finding(
        lead="Clearest difference of two models:",
        text=(
            f"{cut(row['model_a'], 50)} minus {cut(row['model_b'], 50)} on "
            f"“{cut_within(row['slice_name'], 90)}”, {numbers}, "
            f"{n_text(row['n_items'])} common items."
        ),
        title=f"{row['model_a']}, {row['model_b']}: {row['slice_name']}",
        section="pairs",
    )


def _cautions(facts: Facts) -> Iterator[Finding]:
    yield from _gaps(facts)
    yield from _doubts(facts.accuracy)
    yield from _faults(facts)


def _gaps(facts: Facts) -> Iterator[Finding]:
    """What is not there."""
    totals = facts.totals
    without = facts.benchmarks.filter(pl.col("n_models") == 0)["benchmark_id"]
    if without.len():
        yield _named("No results:", "for {}", without, "benchmark")
    n_cells = totals["n_benchmarks"] * totals["n_models"]
    n_empty = n_cells - facts.accuracy.height
    if n_empty > 0:
        yield Finding(
            lead="Not every model is on every benchmark:",
            text=f"{n_empty:,} of {n_cells:,} pairs have no result. Compare models "
            "on common items only.",
        )
    n_bare = totals["n_items"] - totals["n_slice_items"]
    if n_bare > 0:
        yield Finding(
            lead="Skills unknown or too rare:",
            text=f"{n_bare:,} of {totals['n_items']:,} items are in no slice, so what "
            "is said of skills rests on the rest.",
        )
    n_blind = int((facts.benchmarks["n_items"] - facts.benchmarks["n_questions"]).sum())
    if n_blind:
        yield Finding(
            lead="No question text:",
            text=f"{n_blind:,} of {totals['n_items']:,} items; neither drift nor "
            "duplicates can be seen there.",
        )


def _doubts(accuracy: pl.DataFrame) -> Iterator[Finding]:
    """Cells whose numbers may not mean what they say."""
    cells = accuracy.select(
        pl.concat_str("model_id", pl.lit(" on "), "benchmark_id").alias("cell"),
        pl.col("accuracy").is_null().alias("none"),
        (pl.col("accuracy_high") < pl.col("chance_accuracy")).alias("below_chance"),
        (pl.col("n_unparsed") > _MANY_UNPARSED * pl.col("n_items")).alias("unparsed"),
        (pl.col("coverage") < 1).alias("partial"),
        (pl.col("n_drifted") > 0).alias("drifted"),
        (pl.col("n_unsupported_predictions") > 0).alias("unsupported"),
    )
    doubts = (
        ("none", "No item counts:", "in {}"),
        ("below_chance", "Worse than guessing:", "the whole interval of {}"),
        (
            "unparsed",
            f"More than {_MANY_UNPARSED:.0%} of answers unparsed:".replace("%", " %"),
            "in {}; they count as wrong",
        ),
        ("partial", "Items without a response:", "in {}"),
        ("drifted", "Other content than the current release:", "in {}"),
        (
            "unsupported",
            "Predictions that stand nowhere in the response:",
            "in {}; likely an extractor's fallback guess",
        ),
    )
    for column, lead, text in doubts:
        found = cells.filter(pl.col(column))["cell"]
        if found.len():
            yield _named(lead, text, found, "cell")


def _faults(facts: Facts) -> Iterator[Finding]:
    """What the sources got wrong."""
    totals = facts.totals
    if totals["n_rejects"]:
        yield Finding(
            lead="Rejected:",
            text=f"{counted(totals['n_rejects'], 'record')} of "
            f"{counted(totals['n_sources'], 'source')} could not be used; "
            "the reasons are under data quality.",
        )
    across = facts.duplicates.filter(pl.col("benchmark_ids").list.len() > 1)
    if across.height:
        n_groups = int(across["n_groups"].sum())
        yield Finding(
            lead="Shared questions:",
            text=f"{counted(n_groups, 'duplicate group')} across benchmarks, which are "
            "therefore not independent evidence.",
        )
    drifted = facts.releases.filter(~pl.col("is_current"))
    if drifted.height:
        n = drifted["benchmark_id"].n_unique()
        yield Finding(
            lead="Several releases:",
            text=f"sources of {counted(n, 'benchmark')} state other questions or "
            f"answers than the current release, in "
            f"{counted(drifted.height, 'further release')}.",
        )


def _named(lead: str, text: str, names: pl.Series, noun: str) -> Finding:
    """How many, and the first few by name."""
    listed: list[str] = names.to_list()
    shown = ", ".join(cut(name, 60) for name in listed[:_N_NAMES])
    more = f" and {len(listed) - _N_NAMES:,} more" if len(listed) > _N_NAMES else ""
    whole = f"{counted(len(listed), noun)} ({shown}{more})"
    return Finding(
        lead=lead, text=text.format(whole) + ".", title=", ".join(listed)[:2000]
    )
