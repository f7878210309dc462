r"""Letters of the options that responses state.

A letter counts where the response announces it ("the answer is (B)", ``\boxed{B}``,
"the closest option is B"); the last announcement that says something decides. Only
where none does, weaker signs are read: a sentence that calls an option right, a
response that is nothing but an option, a last sentence that ends in the words of one
option. A letter is never guessed: words that begin with one, several letters at once,
and letters that the item does not have are not answers.
"""

from string import ascii_uppercase

import polars as pl

from skillmap.extraction.choice_hints import closing_options, lettered_lines, verdicts
from skillmap.extraction.option_texts import letter_of_text
from skillmap.extraction.statements import statements

LETTERS_SCHEMA = pl.Schema(
    {"row": pl.UInt32(), "prediction": pl.String(), "method": pl.String()}
)

_VERB = r"(?:\b(?:is|be|was|are)\b|[:=→]|是|为)"
_FILLER = (
    r"(?:[\s,>}-]|\b(?i:clearly|therefore|thus|likely|probably|most|actually|option|"
    r"choice|letter|statement|answer|the|correct|best|closest|to|indeed|simply)\b|"
    r"选项){0,12}"
)
_OPENING = r"[(\[{<\"'“]{0,4}"
# The letter, and all that follows it, which must not go on with the same word.
_LETTER = r"([A-Za-z])((?:[^A-Za-z0-9'\x{2019}_](?s:.)*)?)$"
_AFTER_VERB = rf"^[^.:=\n]{{0,90}}?{_VERB}{_FILLER}\s*({_OPENING})\s*{_LETTER}"
_AT_ONCE = rf"^(?i:answers?)(?: choice| option)?\s+([(\[])\s*{_LETTER}"
_CLOSEST_TO = rf"^(?i:closest)[a-z ]{{0,20}}? to{_FILLER}\s*({_OPENING})\s*{_LETTER}"
_IN_BOX = rf"^\\f?box(?:ed)?\s*(\{{{_OPENING})\s*(?i:option |choice )?{_LETTER}"

_AFTER_ANNOUNCEMENT = (_AFTER_VERB, _CLOSEST_TO, _AT_ONCE)

_CLOSES_BRACKET = r"^\s*(?:[)\]}>.:,\"'”]|$)"
# "(d) 5 m" may be a part of the question; "(d)." is an answer.
_CLOSES_SENTENCE = r"^\s*\)\s*(?:[.,;\n]|$)"
_ENDS_LETTER = (
    r"^(?:\s*[.):,;!?}\n。\x{ff0c}]|\s*$|\s+(?:because|since|as|due|which|based|with|and|or|"
    r"for|is the)\b|\s+[-\x{2013}—(])"
)
_ENDS_LINE = r"^[.)}]?\s*(?:\n|$)"
_MORE_LETTERS = (
    r"^\s*[)\]}]?\s*(?:(?:,\s*)?(?:and|or)\s+|[,&/+]\s*(?:and |or )?)"
    r"(?:option |choice )?"
    r"(?:[(\[{][A-Za-z][)\]}]|[A-HJ-Z](?:[,.;)\]}&/]|\s+(?:and|or)\b|\s*$))"
)
_IS_REJECTED = (
    r"^\W{0,3}\s*(?:is|was|seems|would be|can be)\s+"
    r"(?:not|in|wrong|clearly not|eliminated|ruled)"
)
# "I, II and III" are parts of the question, which options combine.
_NUMERALS = r"^\s*(?:,|and\b|or\b|&)\s*(?:and |or )?[IVX]{2,4}\b"
# "J. Smith": a letter and at most three words are a name, or an option's own text.
_INITIAL = r"^\.\s*\S+(?:\s+\S+){0,2}\s*$|^\.\s?[A-Z]\."
_NO_TEXT = (
    r"^\\f?boxed[^\n]{0,80}?\}\W{0,3}\s*is (?:incorrect|not|wrong)|"
    r"^(?i:answer choices?|answers)\b|"
    r"\b(?:but|which|however),? (?:this |it |that )?(?:is|are) not\b"
)
_WORDS = rf"(?s)^[^.:=\n]{{0,90}}?{_VERB}\s*[(]?(.*)$"
_SENTENCE_END = (
    r"(?s)(?:[^A-Z]\.\s|\)?\.?\s*$|\n|;|,\s(?:which|so|because|but|since|as)\b).*$"
)
_BOXED = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
_NO_ANSWER = (
    r"(?i)^no\b|^[^.\n]{0,80}?\b(?:none of|not (?:listed|among|in\b|available|given|"
    r"provided|here|one of|an? (?:option|choice)|present|included|possible)|cannot|"
    r"can['\x{2019}]t|could not|unable|insufficient|indeterminate|undetermined|"
    r"impossible|unknown|N/A)"
)


