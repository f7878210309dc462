"""What the data behind the findings is like."""

from dataclasses import dataclass

import polars as pl

from skillmap.report.facts import Facts
from skillmap.report.formatting import count_text
from skillmap.report.tables import (
    Cell,
    Column,
    HtmlTable,
    Row,
    count_column,
    fraction_column,
    html_table,
    interval_column,
    name_column,
    text_cell,
    with_wilson_bounds,
)

_SUSPICION_COLUMNS = (
    name_column("benchmark", "benchmark_id", limit=28),
    name_column("model", "model_id", limit=34),
    count_column("n", "n_items"),
    count_column("unsupported", "n_unsupported_predictions"),
    count_column("wrong by policy", "n_by_policy"),
    fraction_column("accuracy", "accuracy"),
    interval_column("accuracy"),
    count_column("n answered", "n_answered", "Items with an answer to score"),
    fraction_column("of answered", "accuracy_answered", "Accuracy on those items"),
    interval_column("accuracy_answered"),
)


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A heading with a sentence, and its tables."""

    heading: str
    text: str
    tables: tuple[HtmlTable, ...]


def quality_topics(facts: Facts) -> tuple[Topic, ...]:
    """The sixth section, one topic a kind of fault."""
    return (
        _benchmarks(facts),
        _releases(facts),
        _duplicates(facts),
        _rejects(facts),
        _suspicions(facts),
        _rationales(facts),
        _mixes(facts),
    )


def _benchmarks(facts: Facts) -> Topic:
    columns = (
        name_column("benchmark", "benchmark_id"),
        count_column("items", "n_items"),
        count_column("with a question", "n_questions"),
        count_column("models", "n_models", "Models with an accuracy"),
        count_column("with a skill", "n_skill_items", "Items that need a known skill"),
        count_column("in a slice", "n_slice_items", "Items of a large enough skill"),
    )
    table = html_table(
        facts.benchmarks,
        columns,
        name="benchmarks",
        caption="Each benchmark's current release",
        query="benchmarks",
        noun="benchmarks",
        empty="No benchmark yet.",
    )
    return Topic(
        heading="What covers the benchmarks",
        text="A benchmark without skills takes no part in what is said of slices.",
        tables=(table,),
    )


def _releases(facts: Facts) -> Topic:
    columns = (
        name_column("benchmark", "benchmark_id"),
        name_column("release", "release_id"),
        Column(
            heading="current",
            is_number=False,
            cell=lambda row: text_cell("yes" if row["is_current"] else "no"),
        ),
        count_column("items", "n_items"),
        count_column("drifted", "n_drifted_items", "Differ from the current release"),
        count_column("sources", "n_sources", "Sources that state this release"),
    )
    table = html_table(
        facts.releases,
        columns,
        name="releases",
        caption="Each release met in the sources",
        query="releases",
        noun="releases",
        empty="No release yet.",
    )
    return Topic(
        heading="Releases and drift",
        text="Sources that agree on every item they share are of one release; results "
        "for drifted items count in the benchmark's accuracy and are left out of "
        "slices and comparisons.",
        tables=(table,),
    )


def _duplicates(facts: Facts) -> Topic:
    columns = (
        name_column("benchmarks", "names", limit=80),
        name_column("kind", "kind"),
        name_column("place", "place"),
        count_column("groups", "n_groups"),
        count_column("items", "n_items", "Items of those groups"),
        count_column("largest group", "n_largest_group_items"),
    )
    rows = facts.duplicates.with_columns(
        names=pl.col("benchmark_ids").list.join(" + "),
        place=pl.when(pl.col("benchmark_ids").list.len() > 1)
        .then(pl.lit("across"))
        .otherwise(pl.lit("within")),
    )
    table = html_table(
        rows,
        columns,
        name="duplicates",
        caption="Duplicate groups by kind and benchmarks",
        query="duplicates",
        noun="kinds",
        empty="No duplicates found.",
    )
    return Topic(
        heading="Duplicates within and across benchmarks",
        text="Exact: same question and options. Near: same question, overlapping "
        "options. Intervals take items as independent, which duplicates are not.",
        tables=(table,),
    )


def _rejects(facts: Facts) -> Topic:
    columns = (
        name_column("reason", "reason", limit=100),
        name_column("benchmark", "benchmark_id"),
        name_column("stage", "stage"),
        count_column("records", "n_rejects"),
        count_column("sources", "n_sources"),
        name_column("smallest value", "first_value", limit=48),
    )
    table = html_table(
        facts.rejects,
        columns,
        name="rejects",
        caption="Records that could not be used, by reason",
        query="rejects",
        limit=60,
        noun="reasons",
        empty="No record was rejected.",
    )
    return Topic(
        heading="Rejected records",
        text="Bad records are kept apart and counted; the good ones of the same file "
        "are used.",
        tables=(table,),
    )


def _suspicions(facts: Facts) -> Topic:
    counted_as_wrong = ("n_unparsed", "n_refusal", "n_empty", "n_truncated")
    rows = (
        with_wilson_bounds(facts.accuracy, "accuracy_answered", "n_answered")
        .with_columns(n_by_policy=pl.sum_horizontal(*counted_as_wrong))
        .filter((pl.col("n_by_policy") + pl.col("n_unsupported_predictions")) > 0)
        .sort(
            "n_unsupported_predictions",
            "n_by_policy",
            "benchmark_id",
            "model_id",
            descending=[True, True, False, False],
        )
    )
    table = html_table(
        rows,
        _SUSPICION_COLUMNS,
        name="suspicions",
        caption="Cells with predictions or outcomes to doubt, most first",
        query="accuracy",
        noun="cells",
        empty="No prediction stands out, and every answer was read.",
    )
    return Topic(
        heading="Suspicious predictions",
        text="A prediction that stands nowhere in its response was likely guessed by "
        "the source's extractor when it could read none: those right by luck "
        "raise the accuracy.",
        tables=(table,),
    )


def _rationales(facts: Facts) -> Topic:
    statuses = html_table(
        facts.rationales,
        (
            name_column("benchmark", "benchmark_id"),
            name_column("annotator", "annotator"),
            count_column("rationales", "n_rationales"),
            count_column("parsed", "n_parsed"),
            count_column("with faults", "n_parsed_with_faults"),
            count_column("no skills", "n_no_skills"),
            count_column("empty", "n_empty"),
        ),
        name="rationales",
        caption="Rationales by parse status",
        query="rationales",
        noun="annotators",
        empty="No rationales; skills come from annotated phrases alone.",
    )
    faults = html_table(
        facts.rationale_faults,
        (
            name_column("fault", "fault", limit=100),
            count_column("rationales", "n_rationales"),
        ),
        name="faults",
        caption="Faults of rationales",
        query="rationale_faults",
        limit=30,
        noun="faults",
        empty="No faults.",
    )
    return Topic(
        heading="Rationales",
        text="How well the annotators' texts could be read for skills.",
        tables=(statuses, faults) if facts.rationales.height else (statuses,),
    )


def _mixes(facts: Facts) -> Topic:
    slices = (
        facts.slice_mix.sort("n_items", "benchmark_id", descending=[True, False])
        .group_by("slice_id", "slice_name", "n_slice_items", "n_inherited_items")
        .agg(
            mix=pl.format("{} {}", "benchmark_id", "n_items"),
            n_benchmarks=pl.len(),
        )
        .sort("n_slice_items", "slice_id", descending=[True, False])
    )
    columns = (
        name_column("slice", "slice_name", limit=70),
        count_column("items", "n_slice_items"),
        count_column("inherited", "n_inherited_items", "From a duplicate"),
        count_column("benchmarks", "n_benchmarks"),
        Column(heading="items by benchmark", is_number=False, cell=_mix_cell),
    )
    table = html_table(
        slices,
        columns,
        name="mixes",
        caption="Each slice's mix of benchmarks, largest first",
        query="slice_mix",
        limit=100,
        noun="slices",
        empty="No slice yet: no skill has enough items.",
    )
    return Topic(
        heading="What slices are made of",
        text="A slice of one benchmark says as much of that benchmark as of the skill.",
        tables=(table,),
    )


def _mix_cell(row: Row) -> Cell:
    parts: list[str] = row["mix"]
    n_shown = 4
    more = len(parts) - n_shown
    shown = ", ".join(parts[:n_shown])
    text = f"{shown} and {count_text(more)} more" if more > 0 else shown
    return Cell(text=text, title=", ".join(parts) if more > 0 else "", sort=text)
