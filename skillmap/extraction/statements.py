r"""Places of a response where it announces its answer, in reading order.

An announcement is a word such as "answer" or "closest option", or ``\boxed``. What
follows it, up to the next announcement, is a statement; whether it states an answer
is for the readers of letters and numbers to say. Everything here is a Polars regular
expression, whose engine takes linear time on any text.
"""

import polars as pl

# A control character that no text needs, to cut texts at.
SEPARATOR = "\x1e"
_QUALITY = (
    r"correct|right|closest|nearest|best|most likely|most suitable|most appropriate|"
    r"most accurate"
)
_ANNOUNCEMENT = (
    r"(?i-u:\bno (?:correct|right|valid) (?:answer|option|choice))|"
    r"(?i-u:\banswer)|\\boxed|\\fbox|"
    rf"(?i-u:\b(?:{_QUALITY})(?: available| given| possible| matching)?"
    r" (?:options?|choices?|match|statement)\b)|(?i-u:\bclosest\b)|答案|#{4}"
)
# Longer than any sentence that states an answer, so that a text full of
# announcements is still read in linear time.
_STATEMENT_LENGTH = 240
_MOST_STATEMENTS = 60

_FONTS = (
    r"\\(?:text|mathrm|mathbf|mathsf|mathit|textbf|textit|textrm|boldsymbol|"
    r"operatorname|displaystyle|large|Large|huge|bf|rm)\b\s*"
)
_SPACES = r"\\[()\[\],;:! ]|\\q?quad\b|[~\x{a0}]"
_EMPHASIS = r"[*`$]|\\left\b|\\right\b|\b_+|_+\b"


def statements(text: pl.DataFrame) -> pl.DataFrame:
    """Statements of each text, without formatting marks.

    Args:
        text: ``row`` (any key) and ``text``.

    Returns:
        ``row``, ``place`` (the order in the text, from 0) and ``statement``, which
        opens with its announcement and has at most 240 characters. At most the last
        60 statements of a text; no row for a text without any.
    """
    marked = (
        pl.col("text")
        .str.replace_all(SEPARATOR, " ", literal=True)
        .str.replace_all(_ANNOUNCEMENT, SEPARATOR + "$0")
        .str.split(SEPARATOR)
        # What comes before the first announcement states nothing.
        .list.slice(1)
        .list.tail(_MOST_STATEMENTS)
    )
    exploded = (
        text.select("row", statement=marked)
        .filter(pl.col("statement").list.len() > 0)
        .with_columns(place=pl.int_ranges(pl.col("statement").list.len()))
        .explode("statement", "place")
    )
    return exploded.with_columns(
        statement=plain(pl.col("statement").str.slice(0, _STATEMENT_LENGTH))
    )


def plain(text: pl.Expr) -> pl.Expr:
    """Text without Markdown emphasis and without LaTeX fonts and spaces."""
    return (
        text.str.replace_all(_FONTS, "")
        .str.replace_all(_SPACES, " ")
        .str.replace_all(_EMPHASIS, "")
    )
