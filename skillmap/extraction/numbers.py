r"""Numbers, and other short answers, that responses state.

An answer is announced by a last line "A: 18", by ``#### 18``, ``\boxed{18}`` or "the
answer is 18"; the last announcement with a value decides. Where none has, a number in
bold type is read, or the one that the last sentence ends in, or the result of its
equation. Calculator annotations such as ``<<2*3=6>>`` are passed over.
"""

import re

import polars as pl

from skillmap.extraction.arithmetic import (
    VULGAR_FRACTIONS,
    canonical_number,
    value_of,
)
from skillmap.extraction.equality import normal_answer
from skillmap.extraction.statements import SEPARATOR, plain, statements

_ANNOTATION = r"<<[^<>\n]*>>"
_TIME = r"\d+:\d+(?::\d+)?"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d+)(?:\.\d+)?|\.\d+"
_POWER_OF_TEN = r"(?:\s?(?:×|\\times|\*|x)\s?10\^\{?[-+]?\d{1,3}\}?|[eE][-+]?\d{1,3})?"
_SLASH = r"(?:\s?/\s?\d+| \d+/\d+)?"
_LATEX_FRACTION = r"(?:\d+\s?)?\\[dt]?frac\s?(?:\{[^{}]{1,40}\}\{[^{}]{1,40}\}|\d\d)"
_NUMBER = rf"-?[$€£]?-?(?:{_LATEX_FRACTION}|(?:{_DIGITS}){_POWER_OF_TEN}{_SLASH})"
# A minus after a value is an operation, not a sign; so is one between two numbers.
_OPERATION = r"([\p{L}\d)}%])-"
_BOLD = rf"\*\*[^*\n\d]{{0,60}}?({_NUMBER})[^*\n\d]{{0,40}}\*\*"
_ANSWER_LINE = r"(?:^|\n)\s{0,8}A:[ \t]*([^\n]+?)\s*$"
_AFTER_VERB = (
    r"(?s)^(?:#{4}|(?:(?i-u:answer\b|closest\b)|答案)[^.\n]{0,60}?"
    r"(?:\b(?:is|be|was|are|equals|to)\b|[:=≈]|是|为))\s*(.*)$"
)
_BOXED = (
    r"(?s)^\\f?box(?:ed)?\s*"
    r"\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}"
)
_SENTENCE_END = r"(?s)(?:[.!?;](?:\s.*)?|\n.*)$"
_UP_TO_RESULT = r"(?s)^.*[=≈]"
_IN_PARENTHESES = r"\([^()\n]*\)"
_MOST_OF_A_PHRASE = 100
_TAIL_LENGTH = 600
_LONGEST_NUMBER = 200

_GROUPED_BY_SPACES = re.compile(r"(?<!\d)\d{1,3}(?: \d{3})+(?![\d/])")


def stated_values(responses: pl.DataFrame) -> pl.DataFrame:
    """Value that each response states.

    Args:
        responses: ``row`` (``UInt32``, unique), ``text``, and ``is_number``: whether
            a number is asked for, and not a word or an expression.

    Returns:
        ``row``, ``prediction`` and ``method``, one row for each response that states
        a value, sorted by ``row``. Numbers are in their shortest plain spelling
        ("1234", "29", "0.5", "1/3"), without unit, currency and per cent sign; other
        answers are as written, without formatting marks. ``method`` is "answer_line",
        "announced", "bold" or "closing_number".
    """
    text = responses.select(
        "row",
        "is_number",
        text=pl.col("text")
        .str.replace_all(_ANNOTATION, "")
        .str.replace_many(list(VULGAR_FRACTIONS), list(VULGAR_FRACTIONS.values())),
    )
    found = text.clear().select("row", prediction="text", method="text")
    for read in (_answer_lines, _announced, _bold_numbers, _closing_numbers):
        rest = text.join(found, on="row", how="anti", maintain_order="left")
        found = pl.concat([found, read(rest).filter(pl.col("prediction") != "")])
    return found.sort("row")


def _answer_lines(text: pl.DataFrame) -> pl.DataFrame:
    lines = text.select(
        "row", "is_number", said=pl.col("text").str.extract(_ANSWER_LINE)
    )
    return _values(lines.filter(pl.col("said").is_not_null()), "answer_line")


