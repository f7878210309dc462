"""What became of each response, read again from its text."""

import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.extraction.arithmetic import FULL_WIDTH, value_of
from skillmap.extraction.choices import stated_letters
from skillmap.extraction.equality import answers_equal, normal_answer
from skillmap.extraction.numbers import stated_values
from skillmap.extraction.option_texts import letter_of_text

EXTRACTION_SCHEMA = pl.Schema(
    {"prediction": pl.String(), "outcome": pl.String(), "method": pl.String()}
)
_RIGHT_SCHEMA = pl.Schema(
    {
        "row": pl.UInt32(),
        "prediction": pl.String(),
        "method": pl.String(),
        "is_right": pl.Boolean(),
    }
)

_REQUIRED = ("response", "choices", "answer", "finish_reason")
# As lm-eval, Inspect, and the interfaces of model hosts name them.
_CUT_OFF = ("length", "max_tokens", "model_length", "max_output_tokens")
_FILTERED = ("content_filter", "refusal", "safety")

_THOUGHT = r"(?is)^.*</think(?:ing)?>"
_OPEN_THOUGHT = r"(?is)<think(?:ing)?>.*$"
# A model that goes on to a question of its own is past its answer.
_NEXT_QUESTION = r"(?s)\n\s{0,8}(?:Question|Q)\s?\d{0,4}:.*$"
_ANNOUNCES = r"(?i-u:\banswer)[^\n]{0,80}(?:is|:)|####|\\boxed|(?m:^\s{0,8}A:)"
# A closed bracket does not go on, anything else may.
_LAST_WORD = r"\S*[^\s)\]}*]$"
_LETTER = r"^\(?([A-Za-z])\)?\.?$"

_CANNOT = (
    r"(?:can ?not|can['\x{2019}]t|could(?: not|n['\x{2019}]t)|will not|won['\x{2019}]t|"
    r"(?:must )?decline to|(?:am|['\x{2019}]m|are) "
    r"(?:not able|unable|not going|not allowed|not permitted) to)"
)
_HELPS = (
    r"(?:assist|help|answer|provide|comply|fulfil|respond|engage|continue|discuss|"
    r"create|do (?:that|this|so)|complete|share|support|participate|generate|offer|"
    r"give|write|process|proceed)"
)
_REFUSAL = (
    r"(?i)^\W{0,5}(?:(?:(?:i['\x{2019}]?m|i am|we are)(?: \w{1,9})? (?:sorry|afraid)|"
    r"sorry|i (?:do )?apologi[sz]e|(?:my )?apologies|"
    r"as an? (?:ai|artificial|language))\b[^\n]{0,200}?|"
    r"(?:unfortunately,? )?(?:i|we) ?)"
    rf"{_CANNOT}(?: \w{{1,12}})? {_HELPS}\b|"
    r"^\W{0,5}(?:对不起|抱歉|很抱歉)[^\n]{0,60}(?:无法|不能)|"
    r"^\W{0,5}(?:我无法|我不能)(?:回答|提供|协助)"
)


def extract(responses: pl.DataFrame) -> pl.DataFrame:
    r"""Answer that each response states, and what became of it.

    Only the text after the last ``</think>`` is read. A response that was cut off
    is read but for its last word, which may go on: "12" of "125".

    Args:
        responses: ``response`` (null where nothing is known of it), ``choices`` (the
            options' texts; null or empty where there are none), ``answer`` (the gold
            letter, "(B)" or an option's text with options; else a number or other
            short text; null for none) and ``finish_reason`` (such as "stop" and
            "length"; null where not known).

    Returns:
        ``EXTRACTION_SCHEMA``, a row for each response in its order. ``outcome`` is:

        - "correct" or "wrong" for a stated answer, "unscored" without a gold one;
        - "truncated" without an answer and cut off, in thought or by its length;
        - "empty" for no text; "unscored" where it is null and nobody says why;
        - "refusal" for a text that opens with one and states no answer;
        - "unparsed" for any other text without one answer that counts.

        ``prediction`` is a letter or a plain value, ``method`` how it was read; both
        null without an answer.

    Raises:
        InvalidInputError: If a column is missing.

    Examples:
        >>> said = ["It is late. The answer is (B).", "(A and B)", " "]
        >>> responses = pl.DataFrame(
        ...     {
        ...         "response": said,
        ...         "choices": [["Rome", "Paris"]] * 3,
        ...         "answer": ["B"] * 3,
        ...         "finish_reason": [None] * 3,
        ...     },
        ...     schema_overrides={"finish_reason": pl.String},
        ... )
        >>> extract(responses)["outcome"].to_list()
        ['correct', 'unparsed', 'empty']
    """
    missing = [name for name in _REQUIRED if name not in responses.columns]
    if missing:
        raise InvalidInputError(
            f"extract: responses must have {', '.join(_REQUIRED)}: "
            f"{len(missing)} missing, first {missing[0]!r}"
        )
    known = _readable(responses)
    has_options = pl.col("choices").list.len() > 0
    lettered, free = known.filter(has_options), known.filter(~has_options)
    read = [_RIGHT_SCHEMA.to_frame()]
    if not lettered.is_empty():
        gold = _gold_letters(lettered)
        read.append(_with_right(lettered, stated_letters(lettered), gold))
    if not free.is_empty():
        read.append(_with_right(free, stated_values(free), free["answer"]))
    return known.join(pl.concat(read), on="row", maintain_order="left").select(
        "prediction", _outcome(), "method"
    )


