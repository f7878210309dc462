"""Interval plots as inline SVG that follows the page's colours.

Every text is set by the page and not by matplotlib: names from data may hold what
matplotlib would read as a formula or has no glyph for, and the page can give each cut
name its full text. Colours are stand-ins that become the page's CSS variables, so a
plot is readable in light, dark and print.
"""

# Matplotlib leaves the types of its keyword arguments open.
# pyright: reportUnknownMemberType=false

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from markupsafe import Markup
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skillmap.report.formatting import (
    cut,
    estimate_text,
    fraction_text,
    is_missing,
    n_text,
    signed_text,
)

# Units of the viewBox; a narrow phone shows them nearly one to one.
_WIDTH = 420
_ROW = 34
_TOP = 6
_BOTTOM = 24
_LEFT_SHARE = 0.03
_AXIS_SHARE = 0.54
_LABEL_LIMIT = 58

_INK, _FAINT, _LOW, _HIGH, _EVEN, _PAPER = (
    "#010101",
    "#020202",
    "#030303",
    "#040404",
    "#050505",
    "#060606",
)
_VARIABLES = {
    _INK: "var(--ink)",
    _FAINT: "var(--line)",
    _LOW: "var(--low)",
    _HIGH: "var(--high)",
    _EVEN: "var(--even)",
    _PAPER: "var(--paper)",
}
_SETTINGS: dict[str, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "skillmap",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
}


class _Look(NamedTuple):
    """Colour and shape of a mark; a shape of its own tells more than a colour."""

    color: str
    shape: str = "o"


_OF_SIDE = (_Look(_EVEN), _Look(_LOW), _Look(_HIGH))
# Left, right and neither, as the side of 0 that is meant.
_OF_VERDICT = {
    "not enough evidence": _OF_SIDE[0],
    "tied": _Look(_INK, "s"),
    "worse": _Look(_LOW, "<"),
    "better": _Look(_HIGH, ">"),
}
_BEFORE, _AFTER = _OF_SIDE[0], _Look(_HIGH, "D")
_LOOKS = (*_OF_SIDE, *list(_OF_VERDICT.values())[1:], _AFTER)


class Bounds(NamedTuple):
    """A further value of a row, with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One row of a plot: a value with its interval and the items behind it.

    Attributes:
        label: What is measured; cut where too long, with the full text on hover.
        value: The value, or None where there is none: nothing is drawn then.
        low: Lower bound.
        high: Upper bound.
        n_items: Items behind the value.
        detail: What to write behind the label, never cut.
        verdict: ``better``, ``worse``, ``tied`` or ``not enough evidence``, which
            gives the mark its shape and colour; empty to go by the reference.
        after: The same in another way of measuring, drawn below.
    """

    label: str
    value: float | None
    low: float | None
    high: float | None
    n_items: int | None
    detail: str = ""
    verdict: str = ""
    after: Bounds | None = None


@dataclass(frozen=True, kw_only=True)
class IntervalPlot:
    """What a plot shows.

    Attributes:
        name: Identifier within the page; unique.
        description: What the plot shows, for who cannot see it.
        rows: From the top.
        limits: Ends of the axis.
        reference: Where to draw the line to compare with; None for none.
        reference_name: What the line is, such as ``chance``.
        is_signed: Whether the values are differences.
        gap_after: Index of the row below which slices were left out; None for none.
        gap_text: What to write in the gap.
    """

    name: str
    description: str
    rows: Sequence[Estimate]
    limits: tuple[float, float] = (0.0, 1.0)
    reference: float | None = None
    reference_name: str = ""
    is_signed: bool = False
    gap_after: int | None = None
    gap_text: str = ""


_Point = tuple[float, float]


class _Mark(NamedTuple):
    """Where a mark and its interval are drawn, and how."""

    x: float
    low: float | None
    high: float | None
    y: float
    look: _Look


