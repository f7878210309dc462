"""Weaker signs of the option a response chose, where it announces no answer."""

import polars as pl

from skillmap.extraction.option_texts import letter_beside_text, letter_of_text
from skillmap.extraction.statements import plain

_VERDICT = (
    r"((?i-u:\b(?:if|whether)\s+)?)"
    r"(?:\b(?:[Oo]ptions?|[Cc]hoices?|[Aa]nswers?|[Ss]tatement)\s+\(?|\()([A-Z])\)?"
    r"(?:\s*[:,][^.\n]{1,80}[,:]?)?\s+(?:is|would be|seems|appears|must be)(?: to be)?"
    r"\s(?:the |a |most |therefore |thus |clearly |likely |an ){0,4}"
    r"(?:correct|right|best|closest|accurate|appropriate|answer)\b"
)
_CHOSEN = (
    r"((?i-u:\b(?:if|whether|not|never|n't)\s+(?:\w+\s+)?)?)"
    r"(?i-u:\b(?:choose|select|pick|go with|opt for)\s+(?:the\s+)?"
    r"(?:option|choice|answer)?)\s*\(?([A-Z])(?:[).:,;]|\s*$|\s*\n)"
)
_CHINESE = r"(不?)(?:选项|选择|故选|应选|答案)\s*[是为:]?\s*[(]?([A-Z])(?:[^A-Za-z]|$)"
_LETTERED_LINE = (
    r"(?m)^[ \t>#*-]{0,6}(?:[Oo]ption |[Cc]hoice )?"
    r"(?:[(\[]([A-Za-z])[)\]]|([A-Z])(?:[*_]{0,2}[).:]|[*_ \t]*$))(.*)$"
)
_ENDS_IN_A_LETTER = (
    r"(?:^|[.:!?)*]\s*\n)\W{0,8}(?:[Oo]ption |[Cc]hoice )?[A-Za-z]\W{0,4}$"
)
_VERB = r"(?:\b(?:is|be|was|are)\b|[:=≈])"
_ENDING = rf"(?s)^.*{_VERB}\s*(.{{1,160}}?)[.!]?\s*$"
_LAST_SENTENCE = r"([^.!?]{1,300})[.!?\s]*$"
_CLOSING_LETTER = r"\b(?:[Oo]ption|[Cc]hoice)\s+\(?([A-Z])\)?\s*$"
_LETTER_AFTER_VERB = r"\b(?:is|are|be)\s+\(([A-Z])\)"
_IN_BRACKETS = r"\([A-Z]\)"
_DOUBT = r"(?i)\b(?:not|nor|or|rather|if|incorrect|wrong)\b|n't\b"
_UNDECIDED = (
    r"(?i)\b(?:cannot|none of|unable|insufficient|not listed)\b|"
    r"n't (?:be|choose|select)\b|"
    r"\([A-J]\)?,? (?:and|or) \(?[A-J]\)"
)
_CONCLUDES = (
    r"(?i)\b(?:therefore|thus|hence|so|in conclusion|finally)\b"
    r"(?:[^.]|\.\d)*\.?\s*$"
)
_ENDS_IN_A_LIST = r"[^:\s]\s*\n[ \t>#*-]{0,6}(?:\([A-Z]\)|[A-Z][).:])[^\n]*$"
_TAIL_LENGTH = 400
_SHORT = 600
_ENDS_PROPERLY = r"[.!)\]}]\s*$"
_MOST_IN_A_LONE_LINE = 300


def verdicts(responses: pl.DataFrame) -> pl.DataFrame:
    """Options that a sentence calls right, or chooses.

    Args:
        responses: ``row`` and ``text``.

    Returns:
        ``row``, ``letter`` and ``method``, for the responses that speak so of an
        option; the letter is null where they speak so of several.
    """
    letters = [
        pl.col("text").str.extract_all(pattern).list.eval(_unconditional(pattern))
        for pattern in (_VERDICT, _CHOSEN, _CHINESE)
    ]
    chosen = pl.concat_list(letters).list.drop_nulls().list.unique()
    only = pl.when(chosen.list.len() == 1).then(chosen.list.first())
    return responses.filter(chosen.list.len() > 0).select(
        "row", letter=only, method=pl.lit("verdict")
    )