def _readable(responses: pl.DataFrame) -> pl.DataFrame:
    """The part of each response that counts, and what is known of the whole."""
    plain_signs = pl.col("response").str.replace_many(
        list(FULL_WIDTH), list(FULL_WIDTH.values())
    )
    said = plain_signs.str.replace(_THOUGHT, "")
    reason = pl.col("finish_reason").str.to_lowercase()
    is_cut = reason.is_in(_CUT_OFF).fill_null(value=False)
    spoken = _before_next_question(said.str.replace(_OPEN_THOUGHT, ""))
    return responses.select(
        pl.int_range(pl.len(), dtype=pl.UInt32).alias("row"),
        pl.col("choices").fill_null([]).list.eval(pl.element().fill_null("")),
        pl.col("answer").str.strip_chars(),
        text=pl.when(is_cut)
        .then(spoken.str.replace(_LAST_WORD, ""))
        .otherwise(spoken)
        .fill_null(""),
        is_number=_are_numbers(responses["answer"].str.strip_chars()),
        is_cut=is_cut | said.str.contains(_OPEN_THOUGHT).fill_null(value=False),
        is_filtered=reason.is_in(_FILTERED).fill_null(value=False),
        is_unknown=pl.col("response").is_null() & reason.is_null(),
    )


def _before_next_question(text: pl.Expr) -> pl.Expr:
    before = text.str.replace(_NEXT_QUESTION, "")
    return pl.when(before.str.contains(_ANNOUNCES)).then(before).otherwise(text)


def _are_numbers(answers: pl.Series) -> pl.Series:
    """Whether each gold answer is a number; without one, any short text is read."""
    known = answers.unique().drop_nulls().sort().to_list()
    kinds = [value_of(normal_answer(answer)) is not None for answer in known]
    return answers.replace_strict(known, kinds, default=False, return_dtype=pl.Boolean)


def _gold_letters(lettered: pl.DataFrame) -> pl.Series:
    """Gold answers as letters, where they are letters or the text of one option."""
    by_text = letter_of_text(
        lettered.select("row", "choices", said="answer"), exactly=True
    )
    letter = pl.col("answer").str.extract(_LETTER).str.to_uppercase()
    return (
        lettered.join(by_text, on="row", how="left", maintain_order="left")
        .select(pl.coalesce(letter, "by_text"))
        .to_series()
    )


def _with_right(
    known: pl.DataFrame, stated: pl.DataFrame, gold: pl.Series
) -> pl.DataFrame:
    """Predictions, and whether each is right: null without a gold answer."""
    rows = known.select("row", gold=gold).join(
        stated, on="row", how="left", maintain_order="left"
    )
    differing = (
        rows.filter(pl.col("prediction") != pl.col("gold"), ~_is_one_letter())
        .select("prediction", "gold")
        .unique()
        .sort("prediction", "gold")
    )
    same = [answers_equal(*pair) for pair in differing.rows()]
    equal = differing.with_columns(is_equal=pl.Series(same, dtype=pl.Boolean))
    is_equal = pl.col("is_equal").fill_null(value=False)
    return rows.join(
        equal, on=["prediction", "gold"], how="left", maintain_order="left"
    ).select(
        "row",
        "prediction",
        "method",
        is_right=(pl.col("prediction") == pl.col("gold")) | is_equal,
    )


def _is_one_letter() -> pl.Expr:
    return pl.col("prediction").str.contains("^[A-Z]$")


def _outcome() -> pl.Expr:
    is_empty = pl.col("text").str.strip_chars() == ""
    return (
        pl.when(pl.col("prediction").is_not_null() & pl.col("is_right").is_null())
        .then(pl.lit("unscored"))
        .when("is_right")
        .then(pl.lit("correct"))
        .when(pl.col("prediction").is_not_null())
        .then(pl.lit("wrong"))
        .when("is_cut")
        .then(pl.lit("truncated"))
        .when("is_unknown")
        .then(pl.lit("unscored"))
        .when(pl.col("is_filtered") | pl.col("text").str.contains(_REFUSAL))
        .then(pl.lit("refusal"))
        .when(is_empty)
        .then(pl.lit("empty"))
        .otherwise(pl.lit("unparsed"))
        .alias("outcome")
    )