@dataclass
class _Texts:
    """Texts to put in the drawing, by the token that stands in for them."""

    shown: dict[str, Markup] = field(default_factory=dict[str, Markup])

    def token(self, text: str, limit: int = 200) -> str:
        short = cut(text, limit)
        title = Markup("<title>{}</title>").format(text) if short != text else Markup()
        token = f"@{len(self.shown):04}@"
        self.shown[token] = title + Markup("{}").format(short)
        return token


def interval_plot(plot: IntervalPlot) -> Markup:
    """The plot as an ``svg`` element.

    A row without a value has its label and a dash, and no mark. A filled mark says
    that the interval does not hold the reference.

    Args:
        plot: What to draw; at least one row.

    Returns:
        Markup that holds no address, font or script, the same for the same plot.
    """
    texts = _Texts()
    n_places = len(plot.rows) + (plot.gap_after is not None)
    height = _TOP + _ROW * n_places + _BOTTOM
    # From the defaults, so that a reader's own matplotlib settings change nothing.
    with style.context(["default", _SETTINGS]):
        figure = Figure(figsize=(_WIDTH / 72, height / 72))
        axes = figure.add_axes(
            (
                _LEFT_SHARE,
                _BOTTOM / height,
                _AXIS_SHARE,
                _ROW * n_places / height,
            )
        )
        _draw_axis(axes, plot, n_places, texts)
        _draw_rows(axes, plot, texts)
        buffer = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=nothing, transparent=True)
    return _inline(buffer.getvalue(), plot, texts)


def _draw_axis(axes: Axes, plot: IntervalPlot, n_places: int, texts: _Texts) -> None:
    low, high = plot.limits
    margin = (high - low) * 0.02
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(n_places, 0)
    ticks = [low + (high - low) * step / 4 for step in range(5)]
    axes.set_xticks(
        ticks, [texts.token(_tick(tick, is_signed=plot.is_signed)) for tick in ticks]
    )
    axes.set_yticks([])
    axes.tick_params(axis="x", length=3, color=_FAINT, labelcolor=_INK, labelsize=10)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)
    for tick in ticks:
        axes.axvline(tick, color=_FAINT, linewidth=0.5, zorder=0)
    if plot.reference is None:
        return
    # Beside the marks only, so that the line crosses no label.
    ends = [(place + 0.5, place + 0.94) for place in range(n_places)]
    axes.plot(
        *_separate(
            [((plot.reference, low), (plot.reference, high)) for low, high in ends]
        ),
        color=_INK,
        linewidth=1,
        linestyle=(0, (3, 2)),
    )
    if plot.reference_name:
        axes.annotate(
            texts.token(plot.reference_name),
            (1, 0),
            (22, -14),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=10,
            color=_INK,
        )


def _tick(value: float, *, is_signed: bool) -> str:
    return signed_text(value, n_decimals=2) if is_signed else f"{value:.2f}"


def _draw_rows(axes: Axes, plot: IntervalPlot, texts: _Texts) -> None:
    places = _places(plot)
    for row, place in zip(plot.rows, places, strict=True):
        _write_row(axes, plot, row, place, texts)
    if plot.gap_after is not None:
        gap = plot.gap_after + 1
        _write(axes, texts.token(plot.gap_text), (0, gap + 0.62), size=10)
    found = [
        mark
        for row, place in zip(plot.rows, places, strict=True)
        for mark in _marks(plot, row, place)
    ]
    low, high = plot.limits
    lines = [((low, mark.y), (high, mark.y)) for mark in found]
    axes.plot(*_separate(lines), color=_FAINT, linewidth=0.5)
    for look in _LOOKS:
        _draw_marks(axes, [mark for mark in found if mark.look == look], look)


def _marks(plot: IntervalPlot, row: Estimate, place: int) -> list[_Mark]:
    """The mark of a row, or both of its marks; none without a value."""
    if row.value is None or is_missing(row.value):
        return []
    if row.after is None:
        look = _look(plot, row)
        return [_Mark(row.value, row.low, row.high, place + 0.72, look)]
    return [
        _Mark(row.value, row.low, row.high, place + 0.64, _BEFORE),
        _Mark(*row.after, place + 0.84, _AFTER),
    ]