def lettered_lines(responses: pl.DataFrame) -> pl.DataFrame:
    """Options that a response consists of, or ends in: a letter on its own line.

    More than one line that opens with a letter is a list, which states nothing.

    Args:
        responses: ``row``, ``text`` and ``choices``.

    Returns:
        ``row``, ``letter`` and ``method``, for the responses that have one.
    """
    text = pl.col("text").str.strip_chars()
    line = text.str.extract_groups(_LETTERED_LINE)
    found = (
        responses.filter(text.str.count_matches(_LETTERED_LINE) == 1)
        .with_columns(parts=line.struct.rename_fields(["round", "plain", "after"]))
        .unnest("parts")
        .with_columns(
            letter=pl.coalesce("round", "plain"),
            after=pl.col("after").str.strip_chars(" *_\t\r."),
        )
    )
    options = letter_of_text(found.select("row", "choices", said="after"))
    alone = pl.col("after").str.len_chars() == 0
    is_whole = ~text.str.contains("\n", literal=True) & (
        text.str.len_chars() <= _MOST_IN_A_LONE_LINE
    )
    is_last = text.str.contains(_ENDS_IN_A_LETTER)
    # "B. Rome:" opens the discussion of an option.
    is_heading = pl.col("after").str.ends_with(":")
    fits = pl.col("by_text").str.to_uppercase() == pl.col("letter").str.to_uppercase()
    return (
        found.join(options, on="row", how="left", maintain_order="left")
        .filter(
            ~is_heading
            & ((is_whole & pl.col("by_text").is_null()) | fits | (alone & is_last))
        )
        .select("row", "letter", method=pl.lit("lettered_line"))
    )


def closing_options(responses: pl.DataFrame) -> pl.DataFrame:
    """Options that the last line of a response names.

    It names one by ending in "option B", by its letter and its words side by side, or
    by ending in its words alone after a verb or "=". Words alone count only in a
    short response or after a word such as "therefore": in a long one they may be
    where it was cut off.

    Args:
        responses: ``row``, ``text`` and ``choices``.

    Returns:
        ``row``, ``letter`` and ``method``, for the responses that name one so.
    """
    text = pl.col("text").str.strip_chars()
    line = plain(text.str.tail(_TAIL_LENGTH).str.split("\n").list.last())
    is_list = text.str.contains(_ENDS_IN_A_LIST)
    is_list &= text.str.count_matches(_LETTERED_LINE) > 1
    last = responses.with_columns(line=line).filter(
        text.str.contains(_ENDS_PROPERLY)
        & ~is_list
        & ~pl.col("line").str.contains(_UNDECIDED)
    )
    by_letter = last.select(
        "row", letter=_letter_of_sentence(pl.col("line").str.extract(_LAST_SENTENCE))
    )
    beside = letter_beside_text(last.select("row", "choices", said="line"))
    is_conclusion = text.str.len_chars() <= _SHORT
    is_conclusion |= pl.col("line").str.contains(_CONCLUDES)
    by_text = letter_of_text(
        last.filter(is_conclusion).select(
            "row", "choices", said=pl.col("line").str.extract(_ENDING)
        ),
        exactly=True,
    )
    found = [part.rename({"by_text": "letter"}) for part in (beside, by_text)]
    return (
        pl.concat([by_letter, *found])
        .filter(pl.col("letter").is_not_null())
        .group_by("row", maintain_order=True)
        .first()
        .with_columns(method=pl.lit("closing_option"))
    )


def _letter_of_sentence(sentence: pl.Expr) -> pl.Expr:
    """Letter that a sentence ends in, or that is the only one in its brackets."""
    only = sentence.str.count_matches(_IN_BRACKETS) == 1
    letter = pl.coalesce(
        sentence.str.extract(_CLOSING_LETTER),
        pl.when(only).then(sentence.str.extract(_LETTER_AFTER_VERB)),
    )
    return pl.when(~sentence.str.contains(_DOUBT)).then(letter)


def _unconditional(pattern: str) -> pl.Expr:
    """Letter of a match, unless it follows "if" or a negation."""
    groups = pl.element().str.extract_groups(pattern)
    condition, letter = groups.struct.field("1"), groups.struct.field("2")
    return pl.when(condition == "").then(letter)
