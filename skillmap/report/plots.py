"""Interval plots: a label, a mark with its interval, and the numbers of each row."""

# Matplotlib leaves the types of its keyword arguments open.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skillmap.report.drawing import (
    EVEN,
    FAINT,
    HIGH,
    INK,
    LOW,
    PAPER,
    Look,
    Point,
    Texts,
    inline_svg,
    separate,
)
from skillmap.report.formatting import (
    cut_within,
    estimate_text,
    is_missing,
    n_text,
    signed_text,
)

# Units of the viewBox; a narrow phone shows them nearly one to one.
_WIDTH = 420
_TOP = 6
_BOTTOM = 24
_LINE = 14
_MARK = 10.5
_NEXT_MARK = 15
_BELOW_MARK = 9.5
_GAP = 26
_LEFT_SHARE = 0.03
# Beside it is room for a signed value with its interval and an n of six digits.
_AXIS_SHARE = 0.5
_LABEL_LIMIT = 58
# The part of the axis on which an interval that goes beyond it is dotted.
_FADE = 0.08

_OF_SIDE = (Look(EVEN), Look(LOW), Look(HIGH))
# Left, right and neither, as the side of 0 that is meant.
_OF_VERDICT = {
    "not enough evidence": _OF_SIDE[0],
    "tied": Look(INK, "s"),
    "worse": Look(LOW, "<"),
    "better": Look(HIGH, ">"),
}
_BEFORE, _AFTER = _OF_SIDE[0], Look(HIGH, "D")
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
        label: What is measured; in two lines where long, cut within the second where
            too long for both, with the full text on hover.
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
        limits: Ends of the axis; an interval that goes beyond has a dotted end.
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


class _Mark(NamedTuple):
    """Where a mark and its interval are drawn, and how."""

    x: float
    low: float | None
    high: float | None
    y: float
    look: Look


class _Place(NamedTuple):
    """Where a row stands, from the top of the axes, and the lines of its label."""

    top: float
    lines: tuple[str, ...]
    mark: float
    bottom: float


def interval_plot(plot: IntervalPlot) -> Markup:
    """The plot as an ``svg`` element.

    A row without a value has its label and a dash, and no mark. A filled mark says
    that the interval does not hold the reference.

    Args:
        plot: What to draw; at least one row.

    Returns:
        Markup that holds no address, font or script, the same for the same plot.
    """
    places = _places(plot)
    inner = max(place.bottom for place in places)
    height = _TOP + inner + _BOTTOM

    def draw(figure: Figure, texts: Texts) -> None:
        axes = figure.add_axes(
            (_LEFT_SHARE, _BOTTOM / height, _AXIS_SHARE, inner / height)
        )
        axes.set_ylim(inner, 0)
        _draw_axis(axes, plot, texts)
        _draw_rows(axes, plot, places, texts)

    return inline_svg(
        (_WIDTH, height), draw, name=plot.name, description=plot.description
    )


def _places(plot: IntervalPlot) -> list[_Place]:
    """The place of each row from the top, with one left free for the gap."""
    places: list[_Place] = []
    top = 0.0
    for index, row in enumerate(plot.rows):
        lines = _label_lines(row)
        mark = top + _LINE * len(lines) + _MARK
        bottom = mark + _BELOW_MARK + (_NEXT_MARK if row.after else 0)
        places.append(_Place(top, lines, mark, bottom))
        top = bottom + (_GAP if index == plot.gap_after else 0)
    return places


def _label_lines(row: Estimate) -> tuple[str, ...]:
    room = _LABEL_LIMIT - (len(row.detail) + 3 if row.detail else 0)
    label = " ".join(row.label.split())
    if len(label) <= room:
        return (label,)
    first = wrap(label, _LABEL_LIMIT)[0]
    return first, cut_within(label[len(first) :].strip(), room)


def _draw_axis(axes: Axes, plot: IntervalPlot, texts: Texts) -> None:
    low, high = plot.limits
    margin = (high - low) * 0.02
    axes.set_xlim(low - margin, high + margin)
    ticks = [low + (high - low) * step / 4 for step in range(5)]
    axes.set_xticks(
        ticks, [texts.token(_tick(tick, is_signed=plot.is_signed)) for tick in ticks]
    )
    axes.set_yticks([])
    axes.tick_params(axis="x", length=3, color=FAINT, labelcolor=INK, labelsize=10)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    for tick in ticks:
        axes.axvline(tick, color=FAINT, linewidth=0.5, zorder=0)
    if plot.reference_name:
        axes.annotate(
            texts.token(plot.reference_name),
            (1, 0),
            (22, -14),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=10,
            color=INK,
        )


