"""Sections on corrected contrasts, routing and readings of answers."""

import re
from itertools import product

import polars as pl
import pytest

from skillmap.comparisons.contrasts import VERDICTS, slice_contrasts
from skillmap.contracts import mart
from skillmap.report import html_report
from tests.report.published import (
    Published,
    add_contrasts,
    add_readings,
    add_routing,
    two_models,
)
from tests.report.test_page import Page, cells_of

_ROUTE_HINT = "<code>skillmap route --models A,B</code>"


def section(text: str, name: str) -> str:
    """The markup of one section."""
    return text.split(f'<section id="{name}">')[1].partition("</section>")[0]


def filled(*, is_reversed: bool = False) -> Published:
    """Two models with something in every table of the three sections."""
    published = two_models()
    rows = [
        {
            "slice_name": f"{verdict} {number}",
            "verdict": verdict,
            "q_value": None if verdict == "tied" else 0.01 * (number + 1),
            "difference": {"better": 0.3, "worse": -0.3}.get(verdict, 0.0),
            "is_confirmed": verdict == "better" and number == 0,
            "minimum_detectable_difference": 0.125,
        }
        for verdict, number in product(VERDICTS, range(6))
    ]
    rows[0] |= {"fcr_low": 0.15, "fcr_high": 0.45}
    add_contrasts(published, rows[::-1] if is_reversed else rows)
    gains = {
        "best_single": (0.0, 0.0, 0.0),
        "skill": (0.02, -0.01, 0.05),
        "knn": (-0.1, -0.15, -0.05),
        "oracle": (0.3, 0.2, 0.4),
        "able": (0.0, 0.0, 0.0),
    }
    keys = sorted(gains, reverse=is_reversed)
    add_routing(published, {key: gains[key] for key in keys})
    add_readings(published, {"able": (0.5, 0.4), "lost": (0.45, 0.5)})
    gain = {"slice_name": "even", "model_id": "able", "n_items": 9, "gain": 0.25}
    published.add(mart.SLICE_GAINS, [{**gain, "p_value": 0.0004}])
    return published


def test_nothing_compared_says_so_and_draws_nothing() -> None:
    text = html_report(Published().query)

    assert "No two models have been compared yet." in section(text, "contrasts")
    assert "No responses are stored" in section(text, "extraction")
    assert "<svg" not in text


def test_routing_that_was_not_evaluated_is_one_line_with_the_command() -> None:
    part = section(html_report(Published().query), "routing")

    assert _ROUTE_HINT in part
    assert part.count("<p") == 1
    assert "<table" not in part


def test_verdicts_of_a_pair_are_counted() -> None:
    text = html_report(filled().query)

    assert cells_of(text, "contrast-totals") == [
        ["able", "lost", "24", *"6666", "1", "20", "20", "0.125"]
    ]
    assert "Of 24 comparisons of two models on a slice, 12 show one ahead" in text


def test_each_verdict_has_a_mark_of_its_own_shape_and_colour() -> None:
    part = section(html_report(filled().query), "contrasts")

    uses = re.findall(r'<use href="#(\S+)"[^>]*style="fill: (\S+?);', part)
    marks = {use for use in uses if "--line" not in use[1]}
    assert len({shape for shape, _ in marks}) == len(VERDICTS)
    assert {color for _, color in marks} == {
        f"var(--{name})" for name in ("high", "low", "ink", "paper")
    }


def test_a_plot_has_a_few_slices_of_every_verdict_with_n_and_q() -> None:
    part = section(html_report(filled().query), "contrasts")

    label = r">((?:better|worse|tied|not enough)[^<]*) · (q [^<]*)<"
    labels = re.findall(label, part.partition("<table")[0])
    assert len(labels) == 4 * len(VERDICTS)
    assert labels[0] == ("better 0", "q 0.010 ✓")
    assert ("tied 0", "q \N{EN DASH}") in labels
    assert "16 of 24 slices drawn." in part
    assert part.count("n\xa020") == 4 * len(VERDICTS)


