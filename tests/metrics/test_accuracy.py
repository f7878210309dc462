import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from skillmap.contracts import core, mart
from skillmap.contracts.audit import violations
from skillmap.contracts.columns import OUTCOMES
from skillmap.metrics.accuracy import model_accuracy, slice_accuracy
from tests.builders import (
    make_eval_runs,
    make_items,
    make_scores,
    make_slices,
    make_warehouse,
    rows_of,
)


def item_scores(*rows: tuple[str, str, float], **flags: list[bool]) -> pl.DataFrame:
    """Model, item and score of each row; the benchmark is in the item's id."""
    return pl.DataFrame(
        {
            "model_id": [model for model, _, _ in rows],
            "item_id": [item for _, item, _ in rows],
            "score": [score for _, _, score in rows],
            "is_unparsed": flags.get("is_unparsed", [False] * len(rows)),
            "is_drifted": flags.get("is_drifted", [False] * len(rows)),
        },
        schema={
            "model_id": pl.String(),
            "item_id": pl.String(),
            "score": pl.Float64(),
            "is_unparsed": pl.Boolean(),
            "is_drifted": pl.Boolean(),
        },
    ).with_columns(benchmark_id=pl.col("item_id").str.split(":").list.first())


def sliced(scores: pl.DataFrame, **slices: list[str]) -> pl.DataFrame:
    about, members = make_slices(**slices)
    made = slice_accuracy(members, about, scores)
    conformed = mart.SLICE_ACCURACY.conform(made)
    assert violations(mart.SLICE_ACCURACY, conformed) == []
    return conformed


def accuracy_of(scores: pl.DataFrame, n_items: int = 0) -> pl.DataFrame:
    """``mart.model_accuracy`` by way of the warehouse's queries."""
    items = make_items(n_items or scores["item_id"].n_unique())
    with make_warehouse(
        items=items, scores=scores, eval_runs=make_eval_runs(scores)
    ) as connection:
        made = model_accuracy(rows_of(connection, "mart/cell_counts"))
    conformed = mart.MODEL_ACCURACY.conform(made)
    assert violations(mart.MODEL_ACCURACY, conformed) == []
    return conformed


def test_accuracy_is_the_share_of_right_answers_with_its_wilson_interval() -> None:
    scores = make_scores(20, outcome=["correct"] * 17 + ["wrong"] * 3)

    row = accuracy_of(scores).row(0, named=True)

    assert (row["n_items"], row["n_correct"], row["accuracy"]) == (20, 17, 0.85)
    assert row["accuracy_low"] == pytest.approx(0.6396, abs=5e-5)
    assert row["accuracy_high"] == pytest.approx(0.9476, abs=5e-5)
    assert (row["coverage"], row["chance_accuracy"]) == (1.0, 0.5)


def test_errors_are_left_out_and_shown() -> None:
    """Five right and five errors are 5 of 5 scored and 5 of 10 attempted (I-12)."""
    scores = make_scores(10, outcome=["correct"] * 5 + ["error"] * 5)

    row = accuracy_of(scores).row(0, named=True)

    assert (row["n_items"], row["n_left_out"]) == (5, 5)
    assert (row["accuracy"], row["coverage"]) == (1.0, 1.0)


@pytest.mark.parametrize("outcome", ["unparsed", "refusal", "empty", "truncated"])
def test_an_answer_that_could_not_be_read_counts_as_wrong_and_is_shown(
    outcome: str,
) -> None:
    scores = make_scores(4, outcome=["correct", "correct", "wrong", outcome])

    row = accuracy_of(scores).row(0, named=True)

    assert (row["n_items"], row["accuracy"]) == (4, 0.5)
    assert (row["n_answered"], row["accuracy_answered"]) == (3, pytest.approx(2 / 3))
    assert row[f"n_{outcome}"] == 1


def test_no_readable_answer_at_all_is_an_accuracy_of_0_and_none_of_the_answered() -> (
    None
):
    row = accuracy_of(make_scores(3, outcome="unparsed")).row(0, named=True)

    assert (row["accuracy"], row["n_answered"], row["accuracy_answered"]) == (
        0,
        0,
        None,
    )


def test_a_cell_in_which_nothing_counts_has_no_accuracy() -> None:
    scores = make_scores(3, outcome=["error", "unscored", "not_attempted"])

    assert accuracy_of(scores).is_empty()


