"""What the views answer, against direct computations."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.contracts import mart
from skillmap.metrics.accuracy import slice_accuracy
from tests.builders import make_items, make_scores, make_slices, make_warehouse

OUTCOMES = {1: "correct", 0: "wrong"}


def view(name: str, scores: pl.DataFrame, **slices: list[str]) -> pl.DataFrame:
    about, members = make_slices(**slices)
    with make_warehouse(
        items=make_items(30), scores=scores, slices=about, slice_items=members
    ) as connection:
        return connection.sql(f"from mart.{name} order by all").pl()


def answers(**scores_of_models: list[int | None]) -> pl.DataFrame:
    """Scores of each model on items 0, 1, ...; none where it has no answer."""
    told = [
        (model, f"quiz:{n}", OUTCOMES[score])
        for model, scores in scores_of_models.items()
        for n, score in enumerate(scores)
        if score is not None
    ]
    return make_scores(
        model_id=[model for model, _, _ in told],
        item_id=[item for _, item, _ in told],
        outcome=[outcome for *_, outcome in told],
    )


def items(n: int) -> list[str]:
    return [f"quiz:{number}" for number in range(n)]


def test_a_disagreement_is_an_item_that_one_is_right_on_and_the_other_not() -> None:
    """A = [1, 0, 1] and B = [0, 0, 1] disagree on the first item alone (I-10)."""
    scores = answers(ada=[1, 0, 1], bob=[0, 0, 1])

    found = view("slice_disagreements", scores, sums=items(3))

    assert found.select(
        "slice_name", "item_id", "model_a", "model_b", "score_a", "score_b", "question"
    ).rows() == [("sums", "quiz:0", "ada", "bob", 1.0, 0.0, "Is 0 even?")]


def test_common_scores_are_of_items_that_both_answered_in_both_orders() -> None:
    scores = answers(ada=[1, 0, None, 1], bob=[0, None, 1, 1])

    found = view("common_scores", scores, sums=items(4))

    assert found.select("item_id", "model_a", "score_a", "score_b").rows() == [
        ("quiz:0", "ada", 1.0, 0.0),
        ("quiz:0", "bob", 0.0, 1.0),
        ("quiz:3", "ada", 1.0, 1.0),
        ("quiz:3", "bob", 1.0, 1.0),
    ]


def test_items_that_drifted_for_either_or_are_left_out_are_not_compared() -> None:
    """Results of two generations of a benchmark must not be paired (M-3)."""
    scores = make_scores(
        model_id=["ada"] * 4 + ["bob"] * 4,
        item_id=items(4) * 2,
        outcome=["correct"] * 3 + ["error"] + ["wrong"] * 4,
        is_drifted=[True, False, None, False, False, True, None, False],
    )

    found = view("common_scores", scores, sums=items(4))

    assert found["item_id"].unique().to_list() == ["quiz:2"]


def test_item_scores_are_of_the_primary_run_with_epochs_averaged() -> None:
    scores = pl.concat(
        [
            make_scores(
                item_id=["quiz:0", "quiz:0", "quiz:1"],
                epoch=[0, 1, 0],
                outcome=["correct", "unparsed", "error"],
            ),
            make_scores(1, is_primary=False, eval_run_id="spare", outcome="wrong"),
        ]
    )

    found = view("item_scores", scores)

    assert found.select("item_id", "score", "is_unparsed", "answered_score").rows() == [
        ("quiz:0", 0.5, True, 1.0),
        ("quiz:1", None, False, None),
    ]


def test_unknown_drift_is_no_drift_in_item_scores() -> None:
    scores = make_scores(is_drifted=[None, False, True])

    found = view("item_scores", scores)

    assert found["is_drifted"].to_list() == [False, False, True]


def agresti_min(n_only_a: float, n_only_b: float, n: int) -> tuple[float, float]:
    """Their adjusted Wald interval: half an item added to each of the four cells."""
    b, c, total = n_only_a + 0.5, n_only_b + 0.5, n + 2
    difference = (b - c) / total
    error = math.sqrt((b + c) - (b - c) ** 2 / total) / total
    low, high = difference - 1.959964 * error, difference + 1.959964 * error
    return max(low, -1.0), min(high, 1.0)


pairs = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1])),
    min_size=1,
    max_size=25,
)


@settings(deadline=None, max_examples=15)
@given(pairs)
def test_slice_differences_are_the_paired_interval(
    scores: list[tuple[int, int]],
) -> None:
    n = len(scores)
    told = answers(ada=[a for a, _ in scores], bob=[b for _, b in scores])

    found = view("slice_differences", told, sums=items(n))

    n_only_a = sum(a > b for a, b in scores)
    n_only_b = sum(b > a for a, b in scores)
    ada, bob = found.rows(named=True)
    assert (ada["model_a"], ada["n_items"]) == ("ada", n)
    assert (ada["n_only_a"], ada["n_only_b"]) == (n_only_a, n_only_b)
    assert ada["difference"] == pytest.approx((n_only_a - n_only_b) / n)
    assert ada["difference"] == pytest.approx(ada["accuracy_a"] - ada["accuracy_b"])
    assert (ada["difference_low"], ada["difference_high"]) == pytest.approx(
        agresti_min(n_only_a, n_only_b, n)
    )
    # Turned round, everything changes its sign.
    assert bob["difference"] == pytest.approx(-ada["difference"])
    assert bob["difference_low"] == pytest.approx(-ada["difference_high"])
    assert bob["difference_high"] == pytest.approx(-ada["difference_low"])
    assert (bob["n_only_a"], bob["n_only_b"]) == (n_only_b, n_only_a)


def test_a_difference_is_between_the_items_of_the_slice_that_both_answered() -> None:
    scores = answers(ada=[1, 1, 0, 1], bob=[0, 1, None, 0])

    found = view("slice_differences", scores, one=items(3), two=["quiz:3"])

    rows = found.filter(model_a="ada").select("slice_name", "n_items", "difference")
    assert sorted(rows.rows()) == [("one", 2, 0.5), ("two", 1, 1.0)]


def test_one_model_has_nobody_to_differ_from() -> None:
    assert view("slice_differences", answers(ada=[1, 0]), sums=items(2)).is_empty()


def test_graded_scores_differ_by_their_amount() -> None:
    scores = make_scores(
        model_id=["ada", "bob"], item_id="quiz:0", outcome="partial", score=[0.75, 0.25]
    )

    found = view("slice_differences", scores, sums=items(1)).filter(model_a="ada")

    assert found.select("difference", "n_only_a", "n_only_b").rows() == [(0.5, 0.5, 0)]


def test_the_weakest_slice_falls_shortest_of_what_its_mix_gives() -> None:
    about, members = make_slices(
        hard=["quiz:0", "quiz:1"], easy=["quiz:2", "quiz:3"], half=["quiz:1", "quiz:2"]
    )
    scores = answers(ada=[0, 0, 1, 1], bob=[1, 1, 0, 0])
    with make_warehouse(scores=scores) as connection:
        counted = connection.sql("from mart.item_scores").pl()
    accuracies = slice_accuracy(members, about, counted)

    with make_warehouse(slice_accuracy=accuracies) as connection:
        found = connection.sql("from mart.weakest_slices order by all").pl()

    assert found.select("model_id", "weakness_rank", "slice_name").rows() == [
        ("ada", 1, "hard"),
        ("ada", 2, "half"),
        ("ada", 3, "easy"),
        ("bob", 1, "easy"),
        ("bob", 2, "half"),
        ("bob", 3, "hard"),
    ]
    kept = [c for c in found.columns if c in mart.SLICE_ACCURACY.polars_schema]
    joined = found.join(accuracies.select(kept), on=kept, how="semi")
    assert joined.height == found.height


def test_of_slices_as_weak_the_one_with_more_items_comes_first() -> None:
    about, members = make_slices(few=["quiz:0"], more=["quiz:1", "quiz:2"])
    scores = answers(ada=[1, 1, 1])
    with make_warehouse(scores=scores) as connection:
        counted = connection.sql("from mart.item_scores").pl()

    with make_warehouse(
        slice_accuracy=slice_accuracy(members, about, counted)
    ) as connection:
        found = connection.sql("from mart.weakest_slices order by all").pl()

    assert found["slice_name"].to_list() == ["more", "few"]
