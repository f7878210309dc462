import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.report.pairs import better_first, turned
from skillmap.report.skills import axis_limit, heat_map


def slice_row(slice_name: str, model: str, difference: float) -> dict[str, object]:
    return {
        "slice_id": f"skill:{slice_name}",
        "slice_name": slice_name,
        "model_id": model,
        "n_items": 10,
        "n_slice_items": 12,
        "n_overall_items": 100,
        "accuracy": 0.5 + difference,
        "expected_accuracy": 0.5,
        "difference_to_expected": difference,
        "difference_to_expected_low": difference - 0.1,
        "difference_to_expected_high": difference + 0.1,
    }


def pair_row(model_a: str, model_b: str, difference: float) -> dict[str, object]:
    return {
        "model_a": model_a,
        "model_b": model_b,
        "accuracy_a": 0.5 + difference,
        "accuracy_b": 0.5,
        "difference": difference,
        "difference_low": difference - 0.1,
        "difference_high": difference + 0.2,
    }


def test_slices_on_which_models_differ_most_come_first() -> None:
    rows = pl.DataFrame(
        [
            slice_row("even", "a", 0.1),
            slice_row("even", "b", 0.1),
            slice_row("apart", "a", -0.2),
            slice_row("apart", "b", 0.2),
            slice_row("alone", "a", 0.4),
        ]
    )

    shown = heat_map(rows)

    assert [name.text for name, _, _ in shown.rows] == ["apart", "even", "alone"]


def test_a_cell_without_a_result_is_a_dash() -> None:
    rows = pl.DataFrame([slice_row("one", "a", 0.1), slice_row("two", "b", 0.1)])

    shown = heat_map(rows)

    cells = {name.text: [c.text for c in cells] for name, _, cells in shown.rows}
    assert cells == {"one": ["+0.10", "\N{EN DASH}"], "two": ["\N{EN DASH}", "+0.10"]}


@pytest.mark.parametrize(
    ("difference", "css"),
    [(0.0, "even"), (-0.019, "even"), (0.05, "high2"), (-0.3, "low4 clear")],
)
def test_colour_grows_with_the_difference_and_bold_says_that_0_is_left_out(
    difference: float, css: str
) -> None:
    shown = heat_map(pl.DataFrame([slice_row("one", "a", difference)]))

    assert shown.rows[0][2][0].css == css


def test_the_map_does_not_depend_on_the_order_of_its_rows() -> None:
    rows = [
        slice_row(f"slice {s}", f"model {m}", (s * 7 + m * 3) % 5 / 10)
        for s in range(9)
        for m in range(4)
    ]
    shuffled = random.Random(1).sample(rows, len(rows))  # noqa: S311  # no secret

    assert heat_map(pl.DataFrame(rows)) == heat_map(pl.DataFrame(shuffled))


def test_no_more_than_40_slices_are_shown_and_the_rest_counted() -> None:
    rows = pl.DataFrame([slice_row(f"slice {n}", "a", 0.1) for n in range(43)])

    shown = heat_map(rows)

    assert len(shown.rows) == 40
    assert shown.note == "40 of 43 slices shown, 3 not shown."


@given(st.lists(st.floats(-1, 1), min_size=1))
def test_an_axis_holds_every_bound(bounds: list[float]) -> None:
    rows = pl.DataFrame({"d_low": bounds, "d_high": bounds})

    assert axis_limit(rows, "d") >= max(abs(bound) for bound in bounds)


@given(st.lists(st.floats(-1, 1), min_size=1))
def test_the_first_slice_of_a_turned_pair_favours_model_a(values: list[float]) -> None:
    rows = pl.DataFrame([pair_row("a", "b", value) for value in values])

    shown = better_first(rows)

    assert shown["difference"][0] >= 0
    assert shown["difference"].abs().to_list() == [abs(value) for value in values]


def test_turning_a_pair_exchanges_its_models_and_its_bounds() -> None:
    shown = turned(pl.DataFrame([pair_row("a", "b", 0.25)]))

    # 0.25 - 0.1 and 0.25 + 0.2, exchanged and with their signs turned.
    assert shown.select("model_a", "accuracy_a", "difference").rows() == [
        ("b", 0.5, -0.25)
    ]
    bounds = shown.select("difference_low", "difference_high").row(0)
    assert bounds == pytest.approx((-0.45, -0.15))


def test_no_pairs_stay_no_pairs() -> None:
    nothing = pl.DataFrame([pair_row("a", "b", 0.1)]).clear()

    assert better_first(nothing).is_empty()