def test_what_was_selected_has_the_interval_that_allows_for_it() -> None:
    part = section(html_report(filled().query), "contrasts")

    assert "+0.300 [+0.150,\xa0+0.450] n\xa020" in part
    assert "+0.300 [+0.200,\xa0+0.400] n\xa020" in part


def test_confirmed_comparisons_come_first_in_the_table() -> None:
    rows = cells_of(html_report(filled().query), "contrasts")

    assert rows[0][:6] == ["better 0", "able", "lost", "better", "20", "+0.300"]
    assert [row[8] for row in rows] == ["yes", *["no"] * 23]


def test_uncorrected_pairs_are_called_exploratory_beside_corrected_ones() -> None:
    texts = [html_report(made().query) for made in (two_models, filled)]

    found = ["Exploratory:" in section(text, "pairs") for text in texts]
    assert found == [False, True]
    assert 'href="#contrasts">which model' in section(texts[1], "pairs")


def test_contrasts_as_they_are_computed_are_shown() -> None:
    published = two_models()
    made = slice_contrasts(
        published.query("select * from mart.item_scores where score is not null"),
        published.query("select slice_id, item_id from core.slice_items"),
        published.query("select slice_id, slice_name from core.slices"),
    )
    published.add(mart.SLICE_CONTRASTS, made)

    rows = cells_of(html_report(published.query), "contrasts")

    # In either slice ten items tell them apart, all for one: McNemar's exact p is
    # 2 / 2^10, and two equal p-values are their own correction.
    assert {row[0] for row in rows} == {"even numbers", "all numbers"}
    assert [row[3] for row in rows] == ["better", "better"]
    assert [row[7] for row in rows] == ["0.002", "0.002"]


def test_only_the_most_informative_pairs_are_drawn() -> None:
    published = Published()
    rows = [
        {
            "slice_name": "sums",
            "model_a": "a",
            "model_b": f"b{number}",
            "verdict": "better" if number == 8 else "not enough evidence",
        }
        for number in range(9)
    ]
    add_contrasts(published, rows)

    part = section(html_report(published.query), "contrasts")

    assert part.count("<svg") == 6
    assert "9 pairs of models have contrasts; 6 are drawn" in part
    assert re.findall(r"<h3[^>]*>(.*?)</h3>", part)[0] == "a minus b8"


def test_pairs_in_which_each_model_is_ahead_somewhere_come_first() -> None:
    published = Published()
    verdicts = {"strong": ["worse"] * 4, "other": ["better", "worse"]}
    rows = [
        {
            "slice_name": f"s{number}",
            "model_a": "a",
            "model_b": name,
            "verdict": verdict,
            "is_confirmed": name == "strong",
        }
        for name, of_pair in verdicts.items()
        for number, verdict in enumerate(of_pair)
    ]
    add_contrasts(published, rows)

    text = html_report(published.query)

    assert [row[1] for row in cells_of(text, "contrast-totals")] == ["other", "strong"]


def test_a_slice_of_one_item_does_not_flatten_the_plot() -> None:
    published = Published()
    wide = {"difference": 0.0, "difference_low": -0.8, "difference_high": 0.8}
    rows = [
        {"slice_name": "large", "verdict": "better", "difference": 0.2},
        {"slice_name": "tiny", "verdict": "not enough evidence", **wide},
    ]
    add_contrasts(published, rows)

    part = section(html_report(published.query), "contrasts")

    # 0.2 + 0.1 is the furthest that is decided; the next round limit is 0.4.
    assert ">+0.40</text>" in part
    assert "0.000 [\N{MINUS SIGN}0.800,\xa0+0.800]" in part


def test_a_small_p_value_is_not_shown_as_0() -> None:
    rows = cells_of(html_report(filled().query), "gains")

    assert rows[0][2:4] == ["able", "9"]
    assert rows[0][-1] == "&lt; 0.001"


def test_policies_are_listed_by_gain_with_their_n() -> None:
    text = html_report(filled().query)

    rows = [[row[0], row[1], row[4]] for row in cells_of(text, "routing0")]
    assert rows == [
        ["oracle", "20", "+0.300"],
        ["skill", "20", "+0.020"],
        ["able", "20", "0.000"],
        ["best_single", "20", "0.000"],
        ["knn", "20", "\N{MINUS SIGN}0.100"],
    ]