def test_epochs_are_averaged_within_their_item() -> None:
    """Repetitions are no further items (I-49)."""
    scores = make_scores(
        item_id=["quiz:0", "quiz:0", "quiz:0", "quiz:1"],
        epoch=[0, 1, 2, 0],
        outcome=["correct", "wrong", "wrong", "wrong"],
    )

    row = accuracy_of(scores).row(0, named=True)

    assert row["n_items"] == 2
    assert row["accuracy"] == pytest.approx((1 / 3 + 0) / 2)


def test_only_the_primary_run_and_the_sources_own_scores_count() -> None:
    scores = pl.concat(
        [
            make_scores(2, outcome="correct"),
            make_scores(2, outcome="wrong", extractor="other"),
            make_scores(2, outcome="wrong", is_primary=False, eval_run_id="spare"),
        ]
    )

    row = accuracy_of(scores).row(0, named=True)

    assert (row["n_items"], row["accuracy"]) == (2, 1.0)
    assert row["eval_run_id"] == "quiz:ada:f1"


def test_drift_and_unsupported_predictions_are_counted_by_item() -> None:
    scores = make_scores(
        item_id=["quiz:0", "quiz:0", "quiz:1", "quiz:2"],
        epoch=[0, 1, 0, 0],
        is_drifted=[True, True, None, False],
        is_prediction_in_response=[False, True, None, False],
    )

    row = accuracy_of(scores).row(0, named=True)

    assert (row["n_drifted"], row["n_unsupported_predictions"]) == (1, 2)


def test_coverage_is_the_share_of_the_benchmarks_items() -> None:
    row = accuracy_of(make_scores(3), n_items=12).row(0, named=True)

    assert (row["n_benchmark_items"], row["coverage"]) == (12, 0.25)


@pytest.mark.parametrize(
    ("choices", "chance"),
    [
        ([["a", "b"], ["a", "b", "c", "d"]], 0.375),
        ([["a"], ["a", "b"]], 0.75),
        ([["a", "b"], []], None),
    ],
)
def test_chance_accuracy_is_known_where_every_item_has_options(
    choices: list[list[str]], chance: float | None
) -> None:
    """Options differ in number within MMLU-Pro, so guessing gets 11 %, not 10 (M-4)."""
    scores = make_scores(2)
    with make_warehouse(
        items=make_items(choices=choices),
        scores=scores,
        eval_runs=make_eval_runs(scores),
    ) as connection:
        counts = rows_of(connection, "mart/cell_counts")

    assert counts["chance_accuracy"].to_list() == [chance]


responses = st.lists(
    st.tuples(
        st.sampled_from(["ada", "bob"]),
        st.integers(0, 4),
        st.integers(0, 2),
        st.sampled_from(OUTCOMES),
        st.sampled_from([0.25, 0.5, None]),
    ),
    min_size=1,
    max_size=20,
    unique_by=lambda row: row[:3],
)
Response = tuple[str, int, int, str, float | None]


def counted(outcome: str, graded: float | None) -> float | None:
    """The score that counts of one response, by the declared policy."""
    policy = {"correct": 1.0, "wrong": 0.0, "partial": graded}
    wrong = dict.fromkeys(("unparsed", "refusal", "empty", "truncated"), 0.0)
    return {**policy, **wrong}.get(outcome)


@settings(deadline=None, max_examples=25)
@given(responses)
def test_counts_of_a_cell_are_those_of_a_loop(stated: list[Response]) -> None:
    scores = make_scores(
        model_id=[model for model, *_ in stated],
        item_id=[f"quiz:{item}" for _, item, *_ in stated],
        epoch=[epoch for _, _, epoch, *_ in stated],
        outcome=[outcome for *_, outcome, _ in stated],
        score=[
            counted(outcome, graded)
            if outcome in {"correct", "wrong", "partial"}
            else None
            for *_, outcome, graded in stated
        ],
    )

    made = accuracy_of(scores, n_items=5)

    expected = {}
    for model in {row[0] for row in stated}:
        by_item: dict[int, list[Response]] = {}
        for row in stated:
            if row[0] == model:
                by_item.setdefault(row[1], []).append(row)
        means = [
            sum(known) / len(known)
            for rows in by_item.values()
            if (known := [s for r in rows if (s := counted(r[3], r[4])) is not None])
        ]
        if means:
            n_unparsed = sum(
                any(row[3] == "unparsed" for row in rows) for rows in by_item.values()
            )
            expected[model] = (
                len(means),
                pytest.approx(sum(means) / len(means)),
                len(by_item) - len(means),
                n_unparsed,
            )
    found = made.select("model_id", "n_items", "accuracy", "n_left_out", "n_unparsed")
    assert {row[0]: row[1:] for row in found.rows()} == expected


