"""Quality against cost: curves of policies and single models as lettered points."""

# Matplotlib leaves the types of its keyword arguments open.
# pyright: reportUnknownMemberType=false

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_uppercase
from typing import NamedTuple

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from skillmap.report.drawing import (
    EVEN,
    FAINT,
    HIGH,
    INK,
    LOW,
    PAPER,
    Look,
    Texts,
    inline_svg,
    separate,
)
from skillmap.report.formatting import amount_text, cut_within, estimate_text, n_text

# Units of the viewBox, as wide as an interval plot.
_WIDTH = 420
_TOP = 10
_LEFT = 44
_RIGHT = 26
_PLOT = 230
_AXIS = 46
_ROW = 31
_NAME_LIMIT = 50
# Costs further apart than this, as a ratio, are drawn on a logarithmic axis.
_WIDE = 8.0
_N_TICKS = 5
# Letters closer than this cover each other.
_LETTER = (12.0, 11.0)

_SINGLE = Look(INK, "s")
_CURVES = (Look(HIGH, "o"), Look(LOW, "D"), Look(EVEN, "^"), Look(INK, "v"))


class CostPoint(NamedTuple):
    """What some cost buys: the accuracy with its bounds."""

    cost: float
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class CostCurve:
    """A policy at several prices, or a single model at its one.

    Attributes:
        label: Its name, cut within where too long.
        points: In the order of their costs; at least one.
        is_single: Whether it is one model for all items.
        note: What the point in the list of names is, such as ``at its best``.
    """

    label: str
    points: tuple[CostPoint, ...]
    is_single: bool
    note: str = ""

    @property
    def best(self) -> CostPoint:
        """The cheapest of the points with most accuracy."""
        return max(self.points, key=lambda point: (point.accuracy, -point.cost))


@dataclass(frozen=True, kw_only=True)
class FrontierPlot:
    """What a plot of costs shows.

    Attributes:
        name: Identifier within the page; unique.
        description: What the plot shows, for who cannot see it.
        curves: At least one; of policies, the first four are drawn.
        n_items: Items behind each accuracy.
        cost_name: What costs are counted in, such as ``USD per 1,000 items``.
    """

    name: str
    description: str
    curves: Sequence[CostCurve]
    n_items: int
    cost_name: str


def frontier_plot(plot: FrontierPlot) -> Markup:
    """The plot as an ``svg`` element, with the list of what each letter is below it.

    A curve joins a policy's points in the order of their costs, and its band their
    intervals; a single model is a square with its interval.

    Args:
        plot: What to draw.

    Returns:
        Markup that holds no address, font or script, the same for the same plot.
    """
    marked = _marked(plot.curves)
    names = _ROW * len(marked)
    height = _TOP + _PLOT + _AXIS + names
    share = (_WIDTH - _LEFT - _RIGHT) / _WIDTH

    def draw(figure: Figure, texts: Texts) -> None:
        at = (_LEFT / _WIDTH, (_AXIS + names) / height, share, _PLOT / height)
        axes = figure.add_axes(at)
        _draw_axes(axes, plot, texts)
        for one in marked:
            _draw_curve(axes, one)
        _write_letters(axes, marked, texts)
        below = figure.add_axes((0, 0, 1, names / height))
        _draw_names(below, plot, marked, texts)

    return inline_svg(
        (_WIDTH, height), draw, name=plot.name, description=plot.description
    )


class _Marked(NamedTuple):
    """A curve with its letter and look."""

    letter: str
    look: Look
    curve: CostCurve


def _marked(curves: Sequence[CostCurve]) -> list[_Marked]:
    """Policies first, each with a look of its own, then single models."""
    policies = [curve for curve in curves if not curve.is_single][: len(_CURVES)]
    singles = [curve for curve in curves if curve.is_single]
    looks = [*_CURVES[: len(policies)], *[_SINGLE] * len(singles)]
    return [
        _Marked(letter, look, curve)
        for letter, look, curve in zip(
            ascii_uppercase, looks, [*policies, *singles], strict=False
        )
    ]


