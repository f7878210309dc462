import re
import warnings
from dataclasses import replace

import pytest

from skillmap.report.plots import Bounds, Estimate, IntervalPlot, interval_plot


def estimate(value: float | None, half_width: float = 0.1) -> Estimate:
    return Estimate(
        label="a model",
        value=value,
        low=None if value is None else value - half_width,
        high=None if value is None else value + half_width,
        n_items=25,
    )


def plot(*rows: Estimate, reference: float | None = None) -> IntervalPlot:
    return IntervalPlot(
        name="p", description="what is seen", rows=rows, reference=reference
    )


def interval(low: float, high: float) -> str:
    return f"[{low:.3f},\xa0{high:.3f}]"


def marks(svg: str) -> list[tuple[float, str]]:
    """Place across and filling of each mark, the ticks of the axis left out."""
    uses = re.findall(
        r'<use href="#p-m[^"]*" x="([\d.]+)" y="[\d.]+" style="(.*?)"', svg
    )
    return [
        (float(x), style.partition(";")[0].removeprefix("fill: "))
        for x, style in uses
        if "var(--line)" not in style
    ]


def tick_places(svg: str) -> list[float]:
    found = re.findall(r'<use href="#p-m[^"]*" x="([\d.]+)"', svg)
    return [float(x) for x in found[:5]]


def test_a_mark_stands_at_its_value() -> None:
    svg = interval_plot(plot(estimate(0.5), estimate(0.875)))

    first, *_, last = tick_places(svg)
    expected = [first + share * (last - first) for share in (0.5, 0.875)]
    assert [x for x, _ in marks(svg)] == pytest.approx(expected, abs=0.01)


def test_the_numbers_and_n_are_written_beside_it() -> None:
    svg = interval_plot(plot(estimate(0.5)))

    assert "0.500 [0.400,\xa00.600] n\xa025" in svg


def test_a_missing_value_has_no_mark_and_a_dash() -> None:
    svg = interval_plot(plot(estimate(None)))

    assert marks(svg) == []
    assert ">\N{EN DASH} n\xa025<" in svg


def test_a_value_of_0_has_a_mark() -> None:
    svg = interval_plot(plot(estimate(0.0, 0.0)))

    assert [x for x, _ in marks(svg)] == tick_places(svg)[:1]


@pytest.mark.parametrize(
    ("value", "filling"),
    [(0.5, "var(--paper)"), (0.9, "var(--high)"), (0.1, "var(--low)")],
)
def test_a_mark_is_hollow_where_the_interval_holds_the_reference(
    value: float, filling: str
) -> None:
    svg = interval_plot(plot(estimate(value), reference=0.5))

    assert marks(svg)[0][1] == filling


@pytest.mark.parametrize("label", ["$x^2$", "$\\frac{", "推理 🧠", "@0000@", "\t\x01"])
def test_a_label_is_never_read_as_a_formula_nor_needs_a_font(label: str) -> None:
    row = replace(estimate(0.5), label=label)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg = interval_plot(plot(row))

    assert f">{' '.join(label.split())}<" in svg


def test_a_label_is_escaped() -> None:
    svg = interval_plot(plot(replace(estimate(0.5), label="<script>&")))

    assert "&lt;script&gt;&amp;" in svg
    assert "<script" not in svg


def test_a_long_label_is_cut_and_has_its_full_text_as_title() -> None:
    name = "word " * 40 + "end"

    svg = interval_plot(plot(replace(estimate(0.5), label=name)))

    assert f"<title>{name}</title>word" in svg


def test_the_same_plot_is_the_same_to_the_byte() -> None:
    shown = plot(estimate(0.5), estimate(None), reference=0.25)

    assert interval_plot(shown) == interval_plot(shown)


def test_a_plot_has_a_name_and_no_address_style_or_date() -> None:
    svg = interval_plot(plot(estimate(0.5)))

    assert svg.startswith('<svg role="img" aria-label="what is seen" viewBox="0 0 ')
    assert not re.search(r"http|<style|<metadata|xmlns|<!--", svg)


def test_plots_of_different_names_share_no_identifier() -> None:
    shown = plot(estimate(0.5))

    identifiers = [
        set(re.findall(r' id="([^"]*)"', interval_plot(replace(shown, name=name))))
        for name in ("p", "q")
    ]

    assert identifiers[0]
    assert not identifiers[0] & identifiers[1]


def test_every_reference_in_a_plot_has_its_target() -> None:
    svg = interval_plot(plot(estimate(0.5), reference=0.4))

    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
    assert used == set(re.findall(r' id="([^"]*)"', svg))


def test_no_colour_of_its_own_is_left() -> None:
    svg = interval_plot(plot(estimate(0.5), estimate(0.1), reference=0.4))

    assert set(re.findall(r"#[0-9a-f]{6}\b", svg)) == set()


def test_a_verdict_outweighs_the_side_that_the_interval_is_on() -> None:
    row = replace(estimate(0.9), verdict="not enough evidence")

    svg = interval_plot(plot(row, reference=0.5))

    assert marks(svg)[0][1] == "var(--paper)"


def test_a_row_in_two_ways_of_measuring_has_both_marks_at_their_values() -> None:
    row = replace(estimate(0.25), after=Bounds(0.75, 0.7, 0.8))

    svg = interval_plot(plot(row))

    first, *_, last = tick_places(svg)
    expected = [first + share * (last - first) for share in (0.25, 0.75)]
    assert [x for x, _ in marks(svg)] == pytest.approx(expected, abs=0.01)
    assert f"0.250 {interval(0.15, 0.35)} n\xa025" in svg
    assert f"0.750 {interval(0.7, 0.8)} n\xa025" in svg


def test_a_detail_is_kept_where_the_label_is_cut() -> None:
    row = replace(estimate(0.5), label="long " * 40, detail="q 0.040 <1>")

    svg = interval_plot(plot(row))

    assert re.search(r"…[long ]+ · q 0.040 &lt;1&gt;</text>", svg)


def test_long_labels_that_differ_in_their_end_are_told_apart() -> None:
    name = "evaluating moral implications based on societal norms and standards, "
    rows = [
        replace(estimate(0.5), label=name * 2 + end, detail="q 0.040")
        for end in ("narrow", "broad")
    ]

    svg = interval_plot(plot(*rows))

    shown = re.findall(r">([^<>]*)</text>", svg)
    assert sum(text.endswith("narrow · q 0.040") for text in shown) == 1
    assert sum(text.endswith("broad · q 0.040") for text in shown) == 1


def test_a_label_of_two_lines_is_whole_and_takes_more_room() -> None:
    words = [f"word{number}" for number in range(12)]

    plots = [
        interval_plot(plot(replace(estimate(0.5), label=label)))
        for label in ("a model", " ".join(words))
    ]

    heights = [
        float(re.findall(r'viewBox="0 0 420 ([\d.]+)"', svg)[0]) for svg in plots
    ]
    assert heights[1] > heights[0]
    assert all(word in plots[1] for word in words)
    assert "<title>" not in plots[1]


@pytest.mark.parametrize(("half_width", "n_dotted"), [(0.1, 0), (0.9, 2)])
def test_an_interval_beyond_the_axis_has_dotted_ends(
    half_width: float, n_dotted: int
) -> None:
    svg = interval_plot(plot(estimate(0.5, half_width)))

    found = re.findall(r'<path d="([^"]*)"[^>]*stroke-dasharray[^>]*>', svg)
    assert sum(path.count("M") for path in found) == n_dotted