@pytest.mark.parametrize(
    ("outcome", "score", "is_covered"),
    [
        ("correct", 1.0, False),
        ("refusal", None, False),
        ("partial", None, True),
        ("error", None, True),
        ("unscored", None, True),
    ],
)
def test_a_scored_cell_without_an_accuracy_is_told(
    outcome: str, score: float | None, *, is_covered: bool
) -> None:
    with make_warehouse(scores=make_scores(1, outcome=outcome, score=score)) as opened:
        offenders = rows_of(opened, "checks/accuracy_covers_every_scored_cell")

    assert offenders.is_empty() == is_covered


def test_an_item_in_two_slices_counts_in_each_and_once_in_the_whole() -> None:
    """Skills overlap: an item may need algebra and units (I-11)."""
    scores = item_scores(("ada", "quiz:0", 1.0), ("ada", "quiz:1", 0.0))

    made = sliced(scores, algebra=["quiz:0", "quiz:1"], units=["quiz:0"])

    assert made.select("slice_name", "n_items", "n_correct").rows() == [
        ("algebra", 2, 1.0),
        ("units", 1, 1.0),
    ]
    assert made["n_overall_items"].to_list() == [2, 2]
    assert made["overall_accuracy"].to_list() == [0.5, 0.5]


def test_drifted_items_are_counted_and_left_out() -> None:
    scores = item_scores(
        ("ada", "quiz:0", 1.0),
        ("ada", "quiz:1", 0.0),
        ("ada", "quiz:2", 0.0),
        is_drifted=[False, True, False],
    )

    row = sliced(scores, algebra=["quiz:0", "quiz:1"]).row(0, named=True)

    assert (row["n_items"], row["n_drifted"], row["n_slice_items"]) == (1, 1, 2)
    assert (row["accuracy"], row["n_overall_items"]) == (1.0, 2)


def test_a_model_without_a_result_on_a_slice_is_absent_there() -> None:
    scores = item_scores(("ada", "quiz:0", 1.0), ("bob", "quiz:1", 0.0))

    made = sliced(scores, algebra=["quiz:0"], units=["quiz:1"], rest=["quiz:9"])

    assert made.select("slice_name", "model_id").rows() == [
        ("algebra", "ada"),
        ("units", "bob"),
    ]


def test_the_expected_accuracy_evens_out_hard_and_easy_benchmarks() -> None:
    scores = item_scores(
        *(("ada", f"easy:{n}", 1.0) for n in range(4)),
        *(("ada", f"hard:{n}", float(n == 0)) for n in range(4)),
    )

    made = sliced(scores, mixed=["easy:0", "hard:0", "hard:1"], whole=["hard:2"])

    rows = made.select("expected_accuracy", "difference_to_expected").rows()
    assert rows[0] == pytest.approx(((1 + 0.25 + 0.25) / 3, 2 / 3 - 0.5))
    assert rows[1] == pytest.approx((0.25, -0.25))


def test_a_slice_of_everything_does_not_differ_from_it() -> None:
    scores = item_scores(("ada", "quiz:0", 1.0), ("ada", "quiz:1", 0.0))

    row = sliced(scores, all=["quiz:0", "quiz:1"]).row(0, named=True)

    names = ("difference", "difference_low", "difference_high")
    assert [row[name] for name in names] == [0, 0, 0]
    assert row["difference_to_expected"] == 0


@pytest.mark.parametrize(
    ("scores", "slices"),
    [
        (item_scores(), {"algebra": ["quiz:0"]}),
        (item_scores(("ada", "quiz:0", 1.0)), {}),
        (item_scores(), {}),
        (item_scores(("ada", "quiz:0", 1.0), is_drifted=[True]), {"a": ["quiz:0"]}),
    ],
)
def test_without_scores_or_slices_there_is_no_accuracy(
    scores: pl.DataFrame, slices: dict[str, list[str]]
) -> None:
    assert sliced(scores, **slices).is_empty()