def _tick(value: float, *, is_signed: bool) -> str:
    return signed_text(value, n_decimals=2) if is_signed else f"{value:.2f}"


def _draw_rows(
    axes: Axes, plot: IntervalPlot, places: Sequence[_Place], texts: Texts
) -> None:
    for row, place in zip(plot.rows, places, strict=True):
        _write_row(axes, plot, row, place, texts)
    if plot.gap_after is not None:
        gap = places[plot.gap_after].bottom
        _write(axes, texts.token(plot.gap_text), (0, gap + _GAP * 0.7), size=10)
    found = [
        mark
        for row, place in zip(plot.rows, places, strict=True)
        for mark in _marks(plot, row, place)
    ]
    if plot.reference is not None:
        # Beside the marks only, so that the line crosses no label.
        at = plot.reference
        ends = [(place.mark - 7.5, place.bottom - 2) for place in places]
        axes.plot(
            *separate([((at, top), (at, bottom)) for top, bottom in ends]),
            color=INK,
            linewidth=1,
            linestyle=(0, (3, 2)),
        )
    low, high = plot.limits
    lines = [((low, mark.y), (high, mark.y)) for mark in found]
    axes.plot(*separate(lines), color=FAINT, linewidth=0.5)
    for look in _LOOKS:
        _draw_marks(
            axes, [mark for mark in found if mark.look == look], look, plot.limits
        )


def _marks(plot: IntervalPlot, row: Estimate, place: _Place) -> list[_Mark]:
    """The mark of a row, or both of its marks; none without a value."""
    if row.value is None or is_missing(row.value):
        return []
    if row.after is None:
        look = _look(plot, row)
        return [_Mark(row.value, row.low, row.high, place.mark, look)]
    return [
        _Mark(row.value, row.low, row.high, place.mark, _BEFORE),
        _Mark(*row.after, place.mark + _NEXT_MARK, _AFTER),
    ]


def _draw_marks(
    axes: Axes, marks: Sequence[_Mark], look: Look, limits: tuple[float, float]
) -> None:
    if not marks:
        return
    color = look.color
    drawn = [_within(mark, limits) for mark in marks]
    for style, lines in (
        ("solid", [line for solid, _ in drawn for line in solid]),
        ((0, (1, 1)), [line for _, dotted in drawn for line in dotted]),
    ):
        if lines:
            axes.plot(
                *separate(lines),
                color=color,
                linewidth=2.5,
                linestyle=style,
                solid_capstyle="butt",
            )
    axes.plot(
        [mark.x for mark in marks],
        [mark.y for mark in marks],
        linestyle="none",
        marker=look.shape,
        markersize=6.5,
        color=color,
        markerfacecolor=PAPER if color == EVEN else color,
        markeredgewidth=1.5,
        clip_on=False,
    )


_Lines = list[tuple[Point, Point]]


def _within(mark: _Mark, limits: tuple[float, float]) -> tuple[_Lines, _Lines]:
    """The solid part of an interval, and the dotted ends where it goes beyond."""
    if mark.low is None or mark.high is None:
        return [], []
    least, most = limits
    fade = _FADE * (most - least)
    low, high, dotted = mark.low, mark.high, list[tuple[Point, Point]]()
    if low < least:
        low = min(least + fade, mark.x)
        dotted.append(((least, mark.y), (low, mark.y)))
    if high > most:
        high = max(most - fade, mark.x)
        dotted.append(((high, mark.y), (most, mark.y)))
    return [((low, mark.y), (high, mark.y))], dotted


def _write_row(
    axes: Axes, plot: IntervalPlot, row: Estimate, place: _Place, texts: Texts
) -> None:
    shown = " ".join(place.lines)
    whole = "" if shown == " ".join(row.label.split()) else row.label
    for index, line in enumerate(place.lines):
        is_last = index == len(place.lines) - 1
        label = texts.token(line, title=whole if is_last else "")
        if row.detail and is_last:
            label += f" {texts.token(f'· {row.detail}')}"
        _write(axes, label, (-0.02, place.top + _LINE * (index + 1)), size=12)
    n_items = "" if row.n_items is None else f" {n_text(row.n_items)}"
    for index, of in enumerate((row, row.after) if row.after else (row,)):
        numbers = estimate_text(of.value, of.low, of.high, is_signed=plot.is_signed)
        at = place.mark + 3.5 + _NEXT_MARK * index
        _write(axes, texts.token(numbers + n_items), (1.03, at), size=10)


def _look(plot: IntervalPlot, row: Estimate) -> Look:
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
        color=INK,
        transform=axes.get_yaxis_transform(),
        verticalalignment="baseline",
    )
