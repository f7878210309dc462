"""The page as a whole."""

from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined

from skillmap.report.accuracy import accuracy_section
from skillmap.report.contrasts import contrast_section
from skillmap.report.examples import example_section
from skillmap.report.extraction import extraction_section
from skillmap.report.facts import Query, facts, one_line
from skillmap.report.overview import overview
from skillmap.report.pairs import pair_section
from skillmap.report.quality import quality_topics
from skillmap.report.routing import routing_section
from skillmap.report.skills import skill_section


def html_report(query: Query, *, title: str = "Skills and gaps of models") -> str:
    """The findings of a published database as one self-contained HTML page.

    Holds its styles, script and plots, and refers to nothing outside itself. What is
    shown is capped, and the page says what it leaves out, so that its size stays
    bounded however many models and slices there are.

    Args:
        query: Runs one ``select`` on the published database and gives its rows.
        title: Heading of the page; escaped.

    Returns:
        The document, the same to the byte for the same content. With nothing
        published yet it says so, section by section.
    """
    found = facts(query)
    environment = Environment(
        loader=FunctionLoader(_part),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(
        title=title,
        overview=overview(found),
        accuracy=accuracy_section(found),
        skills=skill_section(found),
        contrasts=contrast_section(found),
        pairs=pair_section(found),
        examples=example_section(found),
        routing=routing_section(found),
        extraction=extraction_section(found),
        topics=quality_topics(found),
        totals_query=one_line("totals"),
        pair_totals_query=one_line("pair_totals"),
    )


def _part(name: str) -> str:
    folder = resources.files("skillmap.report").joinpath("template")
    return folder.joinpath(name).read_text("utf-8")