def _draw_axes(axes: Axes, plot: FrontierPlot, texts: Texts) -> None:
    points = [point for curve in plot.curves for point in curve.points]
    costs = [point.cost for point in points]
    if min(costs) > 0 and max(costs) > _WIDE * min(costs):
        axes.set_xscale("log")
        room = (max(costs) / min(costs)) ** 0.06
        axes.set_xlim(min(costs) / room, max(costs) * room)
    else:
        room = (max(costs) - min(costs)) * 0.06 or max(costs) * 0.1 or 1.0
        axes.set_xlim(max(0.0, min(costs) - room), max(costs) + room)
    low, high = min(p.low for p in points), max(p.high for p in points)
    room = (high - low) * 0.06 or 0.01
    axes.set_ylim(low - room, high + room)
    across = _ticks(*axes.get_xlim(), is_log=axes.get_xscale() == "log")
    up = _ticks(*axes.get_ylim(), is_log=False)
    axes.minorticks_off()
    axes.set_xticks(across, [texts.token(amount_text(tick)) for tick in across])
    axes.set_yticks(up, [texts.token(_accuracy_tick(tick, up)) for tick in up])
    axes.tick_params(length=3, color=FAINT, labelcolor=INK, labelsize=10, which="both")
    for side in ("right", "top"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(FAINT)
    axes.grid(visible=True, color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    scale = ", logarithmic" if axes.get_xscale() == "log" else ""
    axes.annotate(
        texts.token(f"{plot.cost_name}{scale} →"),
        (1, 0),
        (0, -32),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=10,
        color=INK,
        horizontalalignment="right",
    )
    axes.annotate(
        texts.token("↑ accuracy"),
        (0, 1),
        (5, -6),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=10,
        color=INK,
    )


def _ticks(low: float, high: float, *, is_log: bool) -> list[float]:
    """Round numbers within the bounds."""
    if not is_log:
        found = MaxNLocator(_N_TICKS).tick_values(low, high)
        return [float(tick) for tick in found if low <= tick <= high]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**decade for decade in decades for step in steps]
        within = [tick for tick in found if low <= tick <= high]
        if len(within) <= _N_TICKS + 1:
            return within
    return within[:: math.ceil(len(within) / _N_TICKS)]


def _accuracy_tick(tick: float, ticks: Sequence[float]) -> str:
    step = min((b - a for a, b in pairwise(ticks)), default=0.1)
    n_decimals = next((n for n in (1, 2) if math.isclose(round(step, n), step)), 3)
    return f"{tick:.{n_decimals}f}"


def _draw_curve(axes: Axes, one: _Marked) -> None:
    color, points = one.look.color, one.curve.points
    costs = [point.cost for point in points]
    if len(points) == 1:
        bounds = [((p.cost, p.low), (p.cost, p.high)) for p in points]
        axes.plot(*separate(bounds), color=color, linewidth=1.5)
    else:
        low, high = [p.low for p in points], [p.high for p in points]
        axes.fill_between(costs, low, high, color=color, alpha=0.15, linewidth=0)
        axes.plot(costs, [p.accuracy for p in points], color=color, linewidth=1.5)
    best = one.curve.best
    axes.plot(
        [best.cost],
        [best.accuracy],
        linestyle="none",
        marker=one.look.shape,
        markersize=7,
        color=color,
        markerfacecolor=PAPER if color == EVEN else color,
        clip_on=False,
    )


def _write_letters(axes: Axes, marked: Sequence[_Marked], texts: Texts) -> None:
    """A letter beside each mark, moved up where it would cover another."""
    taken: list[tuple[float, float]] = []
    points_per_pixel = 72 / axes.figure.get_dpi()
    for one in marked:
        best = one.curve.best
        at = axes.transData.transform((best.cost, best.accuracy)) * points_per_pixel
        x, y, up = float(at[0]), float(at[1]), 4.0
        while any(
            abs(x - other[0]) < _LETTER[0] and abs(y + up - other[1]) < _LETTER[1]
            for other in taken
        ):
            up += _LETTER[1]
        taken.append((x, y + up))
        axes.annotate(
            texts.token(one.letter),
            (best.cost, best.accuracy),
            (6, up),
            textcoords="offset points",
            fontsize=11,
            fontweight="bold",
            color=INK,
        )


def _draw_names(
    axes: Axes, plot: FrontierPlot, marked: Sequence[_Marked], texts: Texts
) -> None:
    axes.set_axis_off()
    axes.set_xlim(0, _WIDTH)
    axes.set_ylim(_ROW * len(marked), 0)
    for index, one in enumerate(marked):
        top, best = _ROW * index, one.curve.best
        axes.plot(
            [14],
            [top + 8],
            linestyle="none",
            marker=one.look.shape,
            markersize=7,
            color=one.look.color,
            markerfacecolor=PAPER if one.look.color == EVEN else one.look.color,
        )
        name = cut_within(one.curve.label, _NAME_LIMIT)
        label = texts.token(
            f"{one.letter}  {name}",
            title="" if name == one.curve.label else one.curve.label,
        )
        axes.text(26, top + 12, label, fontsize=12, color=INK)
        numbers = estimate_text(best.accuracy, best.low, best.high, is_signed=False)
        note = f"{one.curve.note}: " if one.curve.note else ""
        axes.text(
            26,
            top + 25,
            texts.token(
                f"{note}{numbers} {n_text(plot.n_items)}, costs "
                f"{amount_text(best.cost)}"
            ),
            fontsize=10,
            color=INK,
        )
