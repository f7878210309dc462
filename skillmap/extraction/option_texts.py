"""Letters of options that are stated in the option's own words."""

from string import ascii_uppercase

import polars as pl

from skillmap.extraction.statements import plain

# Words that may follow an option's text without making it another one: units.
_MOST_WORDS_AFTER = 3
# Above the length of any option.
_EXACT = 2**40
_LEADING_LETTER = r"(?s)^[(\[]?([A-Z])[)\].:]\s*(.*)$"
_WORD_OR_SIGN = r"(\d+(?:\.\d+)?|\p{L}+|[^\s\p{L}\d])"
_OUTER = " .,;:!?\"'“”\u2018\u2019"


def letter_of_text(said: pl.DataFrame, *, exactly: bool = False) -> pl.DataFrame:
    """The one option whose text was said.

    Compared without case, formatting, outer punctuation, articles and thousands
    commas. Words after the option's text are passed over where they are few, as a
    unit is; and a number alone stands for the only option that begins with it. The
    longest option that fits is the one meant.

    Args:
        said: Columns that name the text, and then ``choices`` and ``said``, the text.
            Null and blank texts are no option's.
        exactly: Whether nothing may follow the option's text.

    Returns:
        The naming columns and ``by_text``, a letter; only for texts that are one
        option's and no other's. An option written twice is nobody's.
    """
    keys = [name for name in said.columns if name not in {"choices", "said"}]
    spoken = said.with_columns(
        lead=pl.col("said").str.extract(_LEADING_LETTER),
        bare=_bare(pl.col("said")),
        bare_rest=_bare(pl.col("said").str.extract(_LEADING_LETTER, 2)),
    ).filter(pl.col("bare") != "")
    least = _EXACT if exactly else 1
    ranked = (
        _with_options(spoken)
        .with_columns(strength=_strength())
        .filter(pl.col("strength") >= least)
    )
    best = pl.col("strength") == pl.col("strength").max().over(keys)
    return _only_letter(ranked.filter(best), keys)


def letter_beside_text(texts: pl.DataFrame) -> pl.DataFrame:
    """The one option that a text names by its letter and its words, side by side.

    Args:
        texts: ``row``, ``choices`` and ``said``, such as "it is a B. Electron" or
            "it is the electron (B)".

    Returns:
        ``row`` and ``by_text``, a letter, for texts that so name exactly one option.
    """
    padded = pl.concat_str(pl.lit(" "), _bare(pl.col("said")), pl.lit(" "))
    # Options stand here without their article.
    spoken = texts.with_columns(
        bare=padded.str.replace_all(r" ([.):]) (?:the|an?) ", " $1 ")
    )
    letter = pl.col("letter").str.to_lowercase()
    option = pl.col("option")
    forms = [
        pl.concat_str(pl.lit(" "), letter, pl.lit(f" {mark} "), option, pl.lit(" "))
        for mark in (".", ")", ":")
    ]
    forms.append(pl.concat_str(pl.lit(" "), option, pl.lit(" ( "), letter, pl.lit(" ")))
    is_named = pl.any_horizontal(
        pl.col("bare").str.contains(form, literal=True) for form in forms
    )
    return _only_letter(_with_options(spoken).filter(is_named), ["row"])


def _with_options(spoken: pl.DataFrame) -> pl.DataFrame:
    """One row for each option of each text: its letter, and its text made bare."""
    choice = pl.col("choices").list.head(len(ascii_uppercase))
    return (
        spoken.with_columns(choice=choice)
        .drop("choices", "said")
        .filter(pl.col("choice").list.len() > 0)
        .with_columns(letter=pl.int_ranges(pl.col("choice").list.len()))
        .explode("choice", "letter")
        .with_columns(
            option=_bare(pl.col("choice")),
            letter=pl.col("letter").replace_strict(
                range(len(ascii_uppercase)),
                list(ascii_uppercase),
                return_dtype=pl.String,
            ),
        )
        .filter(pl.col("option") != "")
    )


def _only_letter(fitting: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    return (
        fitting.group_by(keys, maintain_order=True)
        .agg(by_text=pl.col("letter").first(), n=pl.col("letter").n_unique())
        .filter(pl.col("n") == 1)
        .drop("n")
    )


def _strength() -> pl.Expr:
    """How well an option fits what was said; 0 where it does not."""
    bare, option = pl.col("bare"), pl.col("option")
    n_after = bare.str.strip_prefix(option).str.strip_chars(" ").str.count_matches(" ")
    opens = bare.str.starts_with(pl.concat_str(option, pl.lit(" ")))
    is_number = bare.str.contains(r"^[-+]? ?\d[\d. /]*%?$")
    is_opened = option.str.starts_with(pl.concat_str(bare, pl.lit(" ")))
    is_named = (pl.col("lead") == pl.col("letter")) & (pl.col("bare_rest") == option)
    length = option.str.len_chars().cast(pl.Int64)
    return (
        pl.when((bare == option) | is_named.fill_null(value=False))
        .then(pl.lit(_EXACT, dtype=pl.Int64))
        .when(opens & (n_after < _MOST_WORDS_AFTER))
        .then(length + 1)
        .when(is_number & is_opened)
        .then(pl.lit(1, dtype=pl.Int64))
        .otherwise(pl.lit(0, dtype=pl.Int64))
    )


def _bare(text: pl.Expr) -> pl.Expr:
    """One spelling of a text: lower case, its words and signs apart by one space."""
    return (
        plain(text)
        .str.to_lowercase()
        .str.replace_all(r"(\d),(\d{3})", "$1$2")
        .str.replace_all(r"(^|[^\d])\.(\d)", "${1}0.$2")
        .str.replace_all(r"(\d)\.0+(\D|$)", "$1$2")
        .str.replace_all(r"[{}\\]", "")
        .str.replace_all(_WORD_OR_SIGN, "$1 ")
        .str.replace_all(r"\s+", " ")
        .str.strip_chars(_OUTER)
        .str.replace(r"^(?:the|an?) ", "")
    )
