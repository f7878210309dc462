r"""Letters of the options that responses state.

A letter counts where the response announces it ("the answer is (B)", ``\boxed{B}``,
"the closest option is B"); the last announcement that says something decides. Only
where none does, weaker signs are read: a sentence that calls an option right, a
response that is nothing but an option, a closing sentence that ends in the words of
one option. A letter is never guessed: words that begin with one, several letters at
once, and letters that the item does not have are not answers.
"""

from string import ascii_uppercase

import polars as pl

from skillmap.extraction.statements import plain, statements

CHOICE_SCHEMA = pl.Schema(
    {"row": pl.UInt32(), "prediction": pl.String(), "method": pl.String()}
)

_VERB = r"(?:\b(?:is|be|was|are)\b|[:=→]|是|为)"
_FILLER = (
    r"(?:[\s,>-]|\b(?i:clearly|therefore|thus|likely|probably|most|actually|option|"
    r"choice|letter|statement|answer|the|correct|best|closest|to|indeed|simply|either)"
    r"\b|选项){0,12}"
)
_OPENING = r"[(\[{<\"'“]{0,4}"
_LETTER = r"([A-Za-z])((?:[^A-Za-z0-9'’_](?s:.)*)?)$"
# Announcement, words up to the verb, brackets, the letter, what follows it.
_AFTER_VERB = rf"^([^.:=\n]{{0,90}}?){_VERB}{_FILLER}\s*({_OPENING})\s*{_LETTER}"
_AT_ONCE = rf"^(?i:answers?)(?: choice| option)?\s+([(\[])\s*{_LETTER}"
_IN_BOX = rf"^\\f?box(?:ed)?\s*(\{{{_OPENING})\s*(?i:option |choice )?{_LETTER}"

_CLOSES_BRACKET = r"^\s*[)\]}>.:,\"'”]"
_ENDS_LETTER = (
    r"^(?:\s*[.):,;!?}\n。，]|\s*$|\s+(?:because|since|as|due|which|based|with|and|or|for|"
    r"is the)\b|\s+[-–—(])"
)
_ENDS_LINE = r"^[.)}]?\s*(?:\n|$)"
_MORE_LETTERS = (
    r"^\s*[)\]}]?\s*(?:(?:,\s*)?(?:and|or)\s+|[,&/+]\s*(?:and |or )?)(?:option |choice )?"
    r"(?:[(\[{][A-Za-z][)\]}]|[A-HJ-Z](?:[,.;)\]}&/]|\s+(?:and|or)\b|\s*$))"
)
_IS_REJECTED = (
    r"^\W{0,3}\s*(?:is|was|seems|would be|can be)\s+"
    r"(?:not|in|wrong|clearly not|eliminated|ruled)"
)
# "J. Smith": a letter and at most three words are a name, or an option's own text.
_INITIAL = r"^\.\s*\S+(?:\s+\S+){0,2}\s*$|^\.\s?[A-Z]\."
_NEGATION = r"(?i)\b(?:not|cannot|never|neither|nor|if|than|unless)\b|n['’]t\b"
_NO_ANSWER = (
    r"(?i)^[^.\n]{0,80}?\b(?:none of|not (?:listed|among|in\b|available|given|"
    r"provided|here|one of|an? (?:option|choice)|present|included|possible)|cannot|"
    r"can['’]t|could not|unable|insufficient|indeterminate|undetermined|impossible|"
    r"unknown|N/A)"
)
_VERDICT = (
    r"(?:\b(?:[Oo]ptions?|[Cc]hoices?|[Aa]nswers?|[Ss]tatement)\s+\(?|\()([A-Z])\)?"
    r"(?:\s*[:,][^.\n]{1,80}[,:]?)?\s+(?:is|would be|seems|appears|must be)(?: to be)?"
    r"\s(?:the |a |most |therefore |thus |clearly |likely |an )*"
    r"(?:correct|right|best|closest|accurate|appropriate|answer)\b"
)
_CHOSEN = (
    r"(?:(?i-u:\b(?:choose|select|pick|go with|opt for|chosen))\s+(?:the\s+)?"
    r"(?:[Oo]ption|[Cc]hoice|[Aa]nswer)?\s*\(?([A-Z])(?:[).:,;]|\s*$|\s*\n)|"
    r"(?:选项|选择|选)\s*[是为：:]?\s*[(（]?([A-Z])(?:[^A-Za-z]|$))"
)
_LETTERED_LINE = r"(?m)^[ \t>#-]{0,6}(?:[Oo]ption |[Cc]hoice )?(?:\(([A-Z])\)|([A-Z])(?:[).:]|[ \t]*$))"


def stated_letters(responses: pl.DataFrame) -> pl.DataFrame:
    """Letter that each response states.

    Args:
        responses: ``row`` (``UInt32``, unique), ``text`` and ``choices`` (the
            options' texts, first one "A"; at most 26 count).

    Returns:
        ``CHOICE_SCHEMA``, one row for each response that states an option, by
        ``row``. ``method`` tells how: "announced", "announced_text" (an option's
        words instead of its letter), "verdict", "only_option", "closing_text".
    """
    known = responses.with_columns(n=pl.col("choices").list.len().clip(0, 26))
    announced = _announced(known)
    decided = announced.filter(pl.col("prediction").is_not_null())
    rest = known.join(announced, on="row", how="anti", maintain_order="left")
    named = _announced_texts(announced.filter("is_open"), known)
    return decided.select("row", "prediction", "method")


def _announced(known: pl.DataFrame) -> pl.DataFrame:
    """The last statement of each text that decides, and what it decides."""
    found = statements(known.select("row", "text")).with_columns(
        _parts(pl.col("statement"))
    )
    return found
