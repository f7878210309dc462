"""The table of policies and the picture of what quality costs."""

import re

import pytest

from skillmap.report import html_report
from tests.report.published import Published, add_frontier, add_routing
from tests.report.test_inference import section
from tests.report.test_page import Page, cells_of

_GAINS = {
    "skill": (0.1, 0.05, 0.15),
    "category": (0.02, -0.03, 0.07),
    "model:able": (0.0, 0.0, 0.0),
    "model:lost": (-0.1, -0.15, -0.05),
    "best_single": (0.0, 0.0, 0.0),
}
_POINTS = (
    ("model:able", 0.004, 0.5),
    ("model:lost", 0.001, 0.4),
    ("skill", 0.001, 0.4),
    ("skill", 0.002, 0.52),
    ("skill", 0.0025, 0.51),
    ("skill", 0.003, 0.6),
)


def priced(*, cost_unit: str = "usd") -> Published:
    """Two models, a policy at four costs of which the third is beaten."""
    published = Published()
    add_routing(published, _GAINS)
    add_frontier(published, _POINTS, cost_unit=cost_unit, dominated=[4])
    return published


def headings_of(text: str, table: str) -> list[str]:
    head = text.split(f'id="table-{table}"')[1].partition("</thead>")[0]
    return re.findall(r"<th [^>]*>(.*?)</th>", head)


def column_of(text: str, table: str, heading: str) -> list[str]:
    place = headings_of(text, table).index(heading)
    return [row[place] for row in cells_of(text, table)]


def test_a_model_for_every_item_is_a_baseline_and_no_policy() -> None:
    part = section(html_report(priced().query), "routing")

    assert "Surely below zero" not in part
    assert ">always lost · behind</text>" in part
    assert ">always able · the same</text>" in part
    words = dict(
        zip(
            column_of(part, "routing0", "policy"),
            column_of(part, "routing0", "goes by"),
            strict=True,
        )
    )
    assert words["model:able"] == "nothing: this model for every item"
    assert words["category"] == "the benchmark&#39;s own category"


def test_an_interval_that_holds_0_shows_no_difference() -> None:
    text = html_report(priced().query)

    found = dict(
        zip(
            column_of(text, "routing0", "policy"),
            column_of(text, "routing0", "against best single"),
            strict=True,
        )
    )
    assert found == {
        "skill": "ahead",
        "category": "no difference shown",
        "model:able": "the same",
        "model:lost": "behind",
        "best_single": "\N{EN DASH}",
    }


def test_what_is_known_of_no_policy_has_no_column() -> None:
    headings = headings_of(html_report(priced().query), "routing0")

    assert not {"reads", "over splits", "over category"} & set(headings)
    assert not [heading for heading in headings if "an item" in heading]


def test_splits_costs_and_the_read_model_are_shown_where_known() -> None:
    published = Published()
    known = {
        "reads_response_of": "able",
        "n_splits": 3,
        "gain_lowest_split": 0.06,
        "gain_highest_split": 0.14,
        "gain_over_category": 0.08,
        "gain_over_category_low": -0.01,
        "gain_over_category_high": 0.17,
        "cost_unit": "usd",
        "mean_cost": 0.000125,
    }
    add_routing(published, {"new_policy": (0.1, 0.05, 0.15)}, columns=known)

    text = html_report(published.query)

    row = dict(
        zip(headings_of(text, "routing0"), cells_of(text, "routing0")[0], strict=True)
    )
    assert row["reads"] == "able"
    assert row["over splits"] == "[+0.060,\xa0+0.140]"
    assert row["USD an item"] == "0.000125"
    assert row["over category"] == "+0.080"
    # Nothing is made up about a policy that the report does not know.
    assert row["goes by"] == "\N{EN DASH}"
    part = section(text, "routing")
    assert "Over 3 splits of the items into folds, its gain lies" in part
    assert "+0.080 [\N{MINUS SIGN}0.010,\xa0+0.170]: no difference shown" in part


def test_without_prices_the_page_says_how_to_give_them() -> None:
    published = Published()
    add_routing(published, _GAINS)

    part = section(html_report(published.query), "routing")

    assert "for lack of prices" in part
    assert "<code>skillmap route --price MODEL=USD</code>" in part
    assert "table-frontier0" not in part