def stated_letters(responses: pl.DataFrame) -> pl.DataFrame:
    """Letter that each response states.

    Args:
        responses: ``row`` (``UInt32``, unique), ``text`` and ``choices``, the
            options' texts, of which the first is "A" and at most 26 count.

    Returns:
        ``LETTERS_SCHEMA``, one row for each response that states an option, sorted by
        ``row``. ``method`` is "announced", "announced_text" (an option's words in
        place of its letter), "verdict", "lettered_line" or "closing_option".
    """
    announced = _last_announcements(responses)
    denied = announced.filter(pl.col("method") == "denied")
    # A response that says that no option fits may still call one the best; its
    # closing words are no answer.
    open_rows = responses.join(announced, on="row", how="anti", maintain_order="left")
    unanswered = pl.concat(
        [open_rows, responses.join(denied, on="row", how="semi", maintain_order="left")]
    )
    found = [announced, verdicts(unanswered)]
    for sign in (lettered_lines, closing_options):
        open_rows = open_rows.join(
            found[-1], on="row", how="anti", maintain_order="left"
        )
        found.append(sign(open_rows))
    letters = pl.concat([part.select("row", "letter", "method") for part in found])
    options = responses.select("row", n_options=pl.col("choices").list.len())
    return (
        letters.join(options, on="row", maintain_order="left")
        .select("row", _letter_in_range(), "method")
        .filter(pl.col("prediction").is_not_null())
        .sort("row")
    )


def _last_announcements(responses: pl.DataFrame) -> pl.DataFrame:
    """Last decisive statement of each text; one that denies has no letter."""
    parted = (
        statements(responses)
        .with_columns(
            parts=pl.when(_is_box())
            .then(_parts(_IN_BOX))
            .otherwise(pl.coalesce(map(_parts, _AFTER_ANNOUNCEMENT)))
        )
        .unnest("parts")
        .with_columns(is_letter=_is_letter(), has_more=_has_more())
    )
    options = responses.select("row", "choices")
    texts = letter_of_text(
        parted.filter(
            ~pl.col("is_letter") & ~pl.col("statement").str.contains(_NO_TEXT)
        )
        .join(options, on="row", maintain_order="left")
        .select("row", "place", "choices", said=_said())
    )
    letter = pl.when(~pl.col("has_more")).then("letter")
    return (
        parted.join(texts, on=["row", "place"], how="left", maintain_order="left")
        .select(
            "row",
            letter=pl.when("is_letter").then(letter).otherwise("by_text"),
            method=pl.when("is_letter")
            .then(pl.lit("announced"))
            .when(pl.col("by_text").is_not_null())
            .then(pl.lit("announced_text"))
            .when(pl.col("statement").str.contains(_NO_ANSWER))
            .then(pl.lit("denied")),
        )
        .filter(pl.col("method").is_not_null())
        .group_by("row", maintain_order=True)
        .last()
    )


def _is_box() -> pl.Expr:
    return pl.col("statement").str.starts_with("\\")


def _parts(pattern: str) -> pl.Expr:
    groups = pl.col("statement").str.extract_groups(pattern)
    parts = groups.struct.rename_fields(["opening", "letter", "rest"])
    return pl.when(parts.struct.field("letter").is_not_null()).then(parts)


def _is_letter() -> pl.Expr:
    """Whether a statement says a letter, or several.

    One that the item does not have is said too: it decides that there is no answer.
    """
    rest, opening = pl.col("rest"), pl.col("opening")
    in_brackets = (opening != "") & rest.str.contains(_CLOSES_BRACKET)
    bare = (opening == "") & rest.str.contains(_ENDS_LETTER)
    bare &= ~rest.str.contains(_INITIAL) & ~rest.str.contains(_NUMERALS)
    small = opening.str.contains("(", literal=True)
    small &= rest.str.contains(_CLOSES_SENTENCE)
    small |= (opening == "") & rest.str.contains(_ENDS_LINE)
    is_capital = pl.col("letter").str.contains("[A-Z]")
    says = pl.when(is_capital).then(in_brackets | bare).otherwise(small)
    return (says & ~rest.str.contains(_IS_REJECTED)).fill_null(value=False)


def _has_more() -> pl.Expr:
    return pl.col("rest").str.contains(_MORE_LETTERS).fill_null(value=False)


def _said() -> pl.Expr:
    """What a statement says in words: to the end of the sentence, or of the box."""
    sentence = pl.col("statement").str.extract(_WORDS).str.strip_chars()
    sentence = sentence.str.replace(_SENTENCE_END, "")
    return (
        pl.when(_is_box())
        .then(pl.col("statement").str.extract(_BOXED))
        .otherwise(sentence)
    )


def _letter_in_range() -> pl.Expr:
    """The letter in upper case; null where the item has no such option."""
    upper = pl.col("letter").str.to_uppercase()
    place = upper.replace_strict(
        list(ascii_uppercase), range(26), default=None, return_dtype=pl.Int64
    )
    return pl.when(place < pl.col("n_options")).then(upper).alias("prediction")