def _announced(text: pl.DataFrame) -> pl.DataFrame:
    statement = pl.col("statement")
    after = statement.str.extract(_AFTER_VERB).str.strip_chars()
    said = pl.coalesce(
        statement.str.extract(_BOXED), after.str.replace(_SENTENCE_END, "")
    )
    found = statements(text).join(text.select("row", "is_number"), on="row")
    values = _values(
        found.sort("row", "place").with_columns(said=said), "announced"
    ).filter(pl.col("prediction").is_not_null() & (pl.col("prediction") != ""))
    return values.group_by("row", maintain_order=True).last()


def _bold_numbers(text: pl.DataFrame) -> pl.DataFrame:
    bold = pl.col("text").str.extract_all(_BOLD).list.last()
    numeric = text.filter("is_number").with_columns(said=bold)
    return _values(numeric.filter(pl.col("said").is_not_null()), "bold")


def _closing_numbers(text: pl.DataFrame) -> pl.DataFrame:
    tail = plain(pl.col("text").str.strip_chars().str.tail(_TAIL_LENGTH))
    outside = tail.str.replace_all(_IN_PARENTHESES, "")
    tail = pl.when(outside.str.contains(r"\d")).then(outside).otherwise(tail)
    sentences = tail.str.replace_all(r"([.!?])\s+|\n", "$1" + SEPARATOR)
    with_digit = sentences.str.split(SEPARATOR).list.eval(
        pl.element().filter(pl.element().str.contains(r"\d"))
    )
    last = text.filter("is_number").select("row", said=with_digit.list.last())
    result = pl.col("said").str.replace(_UP_TO_RESULT, "")
    is_equation = result.str.contains(r"\d") & pl.col("said").str.contains("[=≈]")
    found = last.filter(pl.col("said").is_not_null()).with_columns(
        said=pl.when(is_equation).then(result).otherwise("said"),
        takes_first=is_equation,
    )
    return _numbers(found, "closing_number")


def _values(found: pl.DataFrame, method: str) -> pl.DataFrame:
    """What was said, as the first number in it or as a phrase."""
    result = pl.col("said").str.replace(_UP_TO_RESULT, "")
    said = pl.when(result.str.contains(r"\d")).then(result).otherwise("said")
    numbers = _numbers(
        found.filter("is_number").with_columns(said=said, takes_first=True), method
    )
    phrase = (
        plain(pl.col("said")).str.replace(_SENTENCE_END, "").str.strip_chars(" \"'")
    )
    phrases = found.filter(~pl.col("is_number")).select(
        "row",
        prediction=pl.when(phrase.str.len_chars() <= _MOST_OF_A_PHRASE).then(phrase),
        method=pl.lit(method),
    )
    return pl.concat([numbers, phrases]).sort("row", maintain_order=True)


def _numbers(found: pl.DataFrame, method: str) -> pl.DataFrame:
    """First or last number of each text, in its shortest spelling."""
    said = (
        plain(pl.col("said"))
        .str.replace_all(r"\{,\}|,\\!", ",")
        .str.replace_all(r"\\[$%]|\*", "")
        .str.replace_all(_TIME, " ")
        .str.replace_all(_OPERATION, "$1 ~ ")
    )
    tokens = said.str.extract_all(_NUMBER)
    token = (
        pl.when("takes_first").then(tokens.list.first()).otherwise(tokens.list.last())
    )
    read = found.select("row", token=token).filter(pl.col("token").is_not_null())
    written = read["token"].unique().sort().to_list()
    spellings = [_canonical(token) for token in written]
    prediction = pl.col("token").replace_strict(
        written, spellings, return_dtype=pl.String
    )
    return read.select("row", prediction=prediction, method=pl.lit(method))


def _canonical(token: str) -> str | None:
    if len(token) > _LONGEST_NUMBER:
        return None
    token = re.sub("[$€£,]", "", token).strip()
    token = _GROUPED_BY_SPACES.sub(lambda match: match[0].replace(" ", ""), token)
    value = value_of(normal_answer(token))
    if value is None:
        return None
    is_fraction = "/" in token or "frac" in token
    return str(value) if is_fraction else canonical_number(value)