def _places(plot: IntervalPlot) -> list[int]:
    """Place of each row from the top; one is left free for the gap."""
    gap = len(plot.rows) if plot.gap_after is None else plot.gap_after
    return [index + (index > gap) for index in range(len(plot.rows))]


def _draw_marks(axes: Axes, marks: Sequence[_Mark], look: _Look) -> None:
    if not marks:
        return
    color = look.color
    lines = [
        ((mark.low, mark.y), (mark.high, mark.y))
        for mark in marks
        if mark.low is not None and mark.high is not None
    ]
    axes.plot(*_separate(lines), color=color, linewidth=2.5, solid_capstyle="butt")
    axes.plot(
        [mark.x for mark in marks],
        [mark.y for mark in marks],
        linestyle="none",
        marker=look.shape,
        markersize=6.5,
        color=color,
        markerfacecolor=_PAPER if color == _EVEN else color,
        markeredgewidth=1.5,
        clip_on=False,
    )


def _separate(
    lines: Sequence[tuple[_Point, _Point]],
) -> tuple[list[float], list[float]]:
    """Coordinates of lines that do not touch, for one call: many calls are slow."""
    apart = (math.nan, math.nan)
    points = [point for start, end in lines for point in (start, end, apart)]
    return [x for x, _ in points], [y for _, y in points]


def _write_row(
    axes: Axes, plot: IntervalPlot, row: Estimate, place: int, texts: _Texts
) -> None:
    detail = f"· {row.detail}" if row.detail else ""
    label = texts.token(row.label, _LABEL_LIMIT - len(detail))
    if detail:
        label += f" {texts.token(detail)}"
    _write(axes, label, (-0.02, place + 0.42), size=12)
    n_items = "" if row.n_items is None else f" {n_text(row.n_items)}"
    if row.after is None:
        numbers = estimate_text(row.value, row.low, row.high, is_signed=plot.is_signed)
    else:
        numbers = f"{fraction_text(row.value)} → {fraction_text(row.after.value)}"
    _write(axes, texts.token(numbers + n_items), (1.03, place + 0.82), size=10)


def _look(plot: IntervalPlot, row: Estimate) -> _Look:
    """By the verdict, or by the side of the reference that the interval is on."""
    if row.verdict:
        return _OF_VERDICT[row.verdict]
    even, low, high = _OF_SIDE
    if plot.reference is None or row.low is None or row.high is None:
        return high
    if row.high < plot.reference:
        return low
    return high if row.low > plot.reference else even


def _write(axes: Axes, token: str, at: tuple[float, float], *, size: float) -> None:
    axes.text(
        *at,
        token,
        fontsize=size,
        color=_INK,
        transform=axes.get_yaxis_transform(),
        verticalalignment="baseline",
    )


def _inline(drawing: str, plot: IntervalPlot, texts: _Texts) -> Markup:
    svg = drawing[drawing.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    box = re.search(r'viewBox="[^"]*"', svg)
    head = Markup('<svg role="img" aria-label="{}" {}>').format(
        plot.description,
        Markup(box.group() if box else ""),  # noqa: S704  # drawn above
    )
    svg = head + Markup(svg[svg.index(">") + 1 :])  # noqa: S704  # holds tokens only
    svg = str(svg).replace("xlink:href", "href")
    svg = _named(svg, plot.name)
    svg = re.sub(r" font-family: [^;]*;", "", svg)
    for stand_in, variable in _VARIABLES.items():
        svg = svg.replace(stand_in, variable)
    svg = re.sub(r"@\d{4}@", lambda found: texts.shown[found.group()], svg)
    return Markup(re.sub(r"\s*\n\s*", "\n", svg))  # noqa: S704  # all texts are escaped


def _named(svg: str, name: str) -> str:
    """Identifiers that something refers to, made unique on the page; no others."""
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))

    def kept(found: re.Match[str]) -> str:
        return f' id="{name}-{found[1]}"' if found[1] in used else ""

    svg = re.sub(r' id="([^"]*)"', kept, svg)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", svg)