def test_the_frontier_has_the_numbers_of_the_table_without_what_is_beaten() -> None:
    published = priced()

    rows = cells_of(html_report(published.query), "frontier0")

    expected = published.connection.sql(
        "select policy, mean_cost, accuracy from mart.routing_frontier "
        "where not is_dominated order by policy, mean_cost"
    ).fetchall()
    assert [(row[0], float(row[1]), float(row[2])) for row in rows] == [
        (policy, cost, round(accuracy, 3)) for policy, cost, accuracy in expected
    ]
    assert {row[-1] for row in rows} == {"20"}


def test_points_stand_at_their_costs_and_accuracies() -> None:
    part = section(html_report(priced().query), "routing")

    svg = part.split("<h4>What quality costs</h4>")[1].partition("</svg>")[0]
    line = re.findall(
        r'<path d="(M[^"z]*)"[^>]*style="fill: none[^"]*var\(--high\)', svg
    )
    points = [
        tuple(map(float, point)) for point in re.findall(r"[ML] (\S+) (\S+)", line[0])
    ]
    # The costs are 1, 2 and 3, the accuracies .4, .52 and .6, on linear axes.
    (x0, y0), (x1, y1), (x2, y2) = points
    assert (x1 - x0) / (x2 - x0) == pytest.approx(0.5, abs=1e-3)
    assert (y1 - y0) / (y2 - y0) == pytest.approx(0.6, abs=1e-3)
    assert y2 < y0


def test_what_each_letter_is_stands_below_with_its_numbers() -> None:
    part = section(html_report(priced().query), "routing")

    texts = [text for text in Page(part).texts if text.strip()]
    assert {"A skill", "B always able", "C always lost"} <= set(texts)
    best = "at its best: 0.600 [0.500,\xa00.700] n\xa020, costs 0.003"
    assert best in texts
    assert "0.500 [0.400,\xa00.600] n\xa020, costs 0.004" in texts


def test_what_as_good_for_less_costs_is_told() -> None:
    part = section(html_report(priced().query), "routing")

    assert (
        "able for every item gets 0.500 [0.400,\xa00.600], n\xa020, at 0.004 USD"
        in part
    )
    assert "As much or more is had for less, from 0.002 (0.50 times that) on" in part
    # A gain of .1 has a lower bound of .05, and one of .02 none above zero.
    assert "A gain surely above zero starts at 0.003 (0.75 times that)" in part
    assert "Most is had at 0.003 (0.75 times that), by skill" in part


def test_no_gain_at_any_cost_is_told() -> None:
    published = Published()
    add_routing(published, _GAINS)
    add_frontier(published, [("model:able", 0.0, 0.5), ("skill", 0.0, 0.5)])

    part = section(html_report(published.query), "routing")

    assert "No gain of a policy is surely above zero at any cost." in part
    assert "times that" not in part


def test_costs_far_apart_and_in_tokens_are_drawn_on_a_logarithmic_axis() -> None:
    published = Published()
    add_routing(published, _GAINS)
    points = [("model:able", 20_000.0, 0.5), ("model:lost", 20.0, 0.4)]
    add_frontier(published, points, cost_unit="tokens")

    part = section(html_report(published.query), "routing")

    assert ">tokens per item, logarithmic →</text>" in part
    assert ">1,000</text>" in part
    assert "costs 20,000" in part


def test_many_single_models_are_cut_and_the_page_says_so() -> None:
    published = Published()
    add_routing(published, _GAINS)
    names = [f"model:m{number:02}" for number in range(15)]
    add_frontier(
        published, [(name, 0.001, 0.3 + 0.01 * n) for n, name in enumerate(names)]
    )

    part = section(html_report(published.query), "routing")

    assert "3 more single models are in the table." in part
    assert part.count(">always m14<") + part.count("L  always m14") <= 1


def test_a_frontier_of_another_scope_is_not_shown() -> None:
    published = Published()
    add_routing(published, _GAINS, scope="quiz")
    add_frontier(published, _POINTS)

    assert "for lack of prices" in section(html_report(published.query), "routing")


def test_the_overview_tells_the_gain_and_leads_to_the_section() -> None:
    part = section(html_report(priced().query), "findings")

    assert "Routing among able, lost: all benchmarks together:" in part
    assert "skill gains +0.100 [+0.050,\xa0+0.150], n\xa020" in part
    assert '<a href="#routing">More</a>' in part