stated_scores = st.dictionaries(
    st.tuples(
        st.sampled_from(["ada", "bob"]), st.sampled_from(["a", "b"]), st.integers(0, 5)
    ),
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans(), st.booleans()),
    max_size=16,
)
stated_slices = st.dictionaries(
    st.sampled_from(["one", "two", "three"]),
    st.sets(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 6)), min_size=1),
)


@settings(deadline=None, max_examples=80)
@given(stated_scores, stated_slices)
def test_every_cell_is_that_of_a_loop(
    told: dict[tuple[str, str, int], tuple[float, bool, bool]],
    members: dict[str, set[tuple[str, int]]],
) -> None:
    scores = item_scores(
        *((model, f"{b}:{n}", score) for (model, b, n), (score, *_) in told.items()),
        is_unparsed=[unparsed for _, unparsed, _ in told.values()],
        is_drifted=[drifted for *_, drifted in told.values()],
    )
    slices = {s: sorted(f"{b}:{n}" for b, n in items) for s, items in members.items()}

    made = sliced(scores, **slices)

    expected = {}
    for name, items in members.items():
        for model in {key[0] for key in told}:
            own = {key[1:]: value for key, value in told.items() if key[0] == model}
            kept = {i: s for i, (s, _, drifted) in own.items() if not drifted}
            inside = {i: s for i, s in kept.items() if i in items}
            if not inside:
                continue
            by_benchmark = {
                b: [s for i, s in kept.items() if i[0] == b] for b in ("a", "b")
            }
            mix = [sum(by_benchmark[i[0]]) / len(by_benchmark[i[0]]) for i in inside]
            accuracy = sum(inside.values()) / len(inside)
            overall = sum(kept.values()) / len(kept)
            expected[f"skill:{name}", model] = pytest.approx(
                (
                    len(inside),
                    sum(inside.values()),
                    len(items),
                    sum(own[i][1] for i in inside),
                    sum(drifted for i, (*_, drifted) in own.items() if i in items),
                    len(kept),
                    accuracy,
                    overall,
                    accuracy - overall,
                    sum(mix) / len(mix),
                ),
                abs=1e-12,
            )
    found = made.select(
        "slice_id",
        "model_id",
        "n_items",
        "n_correct",
        "n_slice_items",
        "n_unparsed",
        "n_drifted",
        "n_overall_items",
        "accuracy",
        "overall_accuracy",
        "difference",
        "expected_accuracy",
    )
    assert {row[:2]: row[2:] for row in found.rows()} == expected
    assert made.equals(made.sort("slice_id", "model_id"))


def test_the_bounds_of_a_slice_are_its_own_wilson_interval() -> None:
    scores = item_scores(*(("ada", f"quiz:{n}", float(n % 3 > 0)) for n in range(30)))
    inside = [f"quiz:{n}" for n in range(12)]

    row = sliced(scores, some=inside).row(0, named=True)

    known = binomtest(8, 12).proportion_ci(method="wilson")
    assert (row["accuracy_low"], row["accuracy_high"]) == pytest.approx(
        (known.low, known.high)
    )


def test_the_order_of_the_rows_does_not_matter() -> None:
    scores = item_scores(*(("ada", f"a:{n}", n / 7) for n in range(7)))
    about, members = make_slices(one=["a:0", "a:3"], two=["a:1", "a:3", "a:6"])

    made = slice_accuracy(members, about, scores)
    turned = slice_accuracy(members[::-1], about[::-1], scores[::-1])

    assert made.select("slice_id", "n_items").equals(
        turned.select("slice_id", "n_items")
    )
    assert turned["accuracy"].to_list() == pytest.approx(made["accuracy"].to_list())


def test_scores_of_items_in_no_slice_count_in_the_whole_alone() -> None:
    scores = item_scores(("ada", "quiz:0", 1.0), ("ada", "quiz:8", 0.0))

    row = sliced(scores, algebra=["quiz:0"]).row(0, named=True)

    assert (row["n_items"], row["n_overall_items"]) == (1, 2)
    assert core.SLICE_ITEMS.primary_key == ("slice_id", "item_id")
