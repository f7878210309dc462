"""Drawings as inline SVG that follows the page's colours.

Every text is set by the page and not by matplotlib: names from data may hold what
matplotlib would read as a formula or has no glyph for, and the page can give each cut
name its full text. Colours are stand-ins that become the page's CSS variables, so a
drawing is readable in light, dark and print.
"""

# Matplotlib leaves the types of its keyword arguments open.
# pyright: reportUnknownMemberType=false

import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from markupsafe import Markup
from matplotlib import style
from matplotlib.figure import Figure

from skillmap.report.formatting import cut

INK, FAINT, LOW, HIGH, EVEN, PAPER = (
    "#010101",
    "#020202",
    "#030303",
    "#040404",
    "#050505",
    "#060606",
)
_VARIABLES = {
    INK: "var(--ink)",
    FAINT: "var(--line)",
    LOW: "var(--low)",
    HIGH: "var(--high)",
    EVEN: "var(--even)",
    PAPER: "var(--paper)",
}
_SETTINGS: dict[str, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "skillmap",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
}

_LONGEST = 200

Point = tuple[float, float]


class Look(NamedTuple):
    """Colour and shape of a mark; a shape of its own tells more than a colour."""

    color: str
    shape: str = "o"


@dataclass
class Texts:
    """Texts to put in a drawing, by the token that stands in for them."""

    shown: dict[str, Markup] = field(default_factory=dict[str, Markup])

    def token(self, text: str, *, title: str = "") -> str:
        """What to write in the drawing for ``text``; ``title`` is told on hover."""
        # A space that is not to be broken stays one.
        line = re.sub(r"[^\S\xa0]+", " ", text).strip()
        short = line if len(line) <= _LONGEST else cut(line, _LONGEST)
        whole = title or ("" if short == line else text)
        told = Markup("<title>{}</title>").format(whole) if whole else Markup()
        token = f"@{len(self.shown):04}@"
        self.shown[token] = told + Markup("{}").format(short)
        return token


def inline_svg(
    size: tuple[float, float],
    draw: Callable[[Figure, Texts], None],
    *,
    name: str,
    description: str,
) -> Markup:
    """What ``draw`` draws, as an ``svg`` element.

    Args:
        size: Width and height in units of the view box.
        draw: Is given the empty figure, and takes a token for each text it writes.
        name: Identifier within the page; unique.
        description: What is shown, for who cannot see it.

    Returns:
        Markup that holds no address, font or script, the same for the same drawing.
    """
    texts = Texts()
    # From the defaults, so that a reader's own matplotlib settings change nothing.
    with style.context(["default", _SETTINGS]):
        figure = Figure(figsize=(size[0] / 72, size[1] / 72))
        draw(figure, texts)
        buffer = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=nothing, transparent=True)
    return _inline(buffer.getvalue(), name, description, texts)


def separate(
    lines: Sequence[tuple[Point, Point]],
) -> tuple[list[float], list[float]]:
    """Coordinates of lines that do not touch, for one call: many calls are slow."""
    apart = (math.nan, math.nan)
    points = [point for start, end in lines for point in (start, end, apart)]
    return [x for x, _ in points], [y for _, y in points]


def _inline(drawing: str, name: str, description: str, texts: Texts) -> Markup:
    svg = drawing[drawing.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    box = re.search(r'viewBox="[^"]*"', svg)
    head = Markup('<svg role="img" aria-label="{}" {}>').format(
        description,
        Markup(box.group() if box else ""),  # noqa: S704  # drawn above
    )
    svg = head + Markup(svg[svg.index(">") + 1 :])  # noqa: S704  # holds tokens only
    svg = str(svg).replace("xlink:href", "href")
    svg = _named(svg, name)
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
