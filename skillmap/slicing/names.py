"""One spelling per skill phrase, and short ids out of names.

Annotators write the same skill as ``**Molar mass**``, ``and molar mass.`` and
``molar  mass``. These differences are evened out here, before anything is embedded.
Differences of wording are left to the clusters.
"""

import hashlib
import re
import unicodedata
from typing import Final

import polars as pl

# Sharp s and final sigma: lower case alone leaves them apart from their upper case.
_CASE_FOLDS: Final = {"\u00df": "ss", "\u03c2": "\u03c3"}

# Soft hyphen, zero-width space and joiners, byte order mark: nobody sees them.
_INVISIBLE: Final = r"[\u00AD\u200B-\u200F\u2060\uFEFF]"
_BLANK: Final = r"[\s\p{Cc}]+"

# Quotes of all kinds (low ones are brackets to Unicode), markdown, list marks.
_MARKS: Final = r"""\s"'`\p{Pi}\p{Pf}\u201A\u201E\u00B4*_,;:\u2022\u00B7"""
# A point before a letter belongs to the word (".net"), as do "-" and "#" ("#1", "-1").
_LEADING: Final = rf"^(?:[{_MARKS}]|[\p{{Pd}}#.]+\s|and[\s,;:])+"
_TRAILING: Final = rf"(?:[{_MARKS}.?]|\s[\p{{Pd}}#]+)+$"
_WHOLLY_BRACKETED: Final = r"^[(\[{]([^()\[\]{}]*)[)\]}]$"

_SLUG_WORDS: Final = re.compile("[a-z0-9]+")
_SLUG_LENGTH: Final = 60


def normalised_phrase(phrase: pl.Expr) -> pl.Expr:
    """A skill phrase without the accidents of how it was written down.

    Evens out Unicode form (NFKC), case and white space; takes off quotes, markdown
    stars, list marks and brackets around the whole, a closing full stop, and a leading
    "and", which is what is left of the last entry of a list. Commas, digits and
    symbols inside stay, and so do symbols that belong to a word ("c++", "n!").

    Args:
        phrase: A string expression.

    Returns:
        A string expression. Null stays null, and what has nothing left becomes null.
        The words "null" and "nan" are phrases like any other. Applying it twice
        changes nothing more.

    Examples:
        >>> phrases = pl.Series(["**Molar  mass**", "and OCR.", "«1,000 and 2,000»"])
        >>> pl.select(normalised_phrase(pl.lit(phrases))).to_series().to_list()
        ['molar mass', 'ocr', '1,000 and 2,000']
    """
    folded = (
        phrase.str.normalize("NFKC")
        .str.to_lowercase()
        .str.replace_many(_CASE_FOLDS)
        .str.replace_all(_INVISIBLE, "")
        .str.replace_all(_BLANK, " ")
        .str.normalize("NFKC")
    )
    bare = _without_edges(_without_edges(folded).str.replace(_WHOLLY_BRACKETED, "$1"))
    return pl.when(bare != "").then(bare)


def slug(name: str) -> str:
    """A part of an id: lower-case ASCII words joined by ``-``.

    Two names can have the same slug ("c" and "c++"); whoever makes ids of them has to
    tell them apart.

    Args:
        name: Any text.

    Returns:
        One to 60 characters, whole words as far as they fit. A name without any
        ASCII letter or digit gives the first 12 hexadecimal digits of its SHA-256.

    Examples:
        >>> slug("Naïve Bayes: 1,000 samples"), slug("化学")
        ('naive-bayes-1-000-samples', '0316d311b860')
    """
    ascii_form = unicodedata.normalize("NFKD", name).encode("ascii", "ignore")
    words = _SLUG_WORDS.findall(ascii_form.decode("ascii").lower())
    joined = "-".join(words)
    if len(joined) > _SLUG_LENGTH:
        whole, _, _ = joined[: _SLUG_LENGTH + 1].rpartition("-")
        joined = whole or joined[:_SLUG_LENGTH]
    return joined or short_hash(name)


def short_hash(text: str) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of ``text``."""
    encodable = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(encodable).hexdigest()[:12]


def _without_edges(phrase: pl.Expr) -> pl.Expr:
    return phrase.str.replace(_TRAILING, "").str.replace(_LEADING, "")