def test_no_gain_clear_of_zero_is_told_and_the_oracle_does_not_count() -> None:
    part = section(html_report(filled().query), "routing")

    assert "No policy&#39;s gain is surely above zero" in part
    assert "Surely below zero: knn." in part
    assert "would gain +0.300 [+0.200,\xa0+0.400], n\xa020; it is not drawn" in part
    assert _ROUTE_HINT not in part


def test_a_gain_clear_of_zero_is_named() -> None:
    published = Published()
    add_routing(published, {"skill": (0.05, 0.01, 0.09), "random": (-0.1, -0.2, 0.0)})

    part = section(html_report(published.query), "routing")

    assert "skill&#39;s is the largest, +0.050 [+0.010,\xa0+0.090]" in part
    assert part.count(">skill · ahead</text>") == 1
    assert part.count(">random · no difference shown</text>") == 1


@pytest.mark.parametrize("bounds", [(None, None, None), (0.1, None, None)])
def test_a_gain_or_bounds_that_are_unknown_are_dashes(
    bounds: tuple[float | None, float | None, float | None],
) -> None:
    published = Published()
    add_routing(published, {"skill": bounds})

    text = html_report(published.query)

    row = cells_of(text, "routing0")[0]
    assert row[5] == "\N{EN DASH}"
    assert section(text, "routing").count("<svg") == (bounds[0] is not None)


def test_many_sets_of_models_and_policies_are_cut_and_the_page_says_so() -> None:
    published = Published()
    gains = {f"policy {n:02}": (0.01, 0.0, 0.02) for n in range(70)}
    for number in range(14):
        add_routing(published, gains, scope=f"quiz {number:02}")

    part = section(html_report(published.query), "routing")

    assert part.count("<svg") == 12
    assert "12 of 14 sets of models and scopes shown, 2 not shown." in part
    assert "16 of 70 policies shown, 54 not shown." in part
    assert "60 of 70 policies shown, 10 not shown." in part
    assert len(part) < 900_000


def test_both_readings_are_drawn_and_swaps_are_listed_with_n() -> None:
    text = html_report(filled().query)

    part = section(text, "extraction")
    assert "0.500 [0.400,\xa00.600] n\xa020" in part
    assert "0.400 [0.300,\xa00.500] n\xa020" in part
    assert "1 of 1 pair of models on a benchmark (1.000) change places" in part
    assert cells_of(text, "swap-totals") == [["quiz", "1", "1", "1.000"]]
    # Each bound is 0.1 from its accuracy, so a difference's is sqrt(0.1² + 0.1²) off.
    minus, half = "\N{MINUS SIGN}", 0.1 * 2**0.5
    assert cells_of(text, "swapped") == [
        [
            *("quiz", "able", "lost", "19"),
            *("+0.050", f"[{minus}{half - 0.05:.3f},\xa0+{0.05 + half:.3f}]"),
            *(f"{minus}0.100", f"[{minus}{half + 0.1:.3f},\xa0+{half - 0.1:.3f}]"),
        ]
    ]
    assert "in none of them do the two readings put different models" in part


def test_readings_that_swap_no_pair_say_so() -> None:
    published = Published()
    add_readings(published, {"able": (0.5, 0.5), "lost": (0.2, 0.3)})

    part = section(html_report(published.query), "extraction")

    assert "0 of 1 pair of models" in part
    assert "No pair of models changes places." in part


def test_rows_in_another_order_give_the_same_sections() -> None:
    first, second = filled(), filled(is_reversed=True)

    assert html_report(first.query) == html_report(second.query)


def test_every_query_of_the_sections_runs_and_targets_are_there() -> None:
    published = filled()
    text = html_report(published.query)

    page = Page(text)
    names = page.values("id")
    queries = re.findall(r"<code>(select.*?)</code>", section(text, "contrasts"))
    assert len(names) == len(set(names))
    assert {target[1:] for target in page.values("href")} <= set(names)
    assert len(queries) == 3
    for query in queries:
        plain = query.replace("&#39;", "'")
        assert isinstance(published.query(plain), pl.DataFrame)
