"""Hashes of what an item says, so that a changed item is noticed.

Two hashes: the *content hash* covers question, options and reference answer and
tells whether a result was made for this very item; the *question hash* covers the
question alone and finds items by their text.
"""

import hashlib

import polars as pl

# Unit separator and record separator: no text of an item holds them once
# normalised, so joined parts cannot be confused ("ab" + "c" against "a" + "bc").
_BETWEEN_PARTS = "\x1f"
_BETWEEN_CHOICES = "\x1e"
_SPACE_OR_SEPARATORS = r"[\s\x1e\x1f]+"


def normalised_text(text: pl.Expr) -> pl.Expr:
    r"""Text with case, Unicode form and white space evened out.

    Enough to see through re-encoding and re-wrapping, and no more: punctuation,
    digits and word order stay, since they change what is asked.

    Args:
        text: A string expression; null stays null.

    Returns:
        A string expression.

    Examples:
        >>> pl.select(normalised_text(pl.lit("  Ｗhat\n is  ½ of 4? "))).item()
        'what is 1⁄2 of 4?'
    """
    # Lower case twice: some letters compose only in lower case (a J with a caron), and
    # some signs are capitals only once taken apart (one square sign for "KB").
    return (
        text.str.to_lowercase()
        .str.normalize("NFKC")
        .str.to_lowercase()
        .str.replace_all(_SPACE_OR_SEPARATORS, " ")
        .str.strip_chars(" ")
    )


def with_content_hashes(items: pl.DataFrame) -> pl.DataFrame:
    """``items`` with the columns ``content_hash`` and ``question_hash`` added.

    Args:
        items: Has ``question`` (text), ``choices`` (list of text, empty for a free
            form item) and ``answer`` (text); any other columns are kept.

    Returns:
        The same rows in the same order. Hashes are 32 hexadecimal characters, the
        first half of SHA-256. An item without a question has neither hash: nothing
        can be said about its content.
    """
    question = normalised_text(pl.col("question"))
    choices = normalised_choices(pl.col("choices"))
    answer = normalised_text(pl.col("answer")).fill_null("")
    return items.with_columns(
        _hash(pl.concat_str(question, choices, answer, separator=_BETWEEN_PARTS)).alias(
            "content_hash"
        ),
        _hash(question).alias("question_hash"),
    )


def normalised_options(choices: pl.Expr) -> pl.Expr:
    """The options as a list of normalised texts, an unknown one as ""."""
    return choices.list.eval(normalised_text(pl.element()).fill_null(""))


def normalised_choices(choices: pl.Expr, *, sort: bool = False) -> pl.Expr:
    """The options as one text, in their order or sorted; "" where there are none."""
    each = normalised_options(choices)
    ordered = each.list.sort() if sort else each
    return ordered.list.join(_BETWEEN_CHOICES).fill_null("")


def _hash(text: pl.Expr) -> pl.Expr:
    return text.map_batches(_sha256_of_each, return_dtype=pl.String)


def _sha256_of_each(texts: pl.Series) -> pl.Series:
    # Polars' own hash changes between releases, and these are stored for years.
    digests = [
        None if text is None else hashlib.sha256(text.encode()).hexdigest()[:32]
        for text in texts
    ]
    return pl.Series(texts.name, digests, dtype=pl.String)
